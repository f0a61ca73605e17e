import { describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../../kube/object.js';
import { findDeviations, fingerprint } from './deviations.js';
import {
  entriesInVersion,
  otherManagers,
  ourOwnership,
  ownershipOf,
  readFieldsV1,
  withOwnManagedFields,
} from './managed-fields.js';
import { lostFields } from './lost-fields.js';
import { removalsBeforeApply, removalsOfFormerManagers } from './residue.js';

/** As Kubernetes wrote it for an apply (shortened). */
const FIELDS = {
  'f:metadata': { 'f:annotations': { 'f:x': {} } },
  'f:spec': {
    'f:size': {},
    'f:labels': { 'f:x': {}, 'f:y': {} },
    'f:items': {},
    'f:set': { 'v:"p"': {}, 'v:9007199254740993': {} },
    'f:maplist': { 'k:{"key":"k1"}': { '.': {}, 'f:key': {}, 'f:v': {} } },
    'f:free': { 'f:a': { '.': {}, 'f:b': {} } },
  },
};

function object(spec: unknown, fields: unknown = FIELDS, extra: Record<string, unknown> = {}): KubeObject {
  return {
    apiVersion: 'example.org/v1',
    kind: 'Widget',
    metadata: {
      name: 'a',
      annotations: { x: '1' },
      managedFields: [
        { manager: 'kcp.kube-bind.io', operation: 'Apply', apiVersion: 'example.org/v1', fieldsV1: fields },
        { manager: 'other', operation: 'Update', apiVersion: 'example.org/v1', fieldsV1: {} },
      ],
      ...extra,
    },
    spec,
  } as KubeObject;
}
const full = {
  size: 1,
  labels: { x: '1', y: '2' },
  items: [{ a: 1 }],
  set: ['p', 9007199254740993n],
  maplist: [{ key: 'k1', v: '1' }],
  free: { a: { b: 1 } },
};
const desired = (spec: unknown): KubeObject =>
  ({
    apiVersion: 'example.org/v1',
    kind: 'Widget',
    metadata: { name: 'a', annotations: { x: '1' } },
    spec,
  }) as KubeObject;
const deviationsOf = (wanted: unknown, live: KubeObject) =>
  findDeviations(desired(wanted), live, ourOwnership(live)).map(
    ({ path, kind }) => `${kind} ${path.join('.')}`,
  );

describe('entries in another version', () => {
  it('are moved to the version of the object, whoever is entered, and nothing else is touched', () => {
    const entry = (manager: string, apiVersion: string, subresource?: string) => ({
      manager,
      operation: 'Update',
      apiVersion,
      fieldsV1: {},
      ...(subresource === undefined ? {} : { subresource }),
    });
    const managedFields = [
      entry('kcp.kube-bind.io', 'example.org/v1beta1'),
      entry('other', 'example.org/v1'),
      entry('service', 'example.org/v1beta1', 'status'),
      'no entry',
    ];
    expect(entriesInVersion(object(full, FIELDS, { managedFields }))).toEqual(
      [0, 2].map((index) => ({
        op: 'replace',
        path: `/metadata/managedFields/${String(index)}/apiVersion`,
        value: 'example.org/v1',
      })),
    );
    expect(entriesInVersion(object(full))).toEqual([]);
    expect(entriesInVersion(object(full, FIELDS, { managedFields: undefined }))).toEqual([]);
  });
});

describe('what differs', () => {
  it.each([
    ['nothing', full, full, []],
    ['defaults and fields of others', full, { ...full, replicas: 3, labels: { ...full.labels, z: '1' } }, []],
    ['a default in an atomic list', full, { ...full, items: [{ a: 1, d: 2 }] }, []],
    ['the order of a set', full, { ...full, set: [9007199254740993n, 'p'] }, []],
    [
      'items of others in map and set',
      full,
      { ...full, set: ['z', ...full.set], maplist: [{ key: 'k0' }, ...full.maplist] },
      [],
    ],
    ['a default in a map item', full, { ...full, maplist: [{ key: 'k1', v: '1', d: 'x' }] }, []],
    ['a value', full, { ...full, size: 2 }, ['changed spec.size']],
    ['a removed key', full, { ...full, labels: { x: '1' } }, ['missing spec.labels.y']],
    [
      'the order of an atomic list',
      { ...full, items: [1, 2] },
      { ...full, items: [2, 1] },
      ['changed spec.items'],
    ],
    ['a longer atomic list', full, { ...full, items: [{ a: 1 }, {}] }, ['changed spec.items']],
    ['a set item', full, { ...full, set: ['p'] }, ['missing spec.set.1']],
    ['a map item', full, { ...full, maplist: [{ key: 'k2', v: '1' }] }, ['missing spec.maplist.0']],
    [
      'a field of a map item',
      full,
      { ...full, maplist: [{ key: 'k1', v: '2' }] },
      ['changed spec.maplist.0.v'],
    ],
    [
      '{} against null',
      { ...full, free: { a: {} } },
      { ...full, free: { a: null } },
      ['changed spec.free.a'],
    ],
    ['null against absent', { ...full, free: { n: null } }, { ...full, free: {} }, ['missing spec.free.n']],
    ['[] against absent', { ...full, items: [] }, { ...full, items: undefined }, ['missing spec.items']],
    [
      'int64 neighbours',
      { ...full, size: 9007199254740993n },
      { ...full, size: 9007199254740992 },
      ['changed spec.size'],
    ],
    ['number and bigint of one value', { ...full, size: 1n }, full, []],
  ])('%s', (_name, wanted, live, expected) => expect(deviationsOf(wanted, object(live))).toEqual(expected));

  it('is a value that somebody else wrote too, since its removal would go unnoticed', () => {
    const fields = { ...FIELDS, 'f:spec': { ...FIELDS['f:spec'], 'f:labels': { 'f:x': {} } } };
    expect(deviationsOf(full, object(full, fields))).toEqual(['unowned spec.labels.y']);
  });

  it('does not count owners in another version of the API', () => {
    const live = object(full, {});
    live.apiVersion = 'example.org/v2';
    expect(deviationsOf(full, live)).toEqual([]);
  });

  it('is none in what another version of ours owns under other names', () => {
    const live = object(full, { 'f:spec': { 'f:formerly': {} } });
    const [entry] = live.metadata.managedFields ?? [];
    live.metadata.managedFields = [{ ...(entry as object), apiVersion: 'example.org/v0' }];
    expect(deviationsOf(full, live)).toEqual([]);
  });

  it('is none inside of an atomic map, which has one owner', () => {
    const fields = { 'f:metadata': FIELDS['f:metadata'], 'f:spec': { 'f:sealed': {} } };
    expect(deviationsOf({ sealed: { left: 'l' } }, object({ sealed: { left: 'l' } }, fields))).toEqual([]);
    expect(deviationsOf({ sealed: { left: 'l' } }, object({ sealed: { left: 'x' } }, fields))).toEqual([
      'changed spec.sealed.left',
    ]);
  });

  it('is none in a list item whose key field the server has filled in', () => {
    const items = { 'k:{"port":1,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:protocol': {} } };
    const fields = { 'f:metadata': FIELDS['f:metadata'], 'f:spec': { 'f:ports': items } };
    const live = object({ ports: [{ port: 2 }, { port: 1, protocol: 'TCP' }] }, fields);
    expect(deviationsOf({ ports: [{ port: 1 }] }, live)).toEqual([]);
    expect(deviationsOf({ ports: [{ port: 3 }] }, live)).toEqual(['missing spec.ports.0']);
  });

  it('is none where neither side has labels or annotations', () => {
    const bare = { apiVersion: 'v1', kind: 'X', metadata: { name: 'a', labels: {}, annotations: {} } };
    expect(findDeviations(bare, { ...bare, metadata: { name: 'a' } }, undefined)).toEqual([]);
  });

  it('is told apart by what is there', () => {
    const print = (size: number): string => {
      const live = object({ ...full, size });
      return fingerprint(findDeviations(desired(full), live, ourOwnership(live)));
    };
    expect(print(2)).toBe(print(2));
    expect(print(2)).not.toBe(print(3));
  });
});

