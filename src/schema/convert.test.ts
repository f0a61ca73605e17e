import { readFileSync } from 'node:fs';
import { describe as suite, expect, it } from '@jest/globals';
import { parseJson } from '../kube/json.js';
import type { JsonObject, JsonValue } from '../kube/json-value.js';
import { convertBoundSchema, type ConversionResult } from './convert.js';
import { validateConverted } from './validate.js';
import { widgets, widgetSchema } from './testdata/widgets.js';

type Converted = Extract<ConversionResult, { ok: true }>;
type Refused = Extract<ConversionResult, { ok: false }>;

function converted(spec: JsonObject): Converted {
  const result = convertBoundSchema({ spec });
  if (!result.ok) throw new Error(`refused: ${result.path}: ${result.message}`);
  return result;
}

function refused(spec: JsonObject): Refused {
  const result = convertBoundSchema({ spec });
  if (result.ok) throw new Error('not refused');
  return result;
}

function single(schema: JsonObject, version: JsonObject = {}): JsonObject {
  return {
    ...widgets(),
    versions: [{ name: 'v1', served: true, storage: true, schema, ...version }],
  };
}

suite('a bound schema with everything', () => {
  it('is converted without loss', () => {
    const { spec } = converted(widgets());
    expect(spec.versions.map((version) => version.schema)).toEqual([widgetSchema(), widgetSchema()]);
    const informerScope = 'Namespaced';
    expect({ ...spec, informerScope, versions: [] }).toEqual({ ...widgets(), versions: [] });
    const source = widgets()['versions'] as JsonObject[];
    for (const [index, version] of spec.versions.entries())
      expect({ ...version, schema: null }).toEqual({ ...source[index], schema: null });
  });

  it('is described by its first served version', () => {
    const { schema } = converted(widgets());
    expect(schema).toMatchObject({
      group: 'shop.example.com',
      resource: 'widgets',
      kind: 'Widget',
      scope: 'Namespaced',
      versions: ['v1alpha1', 'v1'],
      syncVersion: 'v1alpha1',
    });
    expect(schema.contentHash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('keeps every digit of integers beyond float64', () => {
    expect(converted(widgets()).schema.specJson).toContain('"maximum":9007199254740993');
  });

  it('gives the same text whichever order the keys came in', () => {
    const reversed = (value: JsonValue): JsonValue => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, item]) => [key, reversed(item ?? null)]),
      );
    };
    expect(converted(reversed(widgets()) as JsonObject).schema).toEqual(converted(widgets()).schema);
  });

  it('reads bare schemas, as made from an APIResourceSchema, the same way', () => {
    expect(converted(single(widgetSchema())).schema).toEqual(
      converted(single({ openAPIV3Schema: widgetSchema() })).schema,
    );
  });

  it('is a fixed point: the receiver accepts exactly what the conversion gives', () => {
    const { schema } = converted(widgets());
    expect(validateConverted(schema.specJson)).toMatchObject({ ok: true, schema });
  });
});

suite('a recorded bound schema', () => {
  it.each([
    ['boundschema-of-crd-v0.8.2', 'cowboys', { intent: { type: 'string' } }],
    ['boundschema-of-apiresourceschema-v0.8.2', 'outlaws', { bounty: { type: 'integer', format: 'int64' } }],
  ])('%s is converted', (file, resource, properties) => {
    const text = readFileSync(new URL(`testdata/${file}.json`, import.meta.url), 'utf8');
    const result = convertBoundSchema(parseJson(text) as JsonObject);
    expect(result).toMatchObject({
      ok: true,
      schema: { group: 'wildwest.dev', resource, syncVersion: 'v1alpha1', scope: 'Namespaced' },
      spec: {
        versions: [{ subresources: { status: {} }, schema: { properties: { spec: { properties } } } }],
      },
      notes: [],
    });
  });
});

