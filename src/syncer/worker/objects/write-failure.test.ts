import { describe, expect, it } from '@jest/globals';
import { ApiError, ProtocolError, TransportError } from '../../../kube/errors.js';
import { ManualClock } from '../../../kube/testing/manual-clock.js';
import { reflectorProblem } from './reflector-problem.js';
import { GateClosedError, SideGate } from './side-gate.js';
import { apiError } from './testing/model-status.js';
import { classifyFailure, failureText } from './write-failure.js';

const GVR = { group: 'example.org', version: 'v1', resource: 'widgets' };
const TARGET = { namespace: 'ns', name: 'a' };

describe('what an error means', () => {
  it.each([
    ['gone', apiError(404, 'NotFound', '', { name: 'a', group: 'example.org', kind: 'widgets' })],
    ['notServed', apiError(404, 'NotFound', '', { name: 'b', group: 'example.org', kind: 'widgets' })],
    ['notServed', apiError(404, 'NotFound', '', { name: 'a', group: 'other.org', kind: 'widgets' })],
    ['notServed', apiError(404, 'NotFound', '', {})],
    ['notServed', apiError(404, '', '404 page not found')],
    ['namespaceGone', apiError(404, 'NotFound', '', { name: 'ns', kind: 'namespaces' })],
    ['namespaceGone', apiError(404, 'NotFound', '', { name: 'a', kind: 'namespaces' })],
    ['namespaceGone', apiError(403, 'Forbidden', '', { causes: [{ reason: 'NamespaceTerminating' }] })],
    ['forbidden', apiError(403, 'Forbidden', '')],
    ['unauthorized', apiError(401, 'Unauthorized', '')],
    ['stale', apiError(409, 'Conflict', '')],
    ['stale', apiError(422, 'Invalid', '', { causes: [{ field: 'metadata.uid' }] })],
    ['refused', apiError(422, 'Invalid', '', { causes: [{ field: 'spec.size' }] })],
    ['refused', apiError(413, 'RequestEntityTooLarge', '')],
    ['unexplained', apiError(500, '', '')],
    ['internal', apiError(500, 'InternalError', '')],
    ['unreachable', apiError(429, 'TooManyRequests', '')],
    ['unreachable', apiError(503, '', '')],
    ['unreachable', new TransportError('reset', 'reset')],
    ['unreachable', new ProtocolError('no JSON')],
  ])('%s: %s', (kind, error) => expect(classifyFailure(error, GVR, TARGET)).toBe(kind));

  it('is told in bounded words', () => {
    expect(failureText(apiError(422, 'Invalid', 'x'.repeat(5000)))).toHaveLength(1024);
    expect(failureText(new Error('internal detail'))).not.toContain('internal detail');
  });
});

describe('a gate', () => {
  const open = () => {
    const clock = new ManualClock();
    return { clock, gate: new SideGate({ clock, random: () => 1, backoff: { baseMs: 1000, maxMs: 8000 } }) };
  };
  const closedFor = (gate: SideGate): number => {
    try {
      gate.pass();
      return 0;
    } catch (error) {
      return error instanceof GateClosedError ? error.retryInMs : -1;
    }
  };
  const problem = { reason: 'unreachable' as const, message: 'reset' };

  it('closes longer after each failure and opens with a success', async () => {
    const { clock, gate } = open();
    const closed: number[] = [];
    for (let round = 0; round < 5; round++) {
      gate.failed(problem);
      closed.push(closedFor(gate));
      await clock.advance(closedFor(gate));
    }
    expect(closed).toEqual([1000, 2000, 4000, 8000, 8000]);
    gate.succeeded();
    expect(gate.problem).toBeUndefined();
    gate.failed(problem);
    expect(closedFor(gate)).toBe(1000);
  });

  it('counts requests that fail together once', () => {
    const { gate } = open();
    for (let index = 0; index < 10; index++) gate.failed(problem);
    expect(closedFor(gate)).toBe(1000);
  });

  it('takes a single 403 for an object’s own trouble, three in a row for the account’s', () => {
    const { gate } = open();
    gate.forbidden('x');
    gate.forbidden('x');
    gate.succeeded();
    gate.forbidden('x');
    gate.forbidden('x');
    expect(closedFor(gate)).toBe(0);
    gate.forbidden('x');
    expect(gate.problem).toEqual({ reason: 'forbidden', message: 'x' });
    expect(closedFor(gate)).toBe(1000);
  });
});

describe('a failing watch', () => {
  it.each([
    ['forbidden', 'list', apiError(403, '', ''), 1],
    ['unauthorized', 'list', apiError(401, '', ''), 1],
    ['notServed', 'list', apiError(404, '', ''), 1],
    ['unreachable', 'list', new TransportError('x', 'connect'), 1],
    ['nothing yet', 'watch', new TransportError('x', 'reset'), 1],
    ['unreachable', 'watch', new TransportError('x', 'reset'), 3],
    ['nothing', 'sink', new Error('ours'), 9],
  ] as const)('means %s in phase %s with %s, failure %d', (...[reason, phase, error, failures]) => {
    const notServed = error instanceof ApiError && [403, 404].includes(error.status);
    const problem = reflectorProblem({ type: 'error', phase, error, failures, retryInMs: 1, notServed });
    expect(problem?.reason).toBe(reason.startsWith('nothing') ? undefined : reason);
  });
});
