import { describe, expect, it } from '@jest/globals';
import { apiErrorFromAnswer, apiErrorFromStatus, parseRetryAfter } from './api-error.js';

const NOW = Date.UTC(2026, 0, 1);

describe('parseRetryAfter', () => {
  it.each<[string | undefined, number | undefined]>([
    [undefined, undefined],
    ['20', 20_000],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5000],
    ['Thu, 01 Jan 2020 00:00:00 GMT', 0],
    ['99999999999999', 3_600_000],
    ['soon', undefined],
    ['', undefined],
  ])('%j is %p ms', (header, expected) => {
    expect(parseRetryAfter(header, NOW)).toBe(expected);
  });
});

describe('apiErrorFromAnswer', () => {
  const answer = (body: unknown, headers = {}): Parameters<typeof apiErrorFromAnswer>[0] => ({
    what: 'GET /x',
    status: 429,
    headers,
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    now: NOW,
  });

  it('prefers the header to the body for the wait', () => {
    const status = { kind: 'Status', details: { retryAfterSeconds: 3 } };
    expect(apiErrorFromAnswer(answer(status)).retryAfterMs).toBe(3000);
    expect(apiErrorFromAnswer(answer(status, { 'retry-after': '7' })).retryAfterMs).toBe(7000);
  });

  it.each([
    ['plain text'],
    [{ kind: 'Secret', message: 'no' }],
    [[1]],
    [null],
    [{ kind: 'Status', message: 5, reason: {} }],
  ])('survives the body %j', (body) => {
    expect(apiErrorFromAnswer(answer(body))).toMatchObject({
      message: 'GET /x: the server answered 429',
      reason: '',
      retryAfterMs: undefined,
    });
  });

  it('bounds the message', () => {
    expect(apiErrorFromAnswer(answer({ kind: 'Status', message: 'x'.repeat(100_000) })).message).toHaveLength(
      16_384,
    );
  });
});

describe('apiErrorFromStatus', () => {
  it.each<[object, number]>([
    [{ code: 410 }, 410],
    [{ code: 200 }, 500],
    [{ code: 'x' }, 500],
    [{ code: 1e9 }, 500],
    [{}, 500],
  ])('%j has status %i', (status, expected) => {
    expect(apiErrorFromStatus({ ...status }, 'GET /x').status).toBe(expected);
  });
});