suite('conversion', () => {
  it('takes the first served version for the sync, not the storage version', () => {
    const source = widgets();
    (source['versions'] as JsonObject[])[0]!['served'] = false;
    expect(converted(source).schema).toMatchObject({ syncVersion: 'v1', versions: ['v1'] });
  });

  it('leaves the conversion out for one version and writes None for several without one', () => {
    expect(converted(single(widgetSchema())).spec.conversion).toBeUndefined();
    const several = widgets();
    delete several['conversion'];
    expect(converted(several).spec.conversion).toEqual({ strategy: 'None' });
  });

  it('stores in the synced version where the storage version of the provider is not served', () => {
    const source = widgets();
    (source['versions'] as JsonObject[])[1]!['served'] = false;
    const { spec, notes } = converted(source);
    expect(spec.versions).toMatchObject([
      { name: 'v1alpha1', served: true, storage: true },
      { name: 'v1', served: false, storage: false },
    ]);
    expect(notes).toHaveLength(1);
  });

  it('completes singular and list kind', () => {
    const { names } = converted({ ...widgets(), names: { plural: 'widgets', kind: 'Widget' } }).spec;
    expect(names).toEqual({ plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' });
  });

  it('drops an atomic map type on a node that preserves unknown fields, and says so', () => {
    const node = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const { spec, notes } = converted(
      single({ type: 'object', properties: { spec: { ...node, 'x-kubernetes-map-type': 'atomic' } } }),
    );
    expect(spec.versions[0]?.schema).toEqual({ type: 'object', properties: { spec: node } });
    expect(notes).toEqual([expect.stringContaining('spec.versions[v1].schema.properties.spec')]);
  });

  it('keeps an atomic map type on a nullable node', () => {
    const schema = {
      type: 'object',
      properties: { spec: { nullable: true, 'x-kubernetes-map-type': 'atomic' } },
    };
    expect(converted(single(schema)).spec.versions[0]?.schema).toEqual(schema);
  });

  it('keeps an atomic map type elsewhere without a note', () => {
    expect(converted(widgets()).notes).toEqual([]);
  });

  it('serves a single served version of a webhook-converted API alone', () => {
    const source: JsonObject = { ...widgets(), conversion: { strategy: 'Webhook' } };
    (source['versions'] as JsonObject[])[1]!['served'] = false;
    const { spec, notes } = converted(source);
    expect(spec.versions).toMatchObject([{ name: 'v1alpha1', served: true, storage: true }]);
    expect(spec.conversion).toBeUndefined();
    expect(notes[0]).toContain('v1alpha1 is served alone');
  });

  it('keeps the first of two printer columns of one name', () => {
    const column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
    const { spec, notes } = converted(
      single(widgetSchema(), { additionalPrinterColumns: [column, { ...column, jsonPath: '.x' }] }),
    );
    expect(spec.versions[0]?.additionalPrinterColumns).toEqual([column]);
    expect(notes).toHaveLength(1);
  });

  it('asks for the approval annotation in groups of the Kubernetes community only', () => {
    expect(converted({ ...widgets(), group: 'foo.example.k8s.io' }).annotations).toEqual({
      'api-approved.kubernetes.io': expect.stringMatching(/^unapproved/),
    });
    expect(converted(widgets()).annotations).toEqual({});
  });

  it('treats a property named like a prototype member as any other', () => {
    const schema = parseJson(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"object"}}}',
    );
    expect(converted(single(schema as JsonObject)).schema.specJson).toContain(
      '"__proto__":{"type":"string"}',
    );
  });
});

