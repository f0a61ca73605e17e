import { describe, expect, it } from '@jest/globals';
import { ResourceStore } from '../../../kube/cache/store.js';
import type { KubeObject, LogicalCluster } from '../../../kube/object.js';
import { parseClaimSelector } from '../../engine/related/claim-selector.js';
import { ReferenceNotes } from './reference-notes.js';
import { Referrers } from './referrers.js';

const CLUSTER = 'abc' as LogicalCluster;
const { references } = parseClaimSelector({
  references: [
    { group: 'example.org', resource: 'databases', jsonPath: { name: 'spec.secrets' } },
    { group: 'example.org', resource: 'caches', jsonPath: { name: 'spec.secret' } },
  ],
});

function databases(): {
  store: ResourceStore;
  set: (name: string, secrets: string[], change?: object) => void;
  remove: (name: string) => void;
  /** Lists nothing, completely. */
  list: () => void;
} {
  const store = new ResourceStore();
  const sink = store.source('x', { kind: 'fixed', cluster: CLUSTER, strict: false });
  let version = 0;
  return {
    store,
    list: () => {
      sink.begin();
      sink.commit();
    },
    set: (name, secrets, change = {}) => {
      const metadata = { name, namespace: 'ns', uid: name, resourceVersion: String(++version), ...change };
      const object: KubeObject = { apiVersion: 'v1', kind: 'Database', metadata, spec: { secrets } };
      sink.apply({ type: 'MODIFIED', object });
    },
    remove: (name) => {
      const object = store.get({ cluster: CLUSTER, namespace: 'ns', name });
      if (object !== undefined) sink.apply({ type: 'DELETED', object });
    },
  };
}

describe('objects that refer to others', () => {
  const open = (): { referrers: Referrers; told: string[] } => {
    const told: string[] = [];
    const referrers = new Referrers({
      references,
      onReferenced: ({ namespace, name }) => told.push(`${namespace ?? '*'}/${name}`),
      onReferrer: () => undefined,
    });
    return { referrers, told };
  };

  it('count each other, once for each of them', () => {
    const { referrers, told } = open();
    const { store, set, remove } = databases();
    set('one', ['a', 'a', 'b']);
    referrers.attach(new Map([['databases.example.org', store]]));
    set('two', ['a']);
    expect(told).toEqual(['ns/a', 'ns/b', 'ns/a']);
    set('one', ['b']);
    expect(referrers.refersTo({ namespace: 'ns', name: 'a' })).toBe(true);
    set('two', ['a'], { deletionTimestamp: '2030-01-01T00:00:00Z' });
    remove('two');
    expect(referrers.refersTo({ namespace: 'ns', name: 'a' })).toBe(false);
    expect(referrers.refersTo({ namespace: 'other', name: 'b' })).toBe(false);
  });

  it.each([
    [256, 0],
    [300, 1],
  ])('say so where they refer to too many (%d)', (count, told) => {
    const events: string[] = [];
    const notes = new ReferenceNotes({
      rule: { isolation: 'Prefixed', contractNamespace: 'c' },
      namespaces: { providerNamespace: () => undefined, consumerNamespace: () => undefined },
      kind: 'Secret',
      tell: (_object, { reason }) => events.push(reason),
    });
    const { store, set } = databases();
    const referrers = new Referrers({
      references,
      onReferenced: () => undefined,
      onReferrer: (referrer) => notes.check(referrer),
    });
    referrers.attach(new Map([['databases.example.org', store]]));
    const secrets = Array.from({ length: count }, (_, index) => `s${String(index)}`);
    set('one', secrets);
    set('one', [...secrets].reverse());
    expect(events).toEqual(Array.from({ length: told }, () => 'ReferencesCut'));
    expect(referrers.refersTo({ namespace: 'ns', name: 's255' })).toBe(true);
  });

  it('keep what they refer to when they vanish without having been deleted', () => {
    const { referrers } = open();
    const { store, set, remove } = databases();
    referrers.attach(new Map([['databases.example.org', store]]));
    set('one', ['a']);
    remove('one');
    expect(referrers.refersTo({ namespace: 'ns', name: 'a' })).toBe(true);
  });

  it('are known when the objects of every API that refers were listed, and told of what was attached', () => {
    const { referrers } = open();
    const [first, second] = [databases(), databases()];
    const one = new Map([['databases.example.org', first.store]]);
    const both = new Map([...one, ['caches.example.org', second.store] as const]);
    expect(referrers.attach(new Map())).toBe(false);
    expect(referrers.attach(one)).toBe(true);
    expect(referrers.attach(one)).toBe(false);
    expect(referrers.unknownApis).toEqual(['caches.example.org']);
    first.list();
    expect(referrers.known).toBe(false);
    expect(referrers.attach(both)).toBe(true);
    expect(referrers.unknownApis).toEqual([]);
    expect(referrers.known).toBe(false);
    second.list();
    expect(referrers.known).toBe(true);
  });

  it('are listed as long as they refer to something', () => {
    const { referrers } = open();
    const { store, set } = databases();
    referrers.attach(new Map([['databases.example.org', store]]));
    set('one', ['a']);
    expect([...referrers.all()].map(({ object }) => object.metadata.name)).toEqual(['one']);
    set('one', []);
    expect([...referrers.all()]).toEqual([]);
  });

  it('are read from another store when their API is opened anew, and not twice from the same', () => {
    const { referrers, told } = open();
    const first = databases();
    first.set('one', ['a']);
    referrers.attach(new Map([['databases.example.org', first.store]]));
    referrers.attach(new Map([['databases.example.org', first.store]]));
    expect(told).toEqual(['ns/a']);
    const second = databases();
    second.set('one', ['b']);
    referrers.attach(new Map([['databases.example.org', second.store]]));
    first.set('one', ['c']);
    expect(told).toEqual(['ns/a', 'ns/b', 'ns/a']);
  });

  it('are not known as long as one of their APIs is not', () => {
    const { referrers } = open();
    const { store } = databases();
    referrers.attach(new Map([['databases.example.org', store]]));
    expect(referrers.known).toBe(false);
    expect(referrers.unknownApis).toEqual(['caches.example.org']);
  });
});
