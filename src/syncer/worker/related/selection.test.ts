import { describe, expect, it } from '@jest/globals';
import { formatKey } from '../../../kube/cache/object-key.js';
import { ResourceStore } from '../../../kube/cache/store.js';
import type { JsonObject } from '../../../kube/json-value.js';
import type { KubeObject, LogicalCluster } from '../../../kube/object.js';
import { ManualClock } from '../../../kube/testing/manual-clock.js';
import { parseClaimSelector } from '../../engine/related/claim-selector.js';
import { RELATED_KINDS } from '../../engine/related/related-kinds.js';
import { Selection } from './selection.js';

const CLUSTER = 'abc' as LogicalCluster;
const LABELS: JsonObject = { labelSelector: { matchLabels: { share: 'yes' } } };
const NAMES: JsonObject = { namedResources: [{ name: 'named', namespace: 'ns' }] };
const REFERENCES: JsonObject = {
  references: [{ group: 'example.org', resource: 'databases', jsonPath: { name: 'spec.secret' } }],
};

function secret(name: string, labels: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'ns', labels },
    data: { key: 'dmFsdWU=' },
    type: 'Opaque',
    immutable: false,
  };
}

const keyOf = ({ metadata }: KubeObject) =>
  formatKey({ cluster: CLUSTER, namespace: metadata.namespace, name: metadata.name });

function open(...selectors: JsonObject[]) {
  const clock = new ManualClock();
  const selection = new Selection({
    selectors: selectors.map(parseClaimSelector),
    clock,
    graceMs: 1000,
    onReferenced: () => undefined,
    onReferrer: () => undefined,
  });
  const databases = new ResourceStore();
  const source = databases.source('x', { kind: 'fixed', cluster: CLUSTER, strict: false });
  const refer = (secretName: string): void => {
    const metadata = { name: 'db', namespace: 'ns', uid: 'db', resourceVersion: secretName };
    const object = { apiVersion: 'v1', kind: 'Database', metadata, spec: { secret: secretName } };
    source.apply({ type: 'MODIFIED', object });
  };
  selection.referrers.attach(new Map([['databases.example.org', databases]]));
  return { clock, selection, source, refer, of: (object: KubeObject) => selection.of(keyOf(object), object) };
}

describe('what several selectors of a claim select', () => {
  it('is what any one of them selects', () => {
    const { of } = open(LABELS, NAMES);
    expect(of(secret('labelled', { share: 'yes' }))).toBe('yes');
    expect(of(secret('named'))).toBe('yes');
    expect(of(secret('other'))).toBe('no');
    expect(of({ ...secret('named'), metadata: { name: 'named', namespace: 'elsewhere' } })).toBe('no');
  });

  it('is uncertain while only references could select it and it was never seen selected', () => {
    const { of, refer } = open(LABELS, REFERENCES);
    const object = secret('referred');
    expect(of(object)).toBe('uncertain');
    refer('referred');
    expect(of(object)).toBe('yes');
    refer('another');
    expect(of(object)).toBe('no');
  });

  it('is uncertain again for an object of the name that comes after it was forgotten', () => {
    const { of, refer, selection } = open(REFERENCES);
    const object = secret('referred');
    refer('referred');
    expect(of(object)).toBe('yes');
    selection.forget(keyOf(object));
    refer('another');
    expect(of(object)).toBe('uncertain');
  });
});

describe('an object that nothing selects', () => {
  it('counts as such after a grace, and never before all referrers are listed', () => {
    const { clock, selection, source } = open(REFERENCES);
    const key = keyOf(secret('a'));
    expect(selection.unselectableAt(key)).toBe(Number.POSITIVE_INFINITY);
    source.begin();
    source.commit();
    const at = clock.now() + 1000;
    expect(selection.unselectableAt(key)).toBe(at);
    void clock.advance(500);
    expect(selection.unselectableAt(key)).toBe(at);
  });
});

describe('what is kept in memory', () => {
  const [kind] = RELATED_KINDS;
  if (kind === undefined) throw new Error('no kind');
  const keptOf = (selectors: JsonObject[], object: KubeObject) =>
    open(...selectors).selection.kept(object, kind);

  it.each<[string, JsonObject[], KubeObject]>([
    ['what labels select', [NAMES, LABELS], secret('a', { share: 'yes' })],
    ['what a name could select in another namespace', [LABELS, NAMES], secret('named')],
    ['anything while it could be referred to', [LABELS, REFERENCES], secret('a')],
    ['a copy of ours', [LABELS], secret('a', { 'kcp.kube-bind.io/binding-uid': 'x' })],
    ['a copy of the kube-bind ecosystem', [LABELS], secret('a', { 'kube-bind.io/owner': 'provider' })],
  ])('is the whole of %s', (_, selectors, object) => expect(keptOf(selectors, object)).toEqual(object));

  it('is no content of anything else', () => {
    const kept = keptOf([LABELS, NAMES], secret('other'));
    expect(kept).not.toHaveProperty('data');
    expect(kept).not.toHaveProperty('immutable');
    expect(kept).toMatchObject({ metadata: { name: 'other' }, type: 'Opaque' });
  });
});
