import { describe, expect, it } from '@jest/globals';
import { ReferenceNotes } from './reference-notes.js';
import type { Referrer } from './referrers.js';

/** The provider calls `ns` and `far` otherwise, `same` the same, and knows nothing of others. */
const CALLED = new Map([
  ['ns', 'contract-ns'],
  ['far', 'contract-far'],
  ['same', 'same'],
]);

interface World {
  readonly notes: ReferenceNotes;
  readonly told: { readonly name: string; readonly reason: string; readonly message: string }[];
  readonly called: Map<string, string>;
}

function open(isolation: 'Prefixed' | 'Namespaced' = 'Prefixed'): World {
  const told: World['told'] = [];
  const called = new Map(CALLED);
  const notes = new ReferenceNotes({
    rule: { isolation, contractNamespace: 'contract' },
    namespaces: {
      providerNamespace: (name) => called.get(name),
      consumerNamespace: () => undefined,
    },
    kind: 'Secret',
    tell: ({ metadata }, what) => told.push({ name: metadata.name, ...what }),
  });
  return { notes, told, called };
}

function referrer(name: string, stated: readonly string[], own: readonly string[] = [], namespace?: string): Referrer {
  const at = (text: string, isStated: boolean): Referrer['referenced'][number] => {
    const [space = '', secret = ''] = text.split('/');
    return { namespace: space, name: secret, stated: isStated };
  };
  return {
    api: 'databases.example.org',
    object: {
      apiVersion: 'example.org/v1',
      kind: 'Database',
      metadata: { name, uid: `uid-${name}`, ...(namespace !== undefined && { namespace }) },
    },
    referenced: [...stated.map((each) => at(each, true)), ...own.map((each) => at(each, false))],
    cut: false,
  };
}

describe('notes about references that the provider cannot follow', () => {
  it('name only the references that state a namespace with another name there', () => {
    const { notes, told } = open();
    notes.check(referrer('db', ['far/a', 'same/b', 'unknown/c'], ['ns/d'], 'ns'));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ name: 'db', reason: 'ReferenceMapped' });
    expect(told[0]?.message).toContain('calls otherwise: far/a. ');
  });

  it('are not made where all references lead somewhere', () => {
    const { notes, told } = open();
    const fine = referrer('db', ['same/b'], ['ns/d'], 'ns');
    notes.check(fine);
    expect(told).toEqual([]);
    expect(notes.summary([fine])).toBeUndefined();
  });

  it('are told once for each object, and again when they say something else or are true anew', () => {
    const { notes, told, called } = open();
    const db = referrer('db', ['far/a'], [], 'ns');
    notes.check(db);
    notes.check(db);
    notes.check(referrer('other', ['far/a'], [], 'ns'));
    expect(told.map(({ name }) => name)).toEqual(['db', 'other']);
    notes.check(referrer('db', ['far/a', 'far/b'], [], 'ns'));
    expect(told).toHaveLength(3);
    called.set('far', 'far');
    notes.check(db);
    called.set('far', 'contract-far');
    notes.check(db);
    expect(told).toHaveLength(4);
  });

  it('are made for cluster-scoped objects whose copies share one namespace, not for others beside them', () => {
    const { notes } = open('Namespaced');
    const message = notes.summary([referrer('wide', [], ['ns/a']), referrer('db', [], ['ns/a'], 'ns')]);
    expect(message).toMatch(/in: wide\.$/);
  });

  it.each<[number, string]>([
    [1, 'ns/db0.'],
    [3, 'ns/db0, ns/db1, ns/db2.'],
    [5, 'ns/db0, ns/db1, ns/db2 and 2 more.'],
  ])('sum up %d objects without naming more than three', (count, names) => {
    const { notes } = open();
    const broken = Array.from({ length: count }, (_, at) => referrer(`db${String(at)}`, ['far/a'], [], 'ns'));
    expect(notes.summary([referrer('fine', ['same/a'], [], 'ns'), ...broken])).toBe(
      `References to a Secret that state a namespace lead nowhere on the provider, which calls it otherwise, in: ${names}`,
    );
  });

  it('have no summary without objects', () => {
    expect(open().notes.summary([])).toBeUndefined();
  });
});
