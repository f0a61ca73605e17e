import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseJson } from '../kube/json.js';
import type { JsonObject } from '../kube/json-value.js';
import { compareSchemas, keepStoredVersions, keptVersions, type Comparison } from './compare.js';
import { convertBoundSchema } from './convert.js';
import { MAX_VERSIONS, type ResourceSchemaSpec, type SchemaVersion } from './resource-schema.js';
import { widgets } from './testdata/widgets.js';

function specOf(bound: JsonObject): ResourceSchemaSpec {
  const result = convertBoundSchema({ spec: bound });
  if (!result.ok) throw new Error(result.message);
  return result.spec;
}

function spec(...versions: Partial<SchemaVersion>[]): ResourceSchemaSpec {
  const base = specOf(widgets());
  return {
    ...base,
    versions: versions.map((version) => ({
      name: 'v1',
      served: true,
      storage: false,
      schema: {},
      ...version,
    })),
  };
}

/** One version whose `spec` has these properties. */
function withProperties(properties: JsonObject, extra: JsonObject = {}): ResourceSchemaSpec {
  return spec({ storage: true, schema: object({ spec: { ...object(properties), ...extra } }) });
}

function object(properties: JsonObject): JsonObject {
  return { type: 'object', properties };
}

function differences(comparison: Comparison): readonly string[] {
  return comparison.compatible ? [] : comparison.differences;
}

const PRESERVES = { 'x-kubernetes-preserve-unknown-fields': true };
const EMBEDDED = { 'x-kubernetes-embedded-resource': true };

describe('what a consumer keeps', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['a new field', { a: { type: 'string' } }, { a: { type: 'string' }, b: { type: 'object' } }],
    [
      'a new field in items',
      { a: { type: 'array', items: object({}) } },
      { a: { type: 'array', items: object({ b: {} }) } },
    ],
    ['stricter validation', { a: { type: 'string' } }, { a: { type: 'string', enum: ['x'], maxLength: 1 } }],
    [
      'another description and default',
      { a: { type: 'string' } },
      { a: { type: 'string', description: 'x', default: 'y' } },
    ],
    ['integer to number', { a: { type: 'integer' } }, { a: { type: 'number' } }],
    ['any type in place of one', { a: { type: 'string' } }, { a: {} }],
    [
      'a map of any values in place of one of strings',
      { a: { type: 'object', additionalProperties: { type: 'string' } } },
      { a: { type: 'object', additionalProperties: true } },
    ],
    [
      'a closed map that preserves what it does not know',
      { a: { type: 'object', additionalProperties: true } },
      { a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    ],
    ['integer to int-or-string', { a: { type: 'integer' } }, { a: { 'x-kubernetes-int-or-string': true } }],
    [
      'named fields to a map of the same',
      { a: object({ b: { type: 'string' } }) },
      { a: { type: 'object', additionalProperties: { type: 'string' } } },
    ],
    [
      'a field below a node that starts to preserve',
      { a: object({ b: {} }) },
      { a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    ],
    [
      'a name among free ones that takes all that it took before',
      { a: { type: 'object', ...PRESERVES } },
      { a: { ...object({ b: PRESERVES }), ...PRESERVES } },
    ],
    [
      'a name of what every embedded resource has',
      { a: { type: 'object', ...EMBEDDED, ...PRESERVES } },
      { a: { ...object({ metadata: object({}), kind: { type: 'string' } }), ...EMBEDDED, ...PRESERVES } },
    ],
    [
      'null that is refused from now on',
      { a: { type: 'string', nullable: true } },
      { a: { type: 'string' } },
    ],
    [
      'fields that any object has',
      { a: { ...object({ kind: { type: 'string' } }), 'x-kubernetes-embedded-resource': true } },
      { a: { ...object({}), 'x-kubernetes-embedded-resource': true } },
    ],
  ])('%s is compatible', (_, before, after) => {
    const next = withProperties(after);
    expect(compareSchemas(withProperties(before), next, ['v1'])).toEqual({ compatible: true, spec: next });
  });

  it('kind and apiVersion may vanish from the root', () => {
    const before = spec({ storage: true, schema: object({ kind: {}, apiVersion: {}, metadata: {} }) });
    expect(compareSchemas(before, spec({ storage: true, schema: object({}) }), ['v1']).compatible).toBe(true);
  });

  it('a provider may stop to report a status field, but not change its type', () => {
    const subresources = { status: {} };
    const status = (schema: JsonObject) =>
      spec({ storage: true, subresources, schema: object({ status: schema }) });
    const before = status(object({ a: { type: 'string' }, b: object({ c: {} }) }));
    expect(compareSchemas(before, status(object({})), ['v1']).compatible).toBe(true);
    expect(differences(compareSchemas(before, status(object({ a: { type: 'integer' } })), ['v1']))).toEqual([
      'version v1: .status.a: type string became integer',
    ]);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['embed a resource', { type: 'object', 'x-kubernetes-embedded-resource': true }, object({})],
    [
      'preserve what it does not know',
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      object({}),
    ],
    ['have other keys', { type: 'object', additionalProperties: { type: 'string' } }, object({})],
  ])('a field of the status may stop to %s', (_, before, after) => {
    const status = (schema: JsonObject) =>
      spec({
        storage: true,
        subresources: { status: {} },
        schema: object({ status: object({ a: schema }) }),
      });
    expect(compareSchemas(status(before), status(after), ['v1']).compatible).toBe(true);
  });

  it('a field of the status is one like any other where either schema has no subresource for it', () => {
    const status = (schema: JsonObject, subresources: SchemaVersion['subresources']) =>
      spec({
        storage: true,
        schema: object({ status: object(schema) }),
        ...(subresources && { subresources }),
      });
    for (const [before, after] of [
      [undefined, { status: {} }],
      [{ status: {} }, undefined],
    ])
      expect(differences(compareSchemas(status({ a: {} }, before), status({}, after), ['v1']))).toEqual([
        'version v1: .status.a: the field was removed',
      ]);
  });
});