describe('what an apply cannot take away', () => {
  const removals = (wanted: unknown, live: KubeObject, mode: 'whole' | 'contents' = 'whole') =>
    removalsBeforeApply(desired(wanted), live, ourOwnership(live)?.root, mode).map(({ path }) => path);

  it.each([
    ['a field', { ...full, size: undefined }, [], []],
    ['a whole map', { ...full, labels: undefined }, [], []],
    [
      'a map that becomes empty',
      { ...full, labels: {} },
      ['/spec/labels'],
      ['/spec/labels/x', '/spec/labels/y'],
    ],
    ['a set that becomes empty', { ...full, set: [] }, ['/spec/set'], ['/spec/set/1', '/spec/set/0']],
    ['a map list that becomes empty', { ...full, maplist: [] }, ['/spec/maplist'], ['/spec/maplist/0']],
    ['an untyped map below', { ...full, free: { a: {} } }, ['/spec/free/a'], ['/spec/free/a/b']],
    ['an atomic list', { ...full, items: [] }, [], []],
    ['everything', {}, ['/spec'], undefined],
  ])('%s', (_name, wanted, whole, contents) => {
    expect(removals(wanted, object(full))).toEqual(whole);
    if (contents !== undefined) expect(removals(wanted, object(full), 'contents')).toEqual(contents);
  });

  it('leaves what others have put beside it', () => {
    const live = object({ ...full, labels: { ...full.labels, z: '1' }, set: ['z', ...full.set] });
    expect(removals({ ...full, labels: {}, set: [] }, live)).toEqual([
      '/spec/labels/x',
      '/spec/labels/y',
      '/spec/set/2',
      '/spec/set/1',
    ]);
  });

  it('keeps the key of a list item that others have fields in', () => {
    const live = object({ ...full, maplist: [{ key: 'k1', v: '1', theirs: 2 }] });
    expect(removals({ ...full, maplist: [] }, live)).toEqual(['/spec/maplist/0/v']);
  });

  it('includes empty lists that were sent and that nobody owns, and trusts no other note', () => {
    const note = JSON.stringify([
      '/spec/e',
      '/spec/items',
      '/metadata/x',
      'spec',
      5,
      '/status/e',
      '/spec/gone',
    ]);
    const annotations = { x: '1', 'kcp.kube-bind.io/empty-lists': note };
    const finalizers: string[] = [];
    const live = {
      ...object({ ...full, e: [] }, FIELDS, { annotations, x: [], finalizers }),
      status: { e: [] },
    };
    expect(removals(full, live)).toEqual(['/spec/e']);
    // Still wanted, or filled by somebody else meanwhile.
    expect(removals({ ...full, e: [] }, live)).toEqual([]);
    expect(removals(full, { ...live, spec: { ...full, e: ['theirs'] } })).toEqual([]);
    const broken = object({ ...full, e: [] }, FIELDS, {
      annotations: { 'kcp.kube-bind.io/empty-lists': '[[[' },
    });
    expect(removals(full, broken)).toEqual([]);
  });

  it('finds empty lists under keys with slashes and tildes', () => {
    const annotations = { 'kcp.kube-bind.io/empty-lists': '["/spec/a~1b~0c"]' };
    const live = object({ ...full, 'a/b~c': [] }, FIELDS, { annotations });
    expect(removals(full, live)).toEqual(['/spec/a~1b~0c']);
  });

  it('touches nothing in a container that is empty already', () => {
    const live = object({ ...full, labels: {} });
    expect(removals({ ...full, labels: {} }, live)).toEqual([]);
  });

  it('leaves an item that a list holds twice once, since nobody is entered for the second', () => {
    const live = object({ ...full, set: ['p', 9007199254740993n, 'p'] });
    expect(removals({ ...full, set: [] }, live)).toEqual(['/spec/set/1', '/spec/set/0']);
  });

  it('names no path twice', () => {
    const live = object(
      { free: { a: [] } },
      { 'f:spec': { 'f:free': { 'f:a': {} } } },
      {
        annotations: { 'kcp.kube-bind.io/empty-lists': '["/spec/free/a"]' },
      },
    );
    expect(removals({ free: {} }, live)).toEqual(['/spec/free']);
    expect(removals({ free: {} }, live, 'contents')).toEqual(['/spec/free/a']);
  });

  it('covers all that former managers have left', () => {
    const live = object(full, FIELDS, { annotations: { x: '1', old: '2' } });
    const former = readFieldsV1({ ...FIELDS, 'f:metadata': { 'f:annotations': { 'f:x': {}, 'f:old': {} } } });
    const paths = removalsOfFormerManagers(desired({ size: 1, labels: { x: '1' } }), live, former, 'whole');
    expect(paths.map(({ path }) => path)).toEqual([
      '/spec/labels/y',
      '/spec/items',
      '/spec/set',
      '/spec/maplist',
      '/spec/free',
      '/metadata/annotations/old',
    ]);
  });
});

