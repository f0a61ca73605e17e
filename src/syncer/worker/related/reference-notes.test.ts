import { describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../../../kube/object.js';
import type { Isolation } from '../../engine/key-mapping.js';
import { ReferenceNotes } from './reference-notes.js';
import type { Referrer } from './referrers.js';

function open(isolation: Isolation = 'Prefixed') {
  const told: { readonly name: string; readonly reason: string; readonly message: string }[] = [];
  const mapped = new Map([['ns', 'contract-ns']]);
  const notes = new ReferenceNotes({
    rule: { isolation, contractNamespace: 'contract' },
    namespaces: { providerNamespace: (name) => mapped.get(name), consumerNamespace: () => undefined },
    kind: 'Secret',
    tell: ({ metadata }, what) => told.push({ name: metadata.name, ...what }),
  });
  return { notes, told, mapped };
}

function referrer(
  name: string,
  secrets: readonly string[],
  options: { stated?: boolean; namespace?: string } = {},
): Referrer {
  const { stated = true, namespace } = options;
  const metadata = { name, uid: name, ...(namespace === undefined ? {} : { namespace }) };
  const object: KubeObject = { apiVersion: 'v1', kind: 'Database', metadata };
  const referenced = secrets.map((each) => ({ name: each, namespace: 'ns', stated }));
  return { api: 'databases.example.org', object, referenced, cut: false };
}

describe('references to what has another name on the provider', () => {
  it('are told once on the object that has them, until they change', () => {
    const { notes, told } = open();
    notes.check(referrer('db', ['one'], { namespace: 'ns' }));
    notes.check(referrer('db', ['one'], { namespace: 'ns' }));
    expect(told).toMatchObject([{ name: 'db', reason: 'ReferenceMapped' }]);
    expect(told[0]?.message).toContain('references to a Secret');
    expect(told[0]?.message).toContain('ns/one');
    notes.check(referrer('db', ['two'], { namespace: 'ns' }));
    expect(told).toHaveLength(2);
  });

  it('are told again after they were in order in between', () => {
    const { notes, told, mapped } = open();
    const db = referrer('db', ['one'], { namespace: 'ns' });
    notes.check(db);
    mapped.set('ns', 'ns');
    notes.check(db);
    expect(notes.summary([db])).toBeUndefined();
    mapped.set('ns', 'contract-ns');
    notes.check(db);
    expect(told).toHaveLength(2);
  });

  it('are none where the object states no namespace, or nothing is mapped', () => {
    const { notes, told, mapped } = open();
    notes.check(referrer('db', ['one'], { stated: false, namespace: 'ns' }));
    mapped.clear();
    notes.check(referrer('db', ['one'], { namespace: 'ns' }));
    expect(told).toEqual([]);
  });

  it('are all of them for a cluster-scoped object with isolation Namespaced, and none for another one', () => {
    const { notes } = open('Namespaced');
    const unstated = { stated: false };
    expect(notes.summary([referrer('db', ['one'], unstated)])).toContain('db');
    expect(notes.summary([referrer('db', ['one'], { ...unstated, namespace: 'ns' })])).toBeUndefined();
  });

  it('are summed up by the objects that have them, three by name', () => {
    const { notes } = open();
    const fine = referrer('fine', ['one'], { stated: false, namespace: 'ns' });
    const broken = ['a', 'b', 'c', 'd', 'e'].map((name) => referrer(name, ['one'], { namespace: 'ns' }));
    expect(notes.summary([fine])).toBeUndefined();
    expect(notes.summary([fine, ...broken.slice(0, 3)])).toMatch(/in: ns\/a, ns\/b, ns\/c\.$/);
    expect(notes.summary([fine, ...broken])).toMatch(/in: ns\/a, ns\/b, ns\/c and 2 more\.$/);
  });
});
