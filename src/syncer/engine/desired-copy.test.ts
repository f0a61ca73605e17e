import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { BOOKKEEPING_KEYS, isBookkeepingKey } from './bookkeeping-keys.js';
import { canonicalJson } from './canonical-json.js';
import { desiredCopy } from './desired-copy.js';
import { MARKS, TARGET, consumerObject } from './testing/samples.js';

describe('bookkeeping keys', () => {
  it.each([
    'kubectl.kubernetes.io/last-applied-configuration',
    'kcp.io/cluster',
    'internal.apis.kcp.io/x',
    'claimed.internal.apis.kcp.io/abc',
    'argocd.argoproj.io/tracking-id',
    'app.kubernetes.io/instance',
    'app.kubernetes.io/managed-by',
    'kustomize.toolkit.fluxcd.io/name',
    'helm.toolkit.fluxcd.io/name',
    'meta.helm.sh/release-name',
    'kcp.kube-bind.io/paused',
    'kube-bind.io/cluster-namespace',
  ])('%s stays in the workspace', (key) => expect(isBookkeepingKey(key)).toBe(true));

  it.each([
    'app',
    'app.kubernetes.io/name',
    'notkcp.io/x',
    'kcp.io',
    'example.org/kcp.io',
    'kcp.io.example.org/x',
    '',
  ])('%s travels', (key) => expect(isBookkeepingKey(key)).toBe(false));

  it('are all in the reference', async () => {
    const reference = await readFile('docs/reference/sync.md', 'utf8');
    for (const { match, value, owner, why } of BOOKKEEPING_KEYS)
      expect(reference).toContain(
        `| \`${value}\`${match === 'domain' ? ' and below' : ''} | ${owner} | ${why} |`,
      );
  });

  it('say whose they are and what they would do', () => {
    for (const rule of BOOKKEEPING_KEYS) expect(`${rule.owner}${rule.why}`.length).toBeGreaterThan(20);
  });
});

describe('the desired copy', () => {
  const consumer = consumerObject(
    {
      spec: { a: 1, list: [], deep: { empty: [], map: {} }, items: [{ inner: [] }] },
      data: { k: 'v' },
      status: { x: 1 },
    },
    {
      generateName: 'a-',
      creationTimestamp: '2030-01-01T00:00:00Z',
      managedFields: [],
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'y' }],
      labels: { app: 'x', 'argocd.argoproj.io/instance': 'q', 'kcp.kube-bind.io/binding-uid': 'forged' },
      annotations: { note: 'n', 'kube-bind.io/consumer-uid': 'forged', 'kcp.io/cluster': 'c' },
    },
  );
  const { object, hash } = desiredCopy(consumer, TARGET, MARKS);

  it('has every field of the user and nothing that a server sets', () => {
    expect(Object.keys(object).sort()).toEqual(['apiVersion', 'data', 'kind', 'metadata', 'spec']);
    expect(Object.keys(object.metadata).sort()).toEqual(['annotations', 'labels', 'name', 'namespace']);
    expect(object['spec']).toEqual(consumer['spec']);
  });

  it('has the marks, which the user cannot forge', () => {
    expect(object.metadata.labels).toEqual({ app: 'x', 'kcp.kube-bind.io/binding-uid': 'b-1' });
    expect(object.metadata.annotations).toEqual({
      note: 'n',
      'kube-bind.io/cluster-namespace': 'cns',
      'kube-bind.io/consumer-namespace': 'ns',
      'kube-bind.io/consumer-uid': 'u-1',
      'kcp.kube-bind.io/cluster': MARKS.cluster,
      'kcp.kube-bind.io/binding': 'widgets',
      'kcp.kube-bind.io/consumer-generation': '2',
      'kcp.kube-bind.io/empty-lists': '["/spec/deep/empty","/spec/list"]',
      'kcp.kube-bind.io/desired-hash': hash,
    });
  });

  it('has a hash of what is sent, and of nothing else', () => {
    const hashOf = (change: Parameters<typeof consumerObject>[1], content = { spec: { a: 1 } }) =>
      desiredCopy(consumerObject(content, change), TARGET, MARKS).hash;
    const base = hashOf({});
    expect(hashOf({ resourceVersion: '99', finalizers: [] })).toBe(base);
    expect(hashOf({ annotations: { 'kcp.io/x': 'y' } })).toBe(base);
    expect(hashOf({ annotations: { note: 'y' } })).not.toBe(base);
    expect(hashOf({ generation: 3 })).not.toBe(base);
    expect(hashOf({}, { spec: { a: 2 } })).not.toBe(base);
    const otherVersion = { ...consumerObject({ spec: { a: 1 } }), apiVersion: 'example.org/v2' };
    expect(desiredCopy(otherVersion, TARGET, MARKS).hash).toBe(base);
  });

  it('can leave out fields, without moving list items', () => {
    const narrow = desiredCopy(consumer, TARGET, MARKS, [
      ['data'],
      ['spec', 'a'],
      ['spec', 'items', 0, 'inner'],
    ]);
    expect(narrow.object['spec']).toEqual({ list: [], deep: { empty: [], map: {} }, items: [{}] });
    expect(narrow.object).not.toHaveProperty('data');
    expect(narrow.hash).not.toBe(hash);
  });

  it('survives keys that only a prototype has', () => {
    const odd = JSON.parse('{"__proto__":{"a":1},"constructor":[]}') as Record<string, never>;
    const { object: copy } = desiredCopy(consumerObject({ spec: odd }), TARGET, MARKS, [
      ['spec', 'constructor'],
    ]);
    expect(JSON.stringify(copy['spec'])).toBe('{"__proto__":{"a":1}}');
  });
});

describe('canonical JSON', () => {
  it.each([
    [
      { a: 1, b: 2 },
      { b: 2n, a: 1n },
    ],
    [1e20, 100000000000000000000n],
    [123456789012345680000, 123456789012345683968n],
    [-0, 0],
    [{ a: undefined }, {}],
  ])('%# is one text for one meaning', (a, b) => expect(canonicalJson(a)).toBe(canonicalJson(b)));

  it.each([
    [{}, null],
    [[], {}],
    [9007199254740993n, 9007199254740992],
    [1, '1'],
    [
      [1, 2],
      [2, 1],
    ],
  ])('%# is another text for another meaning', (a, b) => expect(canonicalJson(a)).not.toBe(canonicalJson(b)));
});