describe('managedFields', () => {
  it('of a status are neither ours nor a sign of somebody else’s object', () => {
    const status = {
      subresource: 'status',
      operation: 'Update',
      apiVersion: 'example.org/v1',
      fieldsV1: FIELDS,
    };
    const live = object(full, FIELDS);
    live.metadata.managedFields = ['kcp.kube-bind.io', 'other'].map((manager) => ({ ...status, manager }));
    expect(ourOwnership(live)).toBeUndefined();
    expect(otherManagers(live)).toEqual([]);
  });

  it('of others are not kept in memory', () => {
    const kept = withOwnManagedFields(object(full));
    expect(kept.metadata.managedFields).toHaveLength(1);
    expect(ownershipOf(kept, ['other'])).toBeUndefined();
    expect(ourOwnership(kept)?.root.fields.has('spec')).toBe(true);
  });

  it.each([[null], [5], [{ 'k:{': {}, 'v:': {}, 'i:0': {}, junk: 1 }], [{ 'f:a': 'x' }]])(
    'that make no sense (%j) own nothing in particular',
    (fields) => expect(() => readFieldsV1(fields as never)).not.toThrow(),
  );

  it('nested beyond reason do not overflow the stack', () => {
    let fields: Record<string, unknown> = {};
    for (let depth = 0; depth < 400; depth++) fields = { 'f:a': fields };
    expect(() => readFieldsV1(fields as never)).not.toThrow();
  });
});

describe('lost fields', () => {
  it('are the outermost ones that did not come back', () => {
    expect(
      lostFields(
        { spec: { a: 1, b: { c: 1 }, l: [{ x: 1 }, { y: 1, z: 2 }] } },
        { spec: { a: 9, l: [{ x: 1 }, { y: 1 }] } },
      ),
    ).toEqual([
      ['spec', 'b'],
      ['spec', 'l', 1, 'z'],
    ]);
  });
});
