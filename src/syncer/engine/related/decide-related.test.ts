import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CREDENTIALS_LABEL, KUBE_BIND } from '../../../api/markers.js';
import type { JsonObject } from '../../../kube/json-value.js';
import type { KubeObject } from '../../../kube/object.js';
import { EMPTY_MEMORY } from '../object-memory.js';
import type { SyncPolicies } from '../sync-context.js';
import { decideRelated } from './decide-related.js';
import type { EndView, RelatedDecision, RelatedInput } from './decide-related.js';
import { relatedCopy } from './related-copy.js';
import type { End } from './related-copy.js';
import { relatedKind, RELATED_KINDS } from './related-kinds.js';
import { MARKS, PLACES, RelatedWorld, secret } from './testing/related-world.js';

const KIND = relatedKind('', 'secrets') ?? RELATED_KINDS[0]!;
const POLICIES: SyncPolicies = { conflict: 'Fail', deletion: 'Delete', paused: false, draining: false };
const NOW = 1_000_000;

function view(end: End, object?: KubeObject, change: Partial<EndView> = {}): EndView {
  const absent = object === undefined ? { provableAt: NOW + 1000 } : {};
  return {
    place: PLACES[end],
    object,
    listed: true,
    proof: 'none',
    provableAt: undefined,
    ...absent,
    ...change,
  };
}

function decide(
  ends: { consumer?: EndView; provider?: EndView },
  change: Partial<Omit<RelatedInput, 'ends'>> = {},
): RelatedDecision {
  return decideRelated({
    kind: KIND,
    ends: { consumer: ends.consumer ?? view('consumer'), provider: ends.provider ?? view('provider') },
    selected: { consumer: 'yes', provider: 'yes' },
    accepted: true,
    marks: MARKS,
    policies: POLICIES,
    memory: EMPTY_MEMORY,
    unselectableAt: 0,
    now: NOW,
    ...change,
  });
}

const mine = secret('consumer', { data: { a: 'YQ==' } });
const theirs = secret('provider', { data: { a: 'YQ==' } });

function copyAt(
  end: End,
  of: KubeObject = end === 'provider' ? mine : theirs,
  change: JsonObject = {},
): KubeObject {
  const { object } = relatedCopy(of, { kind: KIND, to: end, target: PLACES[end] }, MARKS);
  return { ...object, ...change, metadata: { ...object.metadata, uid: `copy-${end}`, resourceVersion: '3' } };
}

const marked = (object: KubeObject, labels: Record<string, string>): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } },
});
const annotated = (object: KubeObject, annotations: Record<string, string>): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
});
const terminating = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' },
});
const none = { selected: { consumer: 'no', provider: 'no' } } as const;
const uncertain = { selected: { consumer: 'uncertain', provider: 'uncertain' } } as const;

