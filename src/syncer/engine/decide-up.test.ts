import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../kube/json-value.js';
import type { ObjectMeta } from '../../kube/object.js';
import { removeFinalizer } from './consumer-patch.js';
import { decideUp } from './decide-up.js';
import type { UpInput } from './decide-up.js';
import { desiredCopy } from './desired-copy.js';
import { findDeviations, fingerprint } from './deviations.js';
import { ourOwnership } from './managed-fields.js';
import { classifyCopy, isCopyOfBinding } from './ownership.js';
import { MARKS, TARGET, consumerObject, context, copyOf, entry, upInput } from './testing/samples.js';

const DELETING = { deletionTimestamp: '2030-01-01T00:00:00Z' };
const NO_FINALIZER = { finalizers: [] };
const ADOPT = context({ policies: { conflict: 'Adopt' } });
const spec = { spec: { size: 1 } };
const kindOf = (change: Partial<UpInput>): string => decideUp(upInput(change)).kind;
const live = (object: UpInput['copy']['object']): UpInput['copy'] => ({ object, live: true });
const cached = (object: UpInput['copy']['object']): UpInput['copy'] => ({ object, live: false });
const consumer = consumerObject(spec);
const copy = copyOf(consumer);
const foreign = (annotations: Record<string, string> = {}) => copyOf(consumer, { annotations, labels: {} });
const remarked = (change: Record<string, string>) =>
  copyOf(consumer, { annotations: { ...copy.metadata.annotations, ...change } });
const marked = (change: Record<string, string>) =>
  foreign({
    'kube-bind.io/cluster-namespace': 'cns',
    'kube-bind.io/consumer-uid': 'u-1',
    'kcp.kube-bind.io/cluster': MARKS.cluster,
    ...change,
  });

describe('the next step for an object that lives', () => {
  it.each<[string, Partial<UpInput>, string]>([
    ['without finalizer', { consumer: consumerObject(spec, NO_FINALIZER) }, 'addFinalizer'],
    ['without copy, as the cache says', { copy: cached(undefined) }, 'readCopy'],
    ['without copy, as the server says', { copy: live(undefined) }, 'createCopy'],
    ['with its copy as it should be', { consumer, copy: cached(copy) }, 'none'],
    ['changed', { consumer: consumerObject({ spec: { size: 2 } }), copy: cached(copy) }, 'updateCopy'],
    [
      'whose finalizer was taken away',
      { consumer: consumerObject(spec, NO_FINALIZER), copy: cached(copy) },
      'addFinalizer',
    ],
    ['whose copy is terminating', { consumer, copy: cached(copyOf(consumer, DELETING)) }, 'waitGone'],
    [
      'older than what was sent',
      { consumer: consumerObject({ spec: { size: 0 } }, { generation: 1 }), copy: cached(copy) },
      'readConsumer',
    ],
    [
      'older than the copy claims, read live',
      {
        consumer: consumerObject({ spec: { size: 0 } }, { generation: 1 }),
        consumerLive: true,
        copy: cached(copy),
      },
      'updateCopy',
    ],
    ['paused by the binding', { context: context({ policies: { paused: true } }) }, 'paused'],
    [
      'paused by itself',
      { consumer: consumerObject(spec, { annotations: { 'kcp.kube-bind.io/paused': 'true' } }) },
      'paused',
    ],
    [
      'in a namespace without mapping',
      { consumer: consumerObject(spec, { namespace: 'new' }) },
      'waitNamespace',
    ],
    ['beside a foreign object in the cache', { consumer, copy: cached(foreign()) }, 'readCopy'],
    [
      'beside a foreign object that may be taken over, without finalizer',
      { consumer: consumerObject(spec, NO_FINALIZER), copy: live(foreign()), context: ADOPT },
      'addFinalizer',
    ],
    [
      'beside a foreign object that may be taken over and is terminating',
      {
        consumer,
        copy: live({ ...foreign(), metadata: { ...foreign().metadata, ...DELETING } }),
        context: ADOPT,
      },
      'waitGone',
    ],
  ])('%s', (_name, change, expected) => expect(kindOf(change)).toBe(expected));
});