describe('what a consumer would lose', () => {
  it.each<[string, JsonObject, JsonObject, string]>([
    ['a removed field', { a: { type: 'string' } }, {}, '.spec.a: the field was removed'],
    [
      'a removed field in items',
      { a: { type: 'array', items: object({ b: {} }) } },
      { a: { type: 'array', items: object({}) } },
      '.spec.a[].b: the field was removed',
    ],
    [
      'another type',
      { a: { type: 'string' } },
      { a: { type: 'object' } },
      '.spec.a: type string became object',
    ],
    [
      'a narrower type',
      { a: { type: 'number' } },
      { a: { type: 'integer' } },
      '.spec.a: type number became integer',
    ],
    [
      'text to number',
      { a: { type: 'string' } },
      { a: { type: 'number' } },
      '.spec.a: type string became number',
    ],
    ['one type in place of any', { a: {} }, { a: { type: 'string' } }, '.spec.a: type any became string'],
    [
      'one type in place of any in a map',
      { a: { type: 'object', additionalProperties: true } },
      { a: { type: 'object', additionalProperties: { type: 'string' } } },
      '.spec.a.*: type any became string',
    ],
    [
      'null in place of which a default is put',
      { a: { type: 'string', nullable: true } },
      { a: { type: 'string', default: 'x' } },
      '.spec.a: null becomes the default',
    ],
    [
      'a name among free ones that has a type now',
      { a: { type: 'object', ...PRESERVES } },
      { a: { ...object({ b: { type: 'integer' } }), ...PRESERVES } },
      '.spec.a.b: type any became integer',
    ],
    [
      'a name among free ones that keeps only what it knows',
      { a: { type: 'object', ...PRESERVES } },
      { a: { ...object({ b: { properties: {} } }), ...PRESERVES } },
      '.spec.a.b: unknown fields are not preserved any more',
    ],
    [
      'a key of a map that has a type of its own now',
      { a: { type: 'object', additionalProperties: { type: 'string' } } },
      { a: { ...object({ b: { type: 'integer' } }), ...PRESERVES } },
      '.spec.a.b: type string became integer',
    ],
    [
      'a field of an embedded resource that keeps only what it knows',
      { a: { type: 'object', ...EMBEDDED, ...PRESERVES } },
      { a: { ...object({ spec: object({}) }), ...EMBEDDED, ...PRESERVES } },
      '.spec.a.spec: type any became object',
    ],
    [
      'int-or-string to integer',
      { a: { 'x-kubernetes-int-or-string': true } },
      { a: { type: 'integer' } },
      '.spec.a: type integer or string became integer',
    ],
    [
      'a map that is closed',
      { a: { type: 'object', additionalProperties: {} } },
      { a: object({}) },
      '.spec.a: keys that the schema does not name are not kept any more',
    ],
    [
      'another type in a map',
      { a: { type: 'object', additionalProperties: { type: 'string' } } },
      { a: { type: 'object', additionalProperties: { type: 'integer' } } },
      '.spec.a.*: type string became integer',
    ],
    [
      'unknown fields not preserved',
      { a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      { a: object({}) },
      '.spec.a: unknown fields are not preserved any more',
    ],
    [
      'an embedded resource opened',
      { a: { type: 'object', 'x-kubernetes-embedded-resource': true } },
      { a: object({}) },
      '.spec.a: it is no embedded resource any more',
    ],
    [
      'a field named constructor',
      { constructor: { type: 'string' } },
      {},
      '.spec.constructor: the field was removed',
    ],
  ])('%s is incompatible', (_, before, after, difference) => {
    expect(compareSchemas(withProperties(before), withProperties(after), ['v1'])).toEqual({
      compatible: false,
      differences: [`version v1: ${difference}`],
    });
  });

  it('a spec field named status is no mirrored status', () => {
    const version = { storage: true, subresources: { status: {} } };
    const before = spec({ ...version, schema: object({ spec: object({ status: object({ a: {} }) }) }) });
    const after = spec({ ...version, schema: object({ spec: object({ status: object({}) }) }) });
    expect(differences(compareSchemas(before, after, ['v1']))).toEqual([
      'version v1: .spec.status.a: the field was removed',
    ]);
  });

  it('a field named like the prototype is no exception', () => {
    const properties = parseJson('{"__proto__":{"type":"string"}}') as JsonObject;
    expect(differences(compareSchemas(withProperties(properties), withProperties({}), ['v1']))).toEqual([
      'version v1: .spec.__proto__: the field was removed',
    ]);
  });

  it('a field of the root may not become required', () => {
    const before = spec({ storage: true, schema: { ...object({ spec: {} }), required: ['kind'] } });
    const after = (required: string[]) =>
      spec({ storage: true, schema: { ...object({ spec: {} }), required } });
    expect(differences(compareSchemas(before, after(['metadata', 'spec']), ['v1']))).toEqual([
      expect.stringContaining('version v1: .spec: it became required'),
    ]);
    expect(compareSchemas(after(['spec']), after(['spec', 'metadata']), ['v1']).compatible).toBe(true);
    const below = withProperties({ a: {} }, { required: ['a'] });
    expect(compareSchemas(withProperties({ a: {} }), below, ['v1']).compatible).toBe(true);
  });

  it('group, plural, kind and scope may not change', () => {
    const live = specOf(widgets());
    const next = specOf({
      ...widgets(),
      group: 'x.example.com',
      scope: 'Cluster',
      names: { plural: 'gadgets', kind: 'Gadget' },
    });
    expect(differences(compareSchemas(live, next, ['v1']))).toEqual([
      'group: shop.example.com became x.example.com',
      'plural name: widgets became gadgets',
      'kind: Widget became Gadget',
      'scope: Namespaced became Cluster',
    ]);
  });

  it('a synced version may not move to one that lacks a field', () => {
    const live = spec({ name: 'v1', storage: true, schema: object({ a: {} }) });
    const next = spec({ name: 'v2', storage: true, schema: object({}) });
    expect(differences(compareSchemas(live, next, ['v1']))).toEqual([
      'version v1 read as v2: .a: the field was removed',
    ]);
  });

  it.each([
    ['lacks a field', object({}), '.a: the field was removed'],
    ['has another type', object({ a: { type: 'integer' } }), '.a: type string became integer'],
  ])('the storage version may not move to one that %s', (_, schema, difference) => {
    const full = object({ a: { type: 'string' } });
    const live = spec({ name: 'v1', storage: true, schema: full });
    const next = spec({ name: 'v1', schema: full }, { name: 'v2', storage: true, schema });
    expect(differences(compareSchemas(live, next, ['v1']))).toEqual([
      `version v1 stored as v2: ${difference}`,
    ]);
    const wider = spec({ name: 'v1', schema: full }, { name: 'v2', storage: true, schema: full });
    expect(compareSchemas(live, wider, ['v1']).compatible).toBe(true);
  });

  it('many differences are cut', () => {
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, {}]));
    const list = differences(compareSchemas(withProperties(properties), withProperties({}), []));
    expect(list).toHaveLength(21);
    expect(list.at(-1)).toBe('and 80 more');
  });
});

