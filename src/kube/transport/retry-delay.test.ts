import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../errors.js';
import type { JsonObject } from '../json-value.js';
import { retryDelay } from './retry-delay.js';

function answer(status: number, retryAfterMs?: number, body?: JsonObject): ApiError {
  return new ApiError({ message: 'x', status, reason: '', retryAfterMs, body });
}

describe('retryDelay', () => {
  it.each<[string, ApiError, number, number | undefined]>([
    ['429 with Retry-After', answer(429, 20_000), 0, 20_000],
    ['429 with Retry-After 0', answer(429, 0), 0, 50],
    ['429 without, first', answer(429), 0, 1000],
    ['429 without, third', answer(429), 2, 4000],
    ['429 without, much later', answer(429), 20, 30_000],
    ['429 with a Status of a proxy', answer(429, 1000, { kind: 'Status', details: {} }), 0, 1000],
    [
      '429 of the storage',
      answer(429, 1000, { kind: 'Status', details: { retryAfterSeconds: 1 } }),
      0,
      undefined,
    ],
    ['503 with Retry-After', answer(503, 1000), 0, 1000],
    ['503 without', answer(503), 0, undefined],
    ['500 with Retry-After', answer(500, 1000), 0, undefined],
    ['409', answer(409), 0, undefined],
  ])('%s', (_, error, attempt, expected) => {
    expect(retryDelay(error, attempt, 0)).toBe(expected);
  });

  it('is never shorter than the server asks, and at most a quarter longer', () => {
    expect(retryDelay(answer(429, 20_000), 0, 0.999)).toBeLessThanOrEqual(25_000);
    expect(retryDelay(answer(429, 20_000), 0, 0.5)).toBe(22_500);
  });
});