describe('the next step for an object that leaves', () => {
  const leaving = (content: JsonObject = spec, metadata: Partial<ObjectMeta> = {}) =>
    consumerObject(content, { ...DELETING, ...metadata });
  it.each<[string, Partial<UpInput>, string]>([
    ['with its copy', { consumer: leaving(), copy: cached(copy) }, 'deleteCopy'],
    [
      'with its copy, without our finalizer',
      { consumer: leaving(spec, NO_FINALIZER), copy: cached(copy) },
      'deleteCopy',
    ],
    [
      'with a terminating copy',
      { consumer: leaving(), copy: cached(copyOf(consumer, DELETING)) },
      'waitGone',
    ],
    ['without copy, as the cache says', { consumer: leaving(), copy: cached(undefined) }, 'readCopy'],
    ['without copy, as the server says', { consumer: leaving(), copy: live(undefined) }, 'removeFinalizer'],
    [
      'without copy and finalizer',
      { consumer: leaving(spec, NO_FINALIZER), copy: cached(undefined) },
      'none',
    ],
    ['beside a foreign object', { consumer: leaving(), copy: live(foreign()) }, 'removeFinalizer'],
    ['beside a foreign object in the cache', { consumer: leaving(), copy: cached(foreign()) }, 'readCopy'],
    [
      'beside another consumer’s',
      { consumer: leaving(), copy: live(marked({ 'kube-bind.io/consumer-uid': 'x' })) },
      'removeFinalizer',
    ],
    [
      'by policy Orphan',
      { consumer: leaving(), copy: cached(copy), context: context({ policies: { deletion: 'Orphan' } }) },
      'orphanCopy',
    ],
    [
      'by its own policy Orphan',
      {
        consumer: leaving(spec, { annotations: { 'kcp.kube-bind.io/deletion-policy': 'Orphan' } }),
        copy: cached(copy),
      },
      'orphanCopy',
    ],
    [
      'by its own policy Delete, against the binding’s',
      {
        consumer: leaving(spec, { annotations: { 'kcp.kube-bind.io/deletion-policy': 'Delete' } }),
        copy: cached(copy),
        context: context({ policies: { deletion: 'Orphan' } }),
      },
      'deleteCopy',
    ],
    [
      'while paused',
      { consumer: leaving(), copy: cached(copy), context: context({ policies: { paused: true } }) },
      'paused',
    ],
    [
      'with a draining binding',
      { consumer, copy: cached(copy), context: context({ policies: { draining: true } }) },
      'deleteCopy',
    ],
    [
      'with a draining binding that was paused',
      { consumer, copy: live(undefined), context: context({ policies: { draining: true, paused: true } }) },
      'removeFinalizer',
    ],
    [
      'from a namespace that is mapped no more',
      { consumer: leaving(spec, { namespace: 'gone' }), copy: cached(undefined) },
      'readCopy',
    ],
  ])('%s', (_name, change, expected) => expect(kindOf(change)).toBe(expected));

  it('names the copy by its uid', () => {
    expect(decideUp(upInput({ consumer: leaving(), copy: cached(copy) }))).toMatchObject({
      uid: 'c-1',
      target: TARGET,
    });
  });

  it('takes every mark off an orphan, guarded by its version', () => {
    const decision = decideUp(
      upInput({
        consumer: leaving(),
        copy: cached(copy),
        context: context({ policies: { deletion: 'Orphan' } }),
      }),
    );
    const paths = decision.kind === 'orphanCopy' ? decision.patch.map((operation) => operation['path']) : [];
    expect(paths.slice(0, 2)).toEqual(['/metadata/uid', '/metadata/resourceVersion']);
    expect(paths.slice(2).every((path) => typeof path === 'string' && path.includes('kube-bind.io~1'))).toBe(
      true,
    );
    expect(paths).toHaveLength(2 + 8);
  });
});