describe('versions in storage', () => {
  const live = spec({ name: 'v1alpha1', storage: true, schema: object({ a: {} }) });
  const next = spec({ name: 'v1', storage: true, schema: object({ a: {} }) });
  const retired = {
    name: 'v1alpha1',
    served: true,
    storage: false,
    schema: object({ a: {} }),
    deprecated: true,
    deprecationWarning: 'the provider does not serve v1alpha1 any more; use v1',
  };
  const kept = {
    compatible: true,
    spec: {
      conversion: { strategy: 'None' },
      versions: [{ name: 'v1', served: true, storage: true }, retired],
    },
  };

  it('stay served, since kcp cannot empty them otherwise, when the provider drops them', () => {
    expect(compareSchemas(live, next, ['v1alpha1'])).toMatchObject(kept);
  });

  it('stay served, and move behind the synced one, when the provider stops to serve them', () => {
    const unserved = spec(
      { name: 'v1alpha1', served: false, schema: object({ a: {} }) },
      { name: 'v1', storage: true, schema: object({ a: {} }) },
    );
    expect(compareSchemas(live, unserved, ['v1alpha1'])).toMatchObject(kept);
    expect(compareSchemas(live, unserved, [])).toEqual({ compatible: true, spec: unserved });
  });

  it('are told from those that the provider serves', () => {
    const unserved = spec({ name: 'v1alpha1', served: false }, { name: 'v1', storage: true });
    for (const provided of [next, unserved]) {
      const { spec: union } = keepStoredVersions(provided, [live], ['v1alpha1', 'v1']);
      expect(keptVersions(provided, union)).toEqual(['v1alpha1']);
      expect(keptVersions(union, union)).toEqual([]);
    }
    expect(keptVersions(unserved, unserved)).toEqual([]);
  });

  it('are kept from the next schema alone where the live one is lost', () => {
    expect(keepStoredVersions(next, [undefined], ['v1', 'v1alpha1'])).toEqual({
      spec: next,
      unknown: ['v1alpha1'],
    });
  });

  it('come from what a foreign hand put in the place of the live schema, too', () => {
    const foreign = spec({ name: 'v9', storage: true, schema: object({}) });
    const comparison = compareSchemas(live, live, ['v1alpha1', 'v9'], foreign);
    expect(comparison).toMatchObject({ compatible: true, spec: { conversion: { strategy: 'None' } } });
    if (!comparison.compatible) throw new Error('refused');
    expect(comparison.spec.versions.at(-1)).toMatchObject({ name: 'v9', served: true, deprecated: true });
    expect(differences(compareSchemas(live, live, ['v9']))).toEqual([
      expect.stringContaining('version v9: kcp may hold objects in it'),
    ]);
  });

  it('go when nothing is stored in them', () => {
    expect(compareSchemas(live, next, [])).toEqual({ compatible: true, spec: next });
  });

  it('are not kept beyond as many versions as one schema may have', () => {
    const names = Array.from({ length: MAX_VERSIONS }, (_, index) => `v${index + 2}`);
    const many = (count: number) =>
      spec(...names.slice(0, count).map((name) => ({ name, storage: true, schema: object({ a: {} }) })));
    expect(compareSchemas(live, many(MAX_VERSIONS - 1), ['v1alpha1'])).toMatchObject({ compatible: true });
    expect(differences(compareSchemas(live, many(MAX_VERSIONS), ['v1alpha1'])).at(-1)).toBe(
      `the new versions and those still in storage are more than ${MAX_VERSIONS}`,
    );
  });

  it('need no conversion where one of them is all that is left', () => {
    const base = spec({ name: 'v1alpha1', served: false, schema: object({ a: {} }) });
    const unserved = Object.fromEntries(Object.entries(base).filter(([key]) => key !== 'conversion'));
    const { spec: alone } = keepStoredVersions(unserved as typeof base, [live], ['v1alpha1']);
    expect(alone.versions).toHaveLength(1);
    expect(alone).not.toHaveProperty('conversion');
  });

  it('must be described by somebody', () => {
    expect(differences(compareSchemas(live, next, ['v7']))[0]).toContain('version v7');
  });
});

