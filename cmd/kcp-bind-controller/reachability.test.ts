import { describe, expect, it } from '@jest/globals';
import type { ReflectorEvent } from '../../src/kube/cache/reflector.js';
import { TransportError } from '../../src/kube/errors.js';
import { Reachability } from './reachability.js';

const failed = (failures: number, phase: 'list' | 'watch' | 'sink' = 'watch'): ReflectorEvent => ({
  type: 'error',
  phase,
  error: new TransportError('GET https://kcp: cannot connect', 'connect'),
  failures,
  retryInMs: 1,
  notServed: false,
});
const listed: ReflectorEvent = { type: 'listed', items: 0, pages: 1, tookMs: 1 };

describe('a server that is watched', () => {
  it.each<[string, readonly ReflectorEvent[], string | undefined]>([
    ['has answered', [listed], undefined],
    ['has cut a watch', [listed, failed(1), { type: 'reconnect' }], undefined],
    ['has failed three times in a row', [listed, failed(1), failed(2), failed(3)], 'cannot connect'],
    ['never answered', [failed(1, 'list'), failed(2, 'list'), failed(3, 'list')], 'cannot connect'],
    ['answers again', [failed(3), failed(4), { type: 'recovered' }], undefined],
    ['was listed anew', [failed(3), failed(4), listed], undefined],
    ['is not to blame for a fault of ours', [listed, failed(5, 'sink')], undefined],
  ])('%s', (_, events, problem) => {
    const reachability = new Reachability();
    for (const event of events) reachability.note(event);
    if (problem === undefined) expect(reachability.problem).toBeUndefined();
    else expect(reachability.problem).toContain(problem);
  });
});
