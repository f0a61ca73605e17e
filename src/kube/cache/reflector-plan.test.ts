import { describe, expect, it } from '@jest/globals';
import { ProtocolError, TransportError } from '../errors.js';
import { expired, refusal } from '../testing/model-server.js';
import { INITIAL_STATE, planNext, SinkError } from './reflector-plan.js';
import type { ReflectorState } from './reflector-plan.js';

const options = {
  backoff: { baseMs: 100, maxMs: 10_000 },
  notServedBackoff: () => ({ baseMs: 7, maxMs: 7 }),
  stableMs: 5000,
  maxRefusedResumes: 3,
};
const watching: ReflectorState = { resumeFrom: 'rv-1', attempt: 2, expirations: 1, refusedResumes: 0 };
const watch = (error: unknown, lastedMs: number, resourceVersion = 'rv-1') =>
  ({ phase: 'watch', error, lastedMs, resourceVersion }) as const;
const plan = (state: ReflectorState, outcome: Parameters<typeof planNext>[1]) =>
  planNext(state, outcome, options, () => 1);

describe('planNext', () => {
  it('watches at once from the list, and does not call the failures before it over', () => {
    expect(plan({ ...INITIAL_STATE, attempt: 3 }, { phase: 'list', resourceVersion: 'rv-9' })).toMatchObject({
      state: { resumeFrom: 'rv-9', attempt: 3 },
      delayMs: 0,
    });
  });

  it.each([
    ['in order after a while: at once', undefined, 5000, { resumeFrom: 'rv-2', attempt: 0 }, 0],
    ['in order, but at once: slowly', undefined, 10, { resumeFrom: 'rv-2', attempt: 3 }, 400],
    [
      'by a reset after a while: soon',
      new TransportError('x', 'reset'),
      60_000,
      { resumeFrom: 'rv-2', attempt: 1 },
      100,
    ],
    ['by an ERROR 500 in the stream: soon', refusal(500), 60_000, { resumeFrom: 'rv-2', attempt: 1 }, 100],
    [
      'by a refused connection: slowly',
      new TransportError('x', 'connect'),
      0,
      { resumeFrom: 'rv-2', attempt: 3 },
      400,
    ],
    [
      'by 410: list anew, by its own count',
      expired(),
      10,
      { resumeFrom: undefined, attempt: 2, expirations: 2 },
      200,
    ],
    [
      'by 410 after a while: list anew, soon',
      expired(),
      60_000,
      { resumeFrom: undefined, attempt: 0, expirations: 1 },
      100,
    ],
    ['by the sink: list anew', new SinkError('x'), 10, { resumeFrom: undefined, attempt: 3 }, 400],
    ['by 404: not served', refusal(404), 0, { resumeFrom: 'rv-2', attempt: 3 }, 7],
    ['by 403: not served', refusal(403), 0, { resumeFrom: 'rv-2', attempt: 3 }, 7],
    ['by 429: as told', refusal(429, 20_000), 0, { resumeFrom: 'rv-2', attempt: 3 }, 20_400],
  ])('goes on after a watch that ended %s', (...row) => {
    const [, error, lastedMs, state, delayMs] = row;
    expect(plan(watching, watch(error, lastedMs, 'rv-2'))).toMatchObject({ state, delayMs });
  });

  it('lists anew, soon, when the same versions may look different', () => {
    const outcome = { ...watch(refusal(500), 60_000, 'rv-2'), reshaped: true };
    expect(plan(watching, outcome)).toMatchObject({
      state: { resumeFrom: undefined, attempt: 1 },
      delayMs: 100,
      relist: 'reshaped',
    });
  });

  it('lets nobody cut short a wait that the server asked for', () => {
    expect(plan(watching, watch(refusal(429, 20_000), 0)).wakeable).toBe(false);
    expect(plan(watching, watch(refusal(404), 0)).wakeable).toBe(true);
  });

  it('gives the version up after it was refused several times in a row', () => {
    let state: ReflectorState = watching;
    const causes: unknown[] = [];
    for (const error of [refusal(504), new ProtocolError('x'), refusal(400)]) {
      const step = plan(state, watch(error, 0));
      causes.push(step.relist);
      state = step.state;
    }
    expect(causes).toEqual([undefined, undefined, 'stuck']);
    expect(state.resumeFrom).toBeUndefined();
  });

  it.each([
    ['throttling', refusal(429)],
    ['a gateway', refusal(503)],
    ['credentials', refusal(401)],
    ['rights', refusal(403)],
    ['what is not served', refusal(404)],
    ['the network', new TransportError('x', 'connect')],
  ])('does not blame the version for %s', (_, error) => {
    let state = watching;
    for (let index = 0; index < 10; index += 1) state = plan(state, watch(error, 0)).state;
    expect(state.resumeFrom).toBe('rv-1');
  });

  it.each([
    ['attempt', refusal(404)],
    ['attempt', refusal(500)],
    ['attempt', new TransportError('x', 'timeout')],
    ['attempt', new SinkError('x')],
    ['expirations', expired()],
  ] as const)('lists again and counts %s after a failed list: %s', (count, error) => {
    const step = plan({ ...INITIAL_STATE, [count]: 1 }, { phase: 'list', error });
    expect(step.state).toEqual({ ...INITIAL_STATE, [count]: 2 });
    expect(step.delayMs).toBeGreaterThan(0);
  });
});
