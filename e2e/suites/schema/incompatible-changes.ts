import { FIELDS, type BoundSchema } from './changing-apis.js';

/** An incompatible change of an API. */
export interface Refused {
  readonly change: string;
  readonly api: string;
  readonly reason: 'Incompatible' | 'Unsupported';
  readonly difference: string;
  /** New fields of the provider's CRD. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** The change of the bound schema, where an API server lets nobody change a CRD so. */
  readonly edit?: (schema: BoundSchema) => void;
}

/** What a provider may do, and how we say that it cannot be taken over. */
export const REFUSED: readonly Refused[] = [
  {
    change: 'another type',
    api: 'retyped',
    reason: 'Incompatible',
    difference: 'version v1: .spec.size: type integer became string',
    fields: { ...FIELDS, size: { type: 'string' } },
  },
  {
    change: 'a removed field',
    api: 'reduced',
    reason: 'Incompatible',
    difference: 'version v1: .spec.size: the field was removed',
    fields: { note: FIELDS.note },
  },
  {
    change: 'another scope',
    api: 'rescoped',
    reason: 'Incompatible',
    difference: 'scope: Namespaced became Cluster',
    edit: ({ spec }) => {
      spec.scope = 'Cluster';
    },
  },
  {
    change: 'another kind',
    api: 'rekinded',
    reason: 'Incompatible',
    difference: 'kind: Rekinded became Other',
    edit: ({ spec }) => {
      Object.assign(spec.names, { kind: 'Other', listKind: 'OtherList' });
    },
  },
  {
    change: 'another plural name',
    api: 'renamed',
    reason: 'Unsupported',
    difference: 'its schema describes another API',
    edit: ({ spec }) => {
      spec.names.plural = 'others';
    },
  },
  {
    change: 'another version in the place of the stored one, without one of its fields',
    api: 'replaced',
    reason: 'Incompatible',
    difference: 'version v1 read as v2: .spec.size: the field was removed',
    edit: ({ spec }) => {
      for (const version of spec.versions) {
        version.name = 'v2';
        delete version.schema.openAPIV3Schema.properties.spec.properties['size'];
      }
    },
  },
];

/** An APIResourceSchema, as far as these suites change it. */
export interface ResourceSchema {
  spec: {
    scope: string;
    names: { kind: string; listKind: string };
    versions: { name: string; schema: { properties: { spec: { properties: Record<string, unknown> } } } }[];
  };
}

/** What a foreign hand makes kcp serve, and what we say of the API afterwards. */
export const FOREIGN: readonly {
  readonly api: string;
  readonly reason: 'VersionKept' | 'Incompatible';
  readonly edit: (spec: ResourceSchema['spec']) => void;
}[] = [
  {
    api: 'retyped',
    reason: 'Incompatible',
    edit: ({ versions }) => {
      for (const { schema } of versions) schema.properties.spec.properties['size'] = { type: 'string' };
    },
  },
  {
    api: 'reduced',
    reason: 'Incompatible',
    edit: ({ versions }) => {
      for (const { schema } of versions) delete schema.properties.spec.properties['size'];
    },
  },
  {
    api: 'rescoped',
    reason: 'Incompatible',
    edit: (spec) => {
      spec.scope = 'Cluster';
    },
  },
  {
    api: 'rekinded',
    reason: 'Incompatible',
    edit: ({ names }) => {
      Object.assign(names, { kind: 'Foreign', listKind: 'ForeignList' });
    },
  },
  {
    api: 'replaced',
    reason: 'Incompatible',
    edit: ({ versions }) => {
      for (const version of versions) version.name = 'v9';
    },
  },
  {
    api: 'withdrawn',
    // kcp may have stored objects in it meanwhile.
    reason: 'VersionKept',
    edit: ({ versions }) => {
      for (const version of versions) version.name = 'v9';
    },
  },
];
