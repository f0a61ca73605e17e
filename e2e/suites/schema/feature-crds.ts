import type { JsonObject, JsonValue } from '../../../src/kube/json-value.js';

/** A CRD of our own that shows one feature, and what its object must hold besides what is generated. */
export interface FeatureCrd {
  /** Plural name of the kind, and name of the feature. */
  readonly feature: string;
  readonly crd: JsonObject;
  /** Put over the generated object, field by field. */
  readonly object?: JsonObject;
}

const text = { type: 'string' };
const integer = { type: 'integer' };
const int64 = { type: 'integer', format: 'int64' };
const anything = { 'x-kubernetes-preserve-unknown-fields': true };
const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true };
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});
const list = (items: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'array', items, ...more });
const map = (additionalProperties: JsonValue, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  additionalProperties,
  ...more,
});
const rooted = (spec: JsonObject, more: JsonObject = {}): JsonObject =>
  object({ spec, status: object({ phase: text, count: int64 }) }, more);

interface Shape {
  readonly group: string;
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly names?: JsonObject;
  readonly annotations?: JsonObject;
}

/** A CRD whose only version is v1, or that has the given versions. */
function crd(plural: string, shape: Shape, versions: JsonObject | JsonObject[]): JsonObject {
  const { group, scope = 'Namespaced', names = {}, annotations = {} } = shape;
  const kind = `${plural.slice(0, 1).toUpperCase()}${plural.slice(1)}`.replace(/s$/, '');
  const all = Array.isArray(versions) ? versions : [{ name: 'v1', storage: true, ...versions }];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations },
    spec: {
      group,
      scope,
      names: { kind, plural, ...names },
      versions: all.map(({ schema, ...version }) => ({
        served: true,
        subresources: { status: {} },
        ...version,
        schema: { openAPIV3Schema: schema ?? {} },
      })),
    },
  };
}