suite('what cannot be served is refused with its place', () => {
  it.each<[string, JsonObject, Partial<Refused>]>([
    ['the core group', { ...widgets(), group: '' }, { path: 'spec.group' }],
    ['a group of kcp', { ...widgets(), group: 'apis.kcp.io' }, { path: 'spec.group' }],
    ['a group that kcp serves', { ...widgets(), group: 'rbac.authorization.k8s.io' }, { path: 'spec.group' }],
    ['our own group', { ...widgets(), group: 'kcp.kube-bind.io' }, { path: 'spec.group' }],
    ['a group without a dot', { ...widgets(), group: 'shop' }, { path: 'spec.group' }],
    ['a group that is no DNS name', { ...widgets(), group: 'a/../b.c' }, { path: 'spec.group' }],
    [
      'a plural that is no label',
      { ...widgets(), names: { plural: 'a.b', kind: 'A' } },
      { path: 'spec.names.plural' },
    ],
    ['no kind', { ...widgets(), names: { plural: 'as' } }, { path: 'spec.names.kind' }],
    [
      'equal kind and list kind',
      { ...widgets(), names: { plural: 'as', kind: 'A', listKind: 'A' } },
      { path: 'spec.names.listKind' },
    ],
    ['an unknown scope', { ...widgets(), scope: 'Galaxy' }, { path: 'spec.scope' }],
    ['no versions', { ...widgets(), versions: [] }, { path: 'spec.versions' }],
    ['versions that are no list', { ...widgets(), versions: {} }, { path: 'spec.versions' }],
    ['a version name that kcp refuses', single({}, { name: '1.0' }), { path: 'spec.versions[0].name' }],
    [
      'a webhook between served versions',
      { ...widgets(), conversion: { strategy: 'Webhook' } },
      { path: 'spec.conversion.strategy' },
    ],
    ['no served version', single(widgetSchema(), { served: false }), { path: 'spec.versions' }],
    ['no storage version', single(widgetSchema(), { storage: false }), { path: 'spec.versions' }],
    [
      'a version without schema',
      single(widgetSchema(), { schema: null }),
      { path: 'spec.versions[v1].schema', version: 'v1' },
    ],
    [
      'a reference',
      single({ type: 'object', properties: { a: { $ref: '#/x' } } }),
      { path: 'spec.versions[v1].schema.properties.a.$ref', version: 'v1' },
    ],
    [
      'served that is text',
      single(widgetSchema(), { served: 'yes' }),
      { path: 'spec.versions[v1].served', version: 'v1' },
    ],
  ])('%s', (_, spec, expected) => {
    expect(refused(spec)).toMatchObject({ ok: false, reason: 'Unsupported', ...expected });
  });

  it('two versions of one name', () => {
    const spec = widgets();
    for (const version of spec['versions'] as JsonObject[]) version['name'] = 'v1';
    expect(refused(spec).message).toContain('twice');
  });

  it('two storage versions', () => {
    const spec = widgets();
    (spec['versions'] as JsonObject[])[0]!['storage'] = true;
    expect(refused(spec).message).toContain('exactly one');
  });

  it('a webhook names the versions in question', () => {
    expect(refused({ ...widgets(), conversion: { strategy: 'Webhook' } }).message).toContain('v1alpha1, v1');
  });

  it('a schema beyond the size limit', () => {
    const schema = { type: 'object', description: 'x'.repeat(2 * 1024 * 1024) };
    expect(refused(single(schema))).toMatchObject({ reason: 'TooLarge', path: 'spec' });
  });

  it.each([150, 5000])('a schema nested %d levels deep', (levels) => {
    let schema: JsonObject = { type: 'string' };
    for (let level = 0; level < levels; level++) schema = { type: 'object', properties: { a: schema } };
    expect(refused(single(schema))).toMatchObject({ reason: 'TooLarge', version: 'v1' });
  });

  it('an object without a spec', () => {
    expect(convertBoundSchema({})).toMatchObject({ ok: false, reason: 'Unsupported' });
  });

  it('long texts of the provider are cut', () => {
    const { message, path } = refused({ ...widgets(), group: 'x\n'.repeat(100_000) });
    expect(message.length).toBeLessThan(1100);
    expect(message).not.toContain('\n');
    expect(path.length).toBeLessThan(520);
  });
});

suite('the receiver refuses', () => {
  const good = converted(widgets()).schema.specJson;
  it.each([
    ['no JSON', good.slice(1)],
    ['a list', '[]'],
    ['another order of keys', JSON.stringify({ versions: 1, group: 'a' })],
    ['a field that does not belong there', `{"aaa":1,${good.slice(1)}`],
    ['a group of kcp', good.replace('shop.example.com', 'tenancy.kcp.io')],
    ['a text that is too large', `${good}${' '.repeat(2 * 1024 * 1024)}`],
    ['JSON that is nested too deep', '['.repeat(100_000)],
    ['a webhook', good.replace('"strategy":"None"', '"strategy":"Webhook"')],
  ])('%s', (_, text) => {
    expect(validateConverted(text)).toMatchObject({ ok: false });
  });
});