describe('for all schemas', () => {
  const leaf = fc.constantFrom<JsonObject>(
    { type: 'string' },
    { type: 'integer' },
    { type: 'boolean', nullable: true },
    { 'x-kubernetes-int-or-string': true },
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  );
  const { node } = fc.letrec<{ node: JsonObject }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      leaf,
      tie('node').map((items) => ({ type: 'array', items })),
      tie('node').map((additionalProperties) => ({ type: 'object', additionalProperties })),
      fc
        .dictionary(fc.constantFrom('a', 'b', 'c', 'toString', '__proto__'), tie('node'), { maxKeys: 3 })
        .map(object),
    ),
  }));
  const objects = node.filter((schema) => schema['properties'] !== undefined);

  it('a schema is compatible with itself and stays as it is', () => {
    fc.assert(
      fc.property(node, (schema) => {
        const live = withProperties({ a: schema });
        expect(compareSchemas(live, live, ['v1'])).toEqual({ compatible: true, spec: live });
      }),
    );
  });

  it('adding an optional field is compatible, and taking it away again is not', () => {
    fc.assert(
      fc.property(objects, node, (schema, added) => {
        const without = withProperties({ a: schema });
        const properties = { ...(schema['properties'] as JsonObject), added };
        const along = withProperties({ a: { ...schema, properties } });
        expect(compareSchemas(without, along, ['v1']).compatible).toBe(true);
        expect(compareSchemas(along, without, ['v1']).compatible).toBe(false);
      }),
    );
  });

  it('compatibility keeps every version in storage, and a second step changes nothing', () => {
    const names = fc.uniqueArray(fc.constantFrom('v1', 'v2', 'v3', 'v4'), { minLength: 1 });
    fc.assert(
      fc.property(names, names, names, node, (before, after, unserved, schema) => {
        const make = (list: string[]) =>
          spec(
            ...list.map((name, index) => ({
              name,
              storage: index === 0,
              served: index === 0 || !unserved.some((one) => one === name),
              schema: object({ spec: schema }),
            })),
          );
        const stored = before.slice(0, 2);
        const comparison = compareSchemas(make(before), make(after), stored);
        if (!comparison.compatible) throw new Error('versions alone make nothing incompatible');
        const kept = comparison.spec.versions;
        expect(kept.map((version) => version.name)).toEqual(expect.arrayContaining([...after, ...stored]));
        expect(kept.filter((version) => version.storage)).toHaveLength(1);
        for (const name of stored) expect(kept.find((version) => version.name === name)?.served).toBe(true);
        expect(kept.find((version) => version.served)?.name).toBe(
          make(after).versions.find((version) => version.served)?.name,
        );
        expect(compareSchemas(comparison.spec, make(after), stored)).toEqual(comparison);
      }),
    );
  });

  it('what is compatible in two steps is compatible in one', () => {
    const steps = fc.sample(node, { numRuns: 40, seed: 1 }).map((schema) => withProperties({ x: schema }));
    const leads = (from: ResourceSchemaSpec) =>
      steps.filter((to) => compareSchemas(from, to, ['v1']).compatible);
    for (const first of steps)
      for (const second of leads(first))
        for (const third of leads(second))
          expect(compareSchemas(first, third, ['v1'])).toEqual({ compatible: true, spec: third });
  });
});