describe('one related object', () => {
  it.each<[string, RelatedDecision, object]>([
    [
      'is copied to the provider',
      decide({ consumer: view('consumer', mine) }),
      { kind: 'create', end: 'provider' },
    ],
    [
      'is copied to the workspace',
      decide({ provider: view('provider', theirs) }),
      { kind: 'create', end: 'consumer' },
    ],
    ['stays where no claim selects it', decide({ consumer: view('consumer', mine) }, none), { kind: 'none' }],
    [
      'stays without consent',
      decide({ consumer: view('consumer', mine) }, { accepted: false }),
      { kind: 'none' },
    ],
    [
      'stays while the binding is paused',
      decide({ consumer: view('consumer', mine) }, { policies: { ...POLICIES, paused: true } }),
      { kind: 'paused' },
    ],
    [
      'waits for the namespace on the provider',
      decide({
        consumer: view('consumer', mine),
        provider: view('provider', undefined, { place: undefined }),
      }),
      { kind: 'waitNamespace', namespace: 'ns' },
    ],
    [
      'waits until the other side has been listed',
      decide({ consumer: view('consumer', mine), provider: view('provider', undefined, { listed: false }) }),
      { kind: 'wait' },
    ],
    [
      'with the label of a kubeconfig never moves',
      decide({ consumer: view('consumer', marked(mine, { [CREDENTIALS_LABEL]: 'true' })) }),
      { kind: 'none' },
    ],
    [
      'that holds a token of a ServiceAccount never moves',
      decide({ consumer: view('consumer', { ...mine, type: 'kubernetes.io/service-account-token' }) }),
      { kind: 'none' },
    ],
    [
      'that is being deleted is not copied any more',
      decide({ consumer: view('consumer', terminating(mine)) }),
      { kind: 'none' },
    ],
    [
      'that another provider’s binding brought is not passed on',
      decide({ consumer: view('consumer', marked(mine, { [KUBE_BIND.owner]: 'provider' })) }),
      { kind: 'none' },
    ],
    [
      'that was left behind does not come back',
      decide({
        consumer: view('consumer', {
          ...mine,
          metadata: { ...mine.metadata, annotations: { 'kcp.kube-bind.io/orphaned': 'true' } },
        }),
      }),
      { kind: 'none' },
    ],
    [
      'is in conflict with one of that name that nobody copied',
      decide({ consumer: view('consumer', mine), provider: view('provider', theirs) }),
      { kind: 'conflict' },
    ],
    [
      'is in conflict with what may never move',
      decide({
        consumer: view('consumer', marked(mine, { [CREDENTIALS_LABEL]: 'true' })),
        provider: view('provider', theirs),
      }),
      { kind: 'conflict' },
    ],
    [
      'leaves a copy alone that another binding of the workspace made',
      decide({
        consumer: view('consumer', mine),
        provider: view('provider', marked(copyAt('provider'), { 'kcp.kube-bind.io/binding-uid': 'b-2' })),
      }),
      { kind: 'none' },
    ],
    [
      'is in conflict with a copy that another workspace’s binding made in the same contract',
      decide({
        consumer: view('consumer', mine),
        provider: view(
          'provider',
          annotated(marked(copyAt('provider'), { 'kcp.kube-bind.io/binding-uid': 'b-2' }), {
            'kcp.kube-bind.io/cluster': 'elsewhere',
          }),
        ),
      }),
      { kind: 'conflict' },
    ],
    [
      'that says itself to be an original of its side is one: providers may be chained',
      decide({ consumer: view('consumer', marked(mine, { [KUBE_BIND.owner]: 'consumer' })) }),
      { kind: 'create', end: 'provider' },
    ],
    [
      'with a label of some binding is a copy of something, and not passed on',
      decide({ consumer: view('consumer', marked(mine, { 'kcp.kube-bind.io/binding-uid': 'b-9' })) }),
      { kind: 'none' },
    ],
    [
      'that has become one that never moves loses its copy',
      decide({
        consumer: view('consumer', marked(mine, { [CREDENTIALS_LABEL]: 'true' })),
        provider: view('provider', copyAt('provider')),
      }),
      { kind: 'delete', end: 'provider', cause: 'retract' },
    ],
    [
      'of the provider stays there while the binding is paused',
      decide({ provider: view('provider', theirs) }, { policies: { ...POLICIES, paused: true } }),
      { kind: 'paused' },
    ],
    [
      'that no claim selects waits for a copy that is being deleted already',
      decide(
        { consumer: view('consumer', mine), provider: view('provider', terminating(copyAt('provider'))) },
        none,
      ),
      { kind: 'wait' },
    ],
    [
      'is in order',
      decide({ consumer: view('consumer', mine), provider: view('provider', copyAt('provider')) }),
      { kind: 'none' },
    ],
    [
      'is put right where the copy differs',
      decide({
        consumer: view('consumer', mine),
        provider: view('provider', copyAt('provider', mine, { data: { a: 'Yg==' } })),
      }),
      { kind: 'replace', end: 'provider', repeated: false },
    ],
    [
      'is made anew where its type changed',
      decide({
        provider: view('provider', { ...theirs, type: 'kubernetes.io/tls' }),
        consumer: view('consumer', copyAt('consumer')),
      }),
      { kind: 'delete', end: 'consumer', cause: 'renew' },
    ],
    [
      'waits for a copy that is being deleted',
      decide({
        consumer: view('consumer', mine),
        provider: view('provider', terminating(copyAt('provider'))),
      }),
      { kind: 'wait' },
    ],
    [
      'loses its copy when no claim selects it any more',
      decide({ consumer: view('consumer', mine), provider: view('provider', copyAt('provider')) }, none),
      { kind: 'delete', end: 'provider', cause: 'retract' },
    ],
    [
      'keeps its copy for a while where it is not sure that nothing refers to it',
      decide(
        { consumer: view('consumer', mine), provider: view('provider', copyAt('provider')) },
        { ...uncertain, unselectableAt: NOW + 5 },
      ),
      { kind: 'waitUntil', at: NOW + 5 },
    ],
    [
      'loses its copy at once when it is being deleted',
      decide({
        consumer: view('consumer', terminating(mine)),
        provider: view('provider', copyAt('provider')),
      }),
      { kind: 'delete', end: 'provider', cause: 'retract' },
    ],
    [
      'that is not to be seen keeps its copy for a while',
      decide({ provider: view('provider', copyAt('provider')) }),
      { kind: 'waitUntil', at: NOW + 1000 },
    ],
    [
      'that is not to be seen is then asked for',
      decide({
        consumer: view('consumer', undefined, { provableAt: NOW }),
        provider: view('provider', copyAt('provider')),
      }),
      { kind: 'prove', end: 'consumer' },
    ],
    [
      'keeps its copy where its side is not listed',
      decide({
        consumer: view('consumer', undefined, { listed: false, provableAt: NOW }),
        provider: view('provider', copyAt('provider')),
      }),
      { kind: 'wait' },
    ],
    [
      'keeps its copy where the provider’s namespace is not known',
      decide({
        consumer: view('consumer', copyAt('consumer')),
        provider: view('provider', undefined, { place: undefined, provableAt: NOW }),
      }),
      { kind: 'wait' },
    ],
    [
      'that is gone loses its copy',
      decide({
        consumer: view('consumer', undefined, { proof: 'gone' }),
        provider: view('provider', copyAt('provider')),
      }),
      { kind: 'delete', end: 'provider', cause: 'retract' },
    ],
    [
      'leaves its copy behind where the user wants that',
      decide(
        {
          consumer: view('consumer', undefined, { proof: 'gone' }),
          provider: view('provider', copyAt('provider')),
        },
        { policies: { ...POLICIES, deletion: 'Orphan' } },
      ),
      { kind: 'orphan', end: 'provider' },
    ],
    [
      'loses its copy in the workspace when the binding leaves',
      decide(
        { consumer: view('consumer', copyAt('consumer')), provider: view('provider', theirs) },
        { policies: { ...POLICIES, draining: true } },
      ),
      { kind: 'delete', end: 'consumer' },
    ],
    [
      'loses its copy on the provider when the binding leaves, even without consent',
      decide(
        {
          consumer: view('consumer', undefined, { listed: false }),
          provider: view('provider', copyAt('provider')),
        },
        { policies: { ...POLICIES, draining: true }, accepted: false },
      ),
      { kind: 'delete', end: 'provider' },
    ],
    [
      'stays when the binding leaves',
      decide(
        { consumer: view('consumer', mine), provider: view('provider', theirs) },
        { policies: { ...POLICIES, draining: true } },
      ),
      { kind: 'none' },
    ],
    [
      'with copies on both sides is left as it is',
      decide({
        consumer: view('consumer', copyAt('consumer')),
        provider: view('provider', copyAt('provider')),
      }),
      { kind: 'conflict' },
    ],
  ])('%s', (_, decision, expected) => {
    expect(decision).toMatchObject(expected);
  });

  it('is left alone for a while after five corrections in ten minutes', () => {
    const { hash } = relatedCopy(mine, { kind: KIND, to: 'provider', target: PLACES.provider }, MARKS);
    const times = [1, 2, 3, 4, 5].map((each) => NOW - each);
    const memory = { sent: hash, contest: { times, rounds: 1 } };
    const ends = { consumer: view('consumer', mine), provider: view('provider') };
    expect(decide(ends, { memory })).toMatchObject({ kind: 'contested' });
    expect(decide(ends, { memory: { sent: hash } })).toMatchObject({ kind: 'create', repeated: true });
  });
});