/** All features, in groups below `domain`, which must belong to nobody else. */
export function featureCrds(domain: string): FeatureCrd[] {
  const shape = { group: `features.${domain}` };
  const simple = (feature: string, spec: JsonObject, more: Partial<FeatureCrd> = {}): FeatureCrd => ({
    feature,
    crd: crd(feature, shape, { schema: rooted(spec) }),
    ...more,
  });
  return [
    ...extensions(simple),
    ...values(simple),
    {
      feature: 'evolutions',
      crd: crd('evolutions', shape, [
        {
          name: 'v1',
          storage: false,
          schema: rooted(object({ size: integer, unit: { ...text, default: 'GiB' } })),
        },
        {
          name: 'v1beta1',
          storage: true,
          deprecated: true,
          deprecationWarning: 'evolutions v1beta1 goes away; use v1',
          schema: rooted(object({ size: integer, unit: text, old: text })),
        },
        { name: 'v1alpha1', storage: false, served: false, deprecated: true, schema: object({}, anything) },
      ]),
    },
    {
      feature: 'columns',
      crd: crd(
        'columns',
        {
          ...shape,
          names: {
            kind: 'Column',
            listKind: 'Columnar',
            singular: 'pillar',
            shortNames: ['clm', 'clmn'],
            categories: ['all', 'architecture'],
          },
        },
        {
          schema: rooted(
            object({
              size: int64,
              ready: { type: 'boolean' },
              ratio: { type: 'number' },
              parts: list(object({ type: text, value: text })),
            }),
          ),
          additionalPrinterColumns: [
            {
              name: 'Size',
              type: 'integer',
              format: 'int64',
              jsonPath: '.spec.size',
              description: 'How large.',
            },
            { name: 'Value', type: 'string', jsonPath: '.spec.parts[?(@.type=="text-0")].value' },
            { name: 'Ratio', type: 'number', jsonPath: '.spec.ratio', priority: 1 },
            { name: 'Ready', type: 'boolean', jsonPath: '.spec.ready' },
            { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
            { name: 'Since', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
        },
      ),
    },
    {
      feature: 'scales',
      crd: crd('scales', shape, {
        schema: object({
          spec: object({ replicas: { type: 'integer', format: 'int32' } }),
          status: object({ replicas: { type: 'integer', format: 'int32' }, selector: text }),
        }),
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
      }),
    },
    {
      feature: 'guards',
      crd: crd(
        'guards',
        {
          group: `${domain.replaceAll('.', '-')}.k8s.io`,
          annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' },
        },
        { schema: rooted(object({ title: text })) },
      ),
    },
    {
      feature: 'plains',
      crd: crd('plains', shape, { schema: object({}, anything) }),
      object: { data: { a: [1, {}] } },
    },
    {
      feature: 'statusless',
      crd: crd('statusless', shape, {
        schema: object({ data: map(text), count: integer }),
        subresources: {},
      }),
    },
    {
      feature: 'globals',
      crd: crd('globals', { ...shape, scope: 'Cluster' }, { schema: rooted(object({ title: text })) }),
    },
  ];
}

/** CRDs with a conversion webhook, which kcp cannot call, and one without, all for one binding. */
export function webhookCrds(domain: string): JsonObject[] {
  const group = `hooks.${domain}`;
  const conversion = {
    strategy: 'Webhook',
    webhook: {
      clientConfig: { url: 'https://127.0.0.1:9/convert' },
      conversionReviewVersions: ['v1'],
    },
  };
  const schema = rooted(object({ title: text }));
  const hooked = (plural: string, olderServed: boolean): JsonObject => {
    const made = crd(plural, { group }, [
      { name: 'v2', storage: true, schema },
      { name: 'v1', storage: false, served: olderServed, schema: rooted(object({ name: text })) },
    ]);
    return { ...made, spec: { ...(made['spec'] as JsonObject), conversion } };
  };
  return [hooked('convertibles', true), hooked('singles', false), crd('neighbours', { group }, { schema })];
}

type Simple = (feature: string, spec: JsonObject, more?: Partial<FeatureCrd>) => FeatureCrd;

/** Every `x-kubernetes-*` key. */
function extensions(simple: Simple): FeatureCrd[] {
  return [
    simple(
      'unknowns',
      object(
        {
          known: text,
          free: { type: 'object', ...anything },
          any: anything,
          half: object({ known: text }, anything),
        },
        anything,
      ),
      { object: { spec: { other: { deep: [1, null, { x: '' }] }, any: 'text', half: { other: 1.5 } } } },
    ),
    simple(
      'mixtures',
      object({
        bare: { 'x-kubernetes-int-or-string': true },
        either: { 'x-kubernetes-int-or-string': true, anyOf: [integer, text] },
        quantity: { 'x-kubernetes-int-or-string': true, pattern: '^[0-9]+(\\.[0-9]+)?(m|Ki|Mi|Gi)?$' },
        inMap: map({ 'x-kubernetes-int-or-string': true, allOf: [{ anyOf: [integer, text] }] }),
      }),
      { object: { spec: { bare: '25%', quantity: 1 } } },
    ),
    simple(
      'embeddings',
      object({
        whole: { ...embedded, ...anything },
        described: { ...embedded, properties: { spec: object({ size: integer }) } },
        inMap: map({ ...embedded, ...anything }),
        inList: list({ ...embedded, ...anything }),
      }),
      {
        object: {
          spec: {
            whole: {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name: 'in', labels: { a: 'b' } },
              data: { a: '' },
            },
          },
        },
      },
    ),
    simple(
      'lists',
      object({
        set: list(text, { 'x-kubernetes-list-type': 'set', minItems: 3 }),
        map: list(
          object({ name: text, port: { ...integer, default: 80 }, more: text }, { required: ['name'] }),
          {
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name', 'port'],
            minItems: 2,
          },
        ),
        atomic: list(object({ name: text }), { 'x-kubernetes-list-type': 'atomic', minItems: 2 }),
        plain: list(list(integer)),
      }),
    ),
    simple(
      'maptypes',
      object({
        atomic: object({ a: text, b: text }, { 'x-kubernetes-map-type': 'atomic' }),
        granular: map(text, { 'x-kubernetes-map-type': 'granular' }),
        free: { type: 'object', ...anything, 'x-kubernetes-map-type': 'atomic' },
      }),
    ),
    simple(
      'rules',
      object(
        {
          least: integer,
          most: integer,
          fixed: {
            ...text,
            'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed is fixed' }],
          },
          grown: {
            ...integer,
            'x-kubernetes-validations': [
              {
                rule: '!oldSelf.hasValue() || self >= oldSelf.value()',
                optionalOldSelf: true,
                reason: 'FieldValueForbidden',
              },
            ],
          },
          names: list({ ...text, maxLength: 8 }, { maxItems: 9, 'x-kubernetes-list-type': 'set' }),
        },
        {
          'x-kubernetes-validations': [
            {
              rule: 'self.least <= self.most',
              messageExpression: 'self.least > 100 ? "least is far too much" : "least is over most"',
              reason: 'FieldValueInvalid',
              fieldPath: '.least',
            },
            { rule: 'self.names.all(n, n.startsWith("text"))' },
          ],
        },
      ),
      { object: { spec: { least: 2, most: 3 } } },
    ),
  ];
}

