import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../kube/json-value.js';
import { CONTEST_WINDOW_MS, NO_CONTEST, corrected, pauseBeforeCorrection } from './contest.js';
import { decideAbsence } from './decide-absence.js';
import type { AbsenceInput } from './decide-absence.js';
import { decideDown, statusDigest } from './decide-down.js';
import type { DownInput } from './decide-down.js';
import { EMPTY_MEMORY } from './object-memory.js';
import { translateObservedGeneration } from './observed-generation.js';
import { consumerObject, context, copyOf } from './testing/samples.js';

const consumer = consumerObject({ spec: {} });
function down(own: JsonObject | undefined, copied: JsonObject | undefined, change: Partial<DownInput> = {}) {
  const withStatus = consumerObject({ spec: {}, ...(own !== undefined && { status: own }) });
  return decideDown({
    consumer: withStatus,
    copy: copyOf(withStatus, {}, copied === undefined ? {} : { status: copied }),
    hasStatus: true,
    context: context(),
    memory: EMPTY_MEMORY,
    ...change,
  });
}

describe('status', () => {
  it.each([
    ['equal', { a: 1 }, { a: 1n }, false],
    ['both absent', undefined, undefined, false],
    ['changed', { a: 1 }, { a: 2 }, true],
    ['new', undefined, {}, true],
    ['made up by the user', { ok: true }, undefined, true],
  ])('%s', (_name, own, copied, written) =>
    expect(down(own, copied).kind).toBe(written ? 'putStatus' : 'none'),
  );

  it('is put with identity and version, and nothing else of the object', () => {
    expect(down({ a: 1 }, { b: [null, {}] })).toMatchObject({
      object: {
        apiVersion: 'example.org/v1',
        kind: 'Widget',
        metadata: { name: 'a', namespace: 'ns', uid: 'u-1', resourceVersion: '7' },
        status: { b: [null, {}] },
      },
    });
    const removed = down({ a: 1 }, undefined);
    expect(removed.kind === 'putStatus' && Object.keys(removed.object)).toEqual([
      'apiVersion',
      'kind',
      'metadata',
    ]);
  });

  it('comes only from a copy that is proven ours', () => {
    const stolen = copyOf(consumer, { annotations: {} }, { status: { a: 1 } });
    expect(down({}, {}, { copy: stolen }).kind).toBe('none');
    expect(down({}, {}, { copy: undefined }).kind).toBe('none');
    const konnectors = { ...copyOf(consumer).metadata.annotations };
    delete konnectors['kcp.kube-bind.io/cluster'];
    const notYetOurs = copyOf(consumer, { annotations: konnectors }, { status: { a: 1 } });
    expect(down({}, {}, { copy: notYetOurs }).kind).toBe('none');
  });

  it('stays where there is no subresource, and while paused', () => {
    expect(down({ a: 1 }, { a: 2 }, { hasStatus: false }).kind).toBe('none');
    expect(down({ a: 1 }, { a: 2 }, { context: context({ policies: { paused: true } }) }).kind).toBe('none');
  });

  it('is live while either side is terminating', () => {
    const leaving = consumerObject({ spec: {} }, { deletionTimestamp: 'x' });
    const copy = copyOf(leaving, { deletionTimestamp: 'x' }, { status: { a: 1 } });
    expect(down(undefined, undefined, { consumer: leaving, copy }).kind).toBe('putStatus');
  });

  it('that is null is another one than none', () => {
    expect(statusDigest(null)).not.toBe(statusDigest(undefined));
  });

  it('that the server stores otherwise is not put for ever', () => {
    const memory = {
      statusAccepted: { meant: statusDigest({ a: 2, x: 1 }), stored: statusDigest({ a: 2 }) },
    };
    expect(down({ a: 2 }, { a: 2, x: 1 }, { memory }).kind).toBe('none');
    expect(down({ a: 1 }, { a: 2, x: 1 }, { memory }).kind).toBe('putStatus');
    expect(down({ a: 2 }, { a: 2, x: 2 }, { memory }).kind).toBe('putStatus');
  });
});