describe('two servers and any events', () => {
  const content = fc.record({
    data: fc.dictionary(fc.constantFrom('a', '__proto__', 'constructor'), fc.constantFrom('YQ==', 'Yg=='), {
      noNullPrototype: true,
    }),
    type: fc.constantFrom('Opaque', 'kubernetes.io/tls'),
    immutable: fc.boolean(),
    selected: fc.boolean(),
    home: fc.boolean(),
    brand: fc.constantFrom(
      'none' as const,
      'none' as const,
      'sibling' as const,
      'other contract' as const,
      'konnector' as const,
    ),
  });
  const end = fc.constantFrom<End>('consumer', 'provider');
  const step = fc.oneof(
    fc.record({ do: fc.constant('put' as const), end, content }),
    fc.record({
      do: fc.constantFrom('delete' as const, 'hide' as const, 'show' as const, 'tamper' as const),
      end,
    }),
    fc.record({ do: fc.constantFrom('accept' as const, 'reject' as const, 'sync' as const) }),
    fc.record({ do: fc.constant('work' as const), steps: fc.integer({ min: 1, max: 3 }) }),
  );

  it('come to rest, with the copy as its original says, and nothing of others ever touched', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 30 }),
        fc.constantFrom('Delete', 'Orphan'),
        (steps, deletion) => {
          const world = new RelatedWorld(KIND, deletion);
          for (const next of steps) world.take(next);
          world.settle();
          expect(world.violations).toEqual([]);
          expect(world.writesUntilRest).toBeLessThan(12);
          world.expectInOrder();
        },
      ),
      { numRuns: 400 },
    );
  });

  it('have no copy of ours left after the binding has gone, and every original', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 20 }),
        fc.constantFrom('Delete', 'Orphan'),
        (steps, deletion) => {
          const world = new RelatedWorld(KIND, deletion);
          for (const next of steps) world.take(next);
          world.drain();
          expect(world.violations).toEqual([]);
          expect(world.copies()).toEqual([]);
        },
      ),
      { numRuns: 200 },
    );
  });
});