/** Defaults, bounds, formats, names. */
function values(simple: Simple): FeatureCrd[] {
  return [
    simple(
      'defaults',
      object(
        {
          mode: { ...text, default: 'auto' },
          size: { ...integer, default: 0 },
          off: { type: 'boolean', default: false },
          empty: { ...text, default: '' },
          nothing: { ...text, nullable: true, default: null },
          ratio: { type: 'number', default: 0.1 },
          items: list(object({ name: text, weight: { ...integer, default: 1 } }), {
            default: [{ name: 'first' }],
          }),
          inMap: map(object({ name: text, weight: { ...integer, default: 2 } })),
          nested: object(
            { a: object({ b: { ...text, default: 'deep' } }, { default: {} }) },
            { default: {} },
          ),
          free: { type: 'object', ...anything, default: { a: [1, { b: null }] } },
        },
        { default: {} },
      ),
    ),
    simple(
      'choices',
      object({
        words: { ...text, enum: ['a', '', '0', 'true'] },
        numbers: { ...integer, enum: [3, 2, -1] },
        maybe: { ...text, enum: ['x', null], nullable: true },
        inList: list({ ...text, enum: ['one', 'two'] }),
      }),
    ),
    simple(
      'nullables',
      object({
        word: { ...text, nullable: true },
        inList: list({ ...text, nullable: true }),
        inMap: map({ ...integer, nullable: true }),
        whole: object({ a: text }, { nullable: true }),
        other: object({ a: text }, { nullable: true }),
      }),
      { object: { spec: { word: null, inList: ['a', null], inMap: { a: null, b: 1 }, other: null } } },
    ),
    simple(
      'junctions',
      object(
        {
          a: text,
          b: text,
          c: { ...integer, allOf: [{ minimum: 2 }, { maximum: 9 }] },
          d: { ...text, anyOf: [{ pattern: '^x' }, { minLength: 5 }] },
          e: { ...text, not: { enum: ['forbidden'] } },
          branches: list(
            object(
              { left: text, right: text },
              { oneOf: [{ required: ['left'] }, { required: ['right'] }], not: { required: ['none'] } },
            ),
          ),
        },
        { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      ),
    ),
    simple(
      'formats',
      object(
        Object.fromEntries(
          [
            ...[
              'bsonobjectid',
              'uri',
              'email',
              'hostname',
              'ipv4',
              'ipv6',
              'cidr',
              'mac',
              'uuid',
              'uuid3',
              'uuid4',
            ],
            ...[
              'uuid5',
              'isbn',
              'isbn10',
              'isbn13',
              'creditcard',
              'ssn',
              'hexcolor',
              'rgbcolor',
              'byte',
              'password',
            ],
            ...['date', 'duration', 'datetime', 'date-time', 'unheard-of'],
          ].map((format) => [format, { ...text, format }]),
        ),
      ),
      {
        object: {
          spec: {
            bsonobjectid: '507f1f77bcf86cd799439011',
            isbn10: '0321751043',
            isbn13: '978-0321751041',
            ssn: '111-22-3333',
            hexcolor: '#00ff00',
            rgbcolor: 'rgb(100,100,100)',
          },
        },
      },
    ),
    simple(
      'maps',
      object({
        words: map(text, { minProperties: 2 }),
        nested: map(map(map(integer))),
        lists: map(list(map(text))),
        objects: map(object({ name: text })),
        open: map(true),
      }),
    ),
    simple(
      'bounds',
      object({
        // API servers keep bounds as float64 and refuse every value below these two; only their digits count.
        unset: object(
          {
            largest: { ...int64, minimum: -9223372036854775808n, maximum: 9223372036854775807n },
            odd: { ...int64, minimum: 9007199254740993n, exclusiveMinimum: true },
          },
          { maxProperties: 0 },
        ),
        // What servers keep as they were given it.
        exact: { ...int64, default: 9223372036854775807n, enum: [-9007199254740993n, 9223372036854775807n] },
        small: {
          ...integer,
          format: 'int32',
          minimum: 0,
          maximum: 2147483647,
          exclusiveMaximum: true,
          multipleOf: 3,
        },
        part: {
          type: 'number',
          format: 'double',
          minimum: 0.1,
          maximum: 0.30000000000000004,
          multipleOf: 0.1,
        },
        fraction: { type: 'number', format: 'float', minimum: 1e-7, maximum: 1e21 },
        word: { ...text, minLength: 2, maxLength: 5, pattern: '^[a-z"\\\\]+$' },
        some: list(integer, { minItems: 2, maxItems: 3 }),
        few: map(integer, { minProperties: 2, maxProperties: 3 }),
      }),
      {
        object: { spec: { exact: -9007199254740993n, part: 0.1, fraction: 0.5 } },
      },
    ),
    simple('names', special(), { object: specialObject() }),
    simple('depths', nested(60)),
    simple('giants', giant(400 * 1024)),
  ];
}

/** Property names that mean something to JavaScript, or to whoever takes names for keywords. */
const SPECIAL = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'],
  ...[
    '$ref',
    '$schema',
    'properties',
    'items',
    'required',
    'default',
    'description',
    'enum',
    'type',
    'not',
    'allOf',
  ],
  ...['x-kubernetes-map-type', 'x-kubernetes-validations', 'additionalProperties', 'openAPIV3Schema'],
  ...['length', 'then', 'a.b', 'a/b', 'a b', 'ä', '0', '-'],
];

function special(): JsonObject {
  const properties = Object.fromEntries(SPECIAL.map((name) => [name, text]));
  return object({ names: object(properties), inner: object({ properties: object(properties) }) });
}

function specialObject(): JsonObject {
  const own = Object.fromEntries(SPECIAL.map((name) => [name, `my ${name}`]));
  return { spec: { names: own, inner: { properties: own } } };
}

function nested(levels: number): JsonObject {
  let node: JsonObject = object({ leaf: text });
  for (let level = 0; level < levels; level++) node = object({ [`l${level}`]: node });
  return node;
}

/** A schema with that many bytes, most of them descriptions, as in the large CRDs of real operators. */
function giant(bytes: number): JsonObject {
  const description = 'What one reads in a manual. '.repeat(40);
  const count = Math.ceil(bytes / (description.length + 60));
  return object(
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`field${index}`, { ...text, description }]),
    ),
  );
}