describe('observedGeneration', () => {
  it.each([
    ['observed', 7, 7, 2],
    ['observed later', 8, 7, 2],
    ['not yet observed', 6, 7, 1],
    ['never observed', 0, 7, 1],
    ['as bigint', 7n, 7, 2],
    ['no integer', '7', 7, '7'],
    ['a fraction', 7.5, 7, 7.5],
  ])('%s', (_name, observed, copy, expected) => {
    const status = {
      observedGeneration: observed,
      conditions: [{ type: 'Ready', observedGeneration: observed }, 'odd'],
    };
    expect(translateObservedGeneration(status, { sent: 2, copy })).toEqual({
      observedGeneration: expected,
      conditions: [{ type: 'Ready', observedGeneration: expected }, 'odd'],
    });
  });

  it.each<[string, JsonObject, JsonObject]>([
    [
      'of conditions for each parent, as Gateway API has them',
      { parents: [{ parentRef: { kind: 'Gateway', name: 'g' }, conditions: [{ observedGeneration: 8 }] }] },
      { parents: [{ parentRef: { kind: 'Gateway', name: 'g' }, conditions: [{ observedGeneration: 2 }] }] },
    ],
    [
      'of parts by name, and of lists in lists',
      { v1beta2: { observedGeneration: 9n }, lists: [[{ observedGeneration: 1, deep: [{}] }]] },
      { v1beta2: { observedGeneration: 3 }, lists: [[{ observedGeneration: 2, deep: [{}] }]] },
    ],
  ])('is translated at any depth: %s', (_name, status, expected) => {
    expect(translateObservedGeneration(status, { sent: 3, copy: 9 })).toEqual(expected);
  });

  it.each<[string, JsonObject]>([
    ['an object that is named', { resources: [{ kind: 'Job', name: 'x', observedGeneration: 8 }] }],
    [
      'an object that is shown',
      { shown: { metadata: { generation: 8 }, status: { conditions: [{ observedGeneration: 8 }] } } },
    ],
    ['a field that is a map', { observedGeneration: { a: 8 } }],
    ['an equal number of another type', { observedGeneration: 3n }],
  ])('of something else stays as it is: %s', (_name, status) => {
    expect(translateObservedGeneration(status, { sent: 3, copy: 3 })).toBe(status);
    if ('observedGeneration' in status) return;
    expect(translateObservedGeneration(status, { sent: 3, copy: 9 })).toBe(status);
  });

  it('keeps odd keys, and is found below them', () => {
    const status = JSON.parse('{"__proto__":{"observedGeneration":9},"constructor":[]}') as JsonObject;
    const text = JSON.stringify(translateObservedGeneration(status, { sent: 3, copy: 9 }));
    expect(text).toBe('{"__proto__":{"observedGeneration":3},"constructor":[]}');
  });

  it('is never below zero, and leaves a status without it as it is', () => {
    expect(translateObservedGeneration({ observedGeneration: 1 }, { sent: 0, copy: 5 })).toEqual({
      observedGeneration: 0,
    });
    const status = { conditions: [{ type: 'x' }] };
    expect(translateObservedGeneration(status, { sent: 2, copy: 5 })).toBe(status);
  });

  it('of an edit that was observed stays observed while the provider changes the copy further', () => {
    const applied = { uid: 'c-1', consumerGeneration: 2, copyGeneration: 4 };
    const observed = (memory: DownInput['memory']) => {
      const decision = down(undefined, { observedGeneration: 4 }, { memory });
      return decision.kind === 'putStatus' ? decision.object['status'] : undefined;
    };
    expect(observed({ applied })).toEqual({ observedGeneration: 2 });
    // Of another edit than the copy was made from.
    expect(observed({ applied: { ...applied, consumerGeneration: 1 } })).toEqual({ observedGeneration: 1 });
    // Of a former copy of that name.
    expect(observed({ applied: { ...applied, uid: 'c-0' } })).toEqual({ observedGeneration: 1 });
    // Without memory: the copy is at generation 5.
    expect(observed(EMPTY_MEMORY)).toEqual({ observedGeneration: 1 });
  });
});

describe('absence', () => {
  const absence = (change: Partial<AbsenceInput>): string =>
    decideAbsence({
      copy: copyOf(consumer),
      context: context(),
      since: 0,
      now: 1000,
      graceMs: 500,
      proof: 'none',
      ...change,
    }).kind;
  const noted = (policy: string) =>
    copyOf(consumerObject({}, { annotations: { 'kcp.kube-bind.io/deletion-policy': policy } })).metadata
      .annotations ?? {};
  it.each<[string, Partial<AbsenceInput>, string]>([
    ['without copy', { copy: undefined }, 'none'],
    [
      'of an object whose copy another binding made',
      { copy: copyOf(consumer, { labels: { 'kcp.kube-bind.io/binding-uid': 'x' } }) },
      'none',
    ],
    ['within the grace time', { graceMs: 5000 }, 'wait'],
    ['after it, unproven', {}, 'prove'],
    ['within it, proven', { graceMs: 5000, proof: 'gone' }, 'wait'],
    ['after it, proven', { proof: 'gone' }, 'deleteCopy'],
    [
      'proven, copy terminating',
      { proof: 'gone', copy: copyOf(consumer, { deletionTimestamp: 'x' }) },
      'waitGone',
    ],
    [
      'proven, policy Orphan',
      { proof: 'gone', context: context({ policies: { deletion: 'Orphan' } }) },
      'orphanCopy',
    ],
    [
      'proven, the object said Orphan',
      { proof: 'gone', copy: copyOf(consumer, { annotations: noted('Orphan') }) },
      'orphanCopy',
    ],
    [
      'proven, policy Orphan, the object said Delete',
      {
        proof: 'gone',
        copy: copyOf(consumer, { annotations: noted('Delete') }),
        context: context({ policies: { deletion: 'Orphan' } }),
      },
      'deleteCopy',
    ],
    ['while paused', { proof: 'gone', context: context({ policies: { paused: true } }) }, 'paused'],
    ['while draining', { graceMs: 5000, context: context({ policies: { draining: true } }) }, 'deleteCopy'],
  ])('%s', (_name, change, expected) => expect(absence(change)).toBe(expected));
});

describe('a contest', () => {
  it('pauses after five corrections in ten minutes, longer each time, and ends by itself', () => {
    let state = NO_CONTEST;
    let now = 0;
    const pauses: number[] = [];
    for (let round = 0; round < 9; round++) {
      const pause = pauseBeforeCorrection(state, now);
      pauses.push(pause / 60_000);
      now += pause;
      state = corrected(state, now);
      now += 1;
    }
    expect(pauses.map(Math.round)).toEqual([0, 0, 0, 0, 0, 10, 20, 40, 60]);
    expect(pauseBeforeCorrection(corrected(state, now + 3 * 3_600_000), now + 3 * 3_600_000)).toBe(0);
  });

  it('is none when corrections are rare', () => {
    let state = NO_CONTEST;
    for (let round = 0; round < 20; round++) {
      expect(pauseBeforeCorrection(state, round * CONTEST_WINDOW_MS)).toBe(0);
      state = corrected(state, round * CONTEST_WINDOW_MS);
    }
  });
});