describe('ownership', () => {
  it.each([
    ['ours', marked({}), { kind: 'ours' }],
    [
      'the konnector’s for this object',
      foreign({ 'kube-bind.io/cluster-namespace': 'cns', 'kube-bind.io/consumer-uid': 'u-1' }),
      { kind: 'konnector' },
    ],
    ['unmarked', foreign(), { kind: 'unmarked' }],
    ['half marked', foreign({ 'kube-bind.io/cluster-namespace': 'cns' }), { kind: 'unmarked' }],
    [
      'another object’s of this workspace',
      marked({ 'kube-bind.io/consumer-uid': 'x' }),
      { kind: 'otherConsumerObject', uid: 'x', live: false },
    ],
    [
      'another workspace’s',
      marked({ 'kcp.kube-bind.io/cluster': 'elsewhere' }),
      { kind: 'otherConsumerObject', uid: 'u-1', live: true },
    ],
    [
      'another contract’s',
      marked({ 'kube-bind.io/cluster-namespace': 'other' }),
      { kind: 'otherContract', contractNamespace: 'other' },
    ],
  ])('%s', (_name, object, expected) =>
    expect(classifyCopy(object, { uid: 'u-1' }, MARKS)).toEqual(expected),
  );

  it.each([
    ['our own', copy, true],
    ['of a former object of ours', copyOf(consumerObject(spec, { uid: 'u-0' })), true],
    ['with another contract', remarked({ 'kube-bind.io/cluster-namespace': 'other' }), false],
    ['with another workspace', remarked({ 'kcp.kube-bind.io/cluster': 'elsewhere' }), false],
    ['of another binding', copyOf(consumer, { labels: { 'kcp.kube-bind.io/binding-uid': 'b-2' } }), false],
    ['of nobody', foreign(), false],
  ])('of the binding: a copy %s', (_name, object, expected) =>
    expect(isCopyOfBinding(object, MARKS)).toBe(expected),
  );

  const outcome = (object: ReturnType<typeof foreign>, change: Parameters<typeof context>[0]) => {
    const decision = decideUp(upInput({ consumer, copy: live(object), context: context(change) }));
    return decision.kind === 'conflict' ? decision.reason : decision.kind;
  };
  const adopt = { policies: { conflict: 'Adopt' as const } };
  it.each([
    ['unmarked', foreign(), {}, 'ForeignObject'],
    ['unmarked', foreign(), adopt, 'updateCopy'],
    [
      'unmarked, isolation None',
      foreign(),
      { ...adopt, rule: { isolation: 'None' as const } },
      'ForeignObject',
    ],
    ['of a dead object', marked({ 'kube-bind.io/consumer-uid': 'x' }), {}, 'OtherConsumerObject'],
    ['of a dead object', marked({ 'kube-bind.io/consumer-uid': 'x' }), adopt, 'updateCopy'],
    ['of another workspace', marked({ 'kcp.kube-bind.io/cluster': 'y' }), adopt, 'OtherConsumerObject'],
    ['of another contract', marked({ 'kube-bind.io/cluster-namespace': 'y' }), adopt, 'OtherConsumer'],
    [
      'of the konnector for this very object',
      foreign({ 'kube-bind.io/cluster-namespace': 'cns', 'kube-bind.io/consumer-uid': 'u-1' }),
      {},
      'updateCopy',
    ],
  ])('an object that is %s, with %j, means %s', (_name, object, change, expected) => {
    expect(outcome(object, change)).toBe(expected);
  });

  it('lets an unmarked cluster-scoped object alone', () => {
    const change = { ...adopt, rule: { scope: 'Cluster' as const, isolation: 'Prefixed' as const } };
    expect(outcome(foreign(), change)).toBe('ForeignObject');
  });

  it('is taken over in the state that was seen, without the managers of before', () => {
    const old = foreign({ 'kube-bind.io/cluster-namespace': 'cns', 'kube-bind.io/consumer-uid': 'u-1' });
    const theirs = { ...old, spec: { size: 1, name: 'old', extra: 1 } };
    theirs.metadata.managedFields = [
      entry('prov', 'Update', { ...old, spec: { extra: 1 } }),
      entry('kube-bind.io', 'Apply', { ...old, spec: { size: 1, name: 'old' } }),
      entry('konnector', 'Update', { ...old, spec: { size: 1, name: 'old' } }),
    ];
    const decision = decideUp(upInput({ consumer, copy: live(theirs) }));
    expect(decision).toMatchObject({
      kind: 'updateCopy',
      cause: 'takeover',
      resourceVersion: '90',
      kept: ['spec.name', 'spec.extra'],
    });
    expect(
      decision.kind === 'updateCopy' && decision.prepare[0]?.map((operation) => operation['path']),
    ).toEqual([
      '/metadata/uid',
      '/metadata/resourceVersion',
      '/spec/name',
      '/metadata/managedFields/2',
      '/metadata/managedFields/1',
    ]);
  });
});

describe('our finalizer', () => {
  it('goes wherever and however often it is there, and no other does', () => {
    const finalizers = ['kcp.kube-bind.io/syncer', 'theirs', 'kcp.kube-bind.io/syncer'];
    const patch = removeFinalizer(consumerObject(spec, { finalizers }));
    // Last one first: positions stay true while the patch is applied.
    expect(patch.slice(2).map((operation) => operation['path'])).toEqual([
      '/metadata/finalizers/2',
      '/metadata/finalizers/0',
    ]);
  });
});

describe('drift', () => {
  const drifted = { ...copy, spec: { size: 9 } };
  const deviations = findDeviations(
    desiredCopy(consumer, TARGET, MARKS).object,
    drifted,
    ourOwnership(drifted),
  );

  it('is put right', () => {
    expect(decideUp(upInput({ consumer, copy: cached(drifted) }))).toMatchObject({
      kind: 'updateCopy',
      cause: 'drift',
      uid: 'c-1',
    });
  });

  it('that the server insists on is left alone, and only that', () => {
    const { hash } = desiredCopy(consumer, TARGET, MARKS);
    const memory = { accepted: { hash, fingerprint: fingerprint(deviations) } };
    expect(kindOf({ consumer, copy: cached(drifted), memory })).toBe('none');
    expect(kindOf({ consumer, copy: cached({ ...copy, spec: { size: 10 } }), memory })).toBe('updateCopy');
    const former = { accepted: { ...memory.accepted, hash: 'of another edit' } };
    expect(kindOf({ consumer, copy: cached(drifted), memory: former })).toBe('updateCopy');
  });

  it('is a correction also where the note of what was sent was changed with it', () => {
    const { hash } = desiredCopy(consumer, TARGET, MARKS);
    const annotations = { ...copy.metadata.annotations, 'kcp.kube-bind.io/desired-hash': 'theirs' };
    const forged = { ...drifted, metadata: { ...drifted.metadata, annotations } };
    const memory = { sent: hash };
    expect(decideUp(upInput({ consumer, copy: cached(forged), memory }))).toMatchObject({ cause: 'drift' });
  });

  it('that comes back again and again is contested, for edits it is not', () => {
    const memory = { contest: { times: [1, 2, 3, 4, 999_999], rounds: 1 } };
    expect(decideUp(upInput({ consumer, copy: cached(drifted), memory }))).toMatchObject({
      kind: 'contested',
      retryInMs: 599_999,
    });
    expect(kindOf({ consumer: consumerObject({ spec: { size: 3 } }), copy: cached(drifted), memory })).toBe(
      'updateCopy',
    );
  });

  it('counts a copy that is removed again and again too', () => {
    const { hash } = desiredCopy(consumer, TARGET, MARKS);
    const memory = { sent: hash, contest: { times: [999_999], rounds: 1 } };
    expect(kindOf({ consumer, copy: live(undefined), memory })).toBe('contested');
    expect(kindOf({ consumer, copy: live(undefined), memory: { ...memory, sent: 'before' } })).toBe(
      'createCopy',
    );
  });
});
