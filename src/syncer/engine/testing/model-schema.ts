/** The part of a structural schema that matters to server-side apply. */
export type ModelSchema =
  | { readonly kind: 'scalar'; readonly default?: string | number }
  | { readonly kind: 'struct'; readonly fields: Readonly<Record<string, ModelSchema>> }
  | { readonly kind: 'map'; readonly of: ModelSchema }
  | { readonly kind: 'atomic' }
  | { readonly kind: 'set' }
  | { readonly kind: 'mapList'; readonly key: string; readonly item: ModelSchema }
  /** Preserved unknown fields: maps are granular, lists atomic. */
  | { readonly kind: 'any' };

export const SCALAR: ModelSchema = { kind: 'scalar' };

/** A resource with every kind of field. */
export const WIDGET: ModelSchema = {
  kind: 'struct',
  fields: {
    spec: {
      kind: 'struct',
      fields: {
        size: SCALAR,
        name: SCALAR,
        replicas: { kind: 'scalar', default: 3 },
        labels: { kind: 'map', of: SCALAR },
        items: { kind: 'atomic' },
        set: { kind: 'set' },
        list: { kind: 'mapList', key: 'key', item: { kind: 'struct', fields: { key: SCALAR, v: SCALAR } } },
        free: { kind: 'any' },
      },
    },
    data: { kind: 'map', of: SCALAR },
    status: { kind: 'any' },
  },
};

/** Metadata that managers can own. */
export const METADATA: ModelSchema = {
  kind: 'struct',
  fields: { labels: { kind: 'map', of: SCALAR }, annotations: { kind: 'map', of: SCALAR } },
};

/** The schema below a field; undefined where the schema does not know the field. */
export function schemaOf(schema: ModelSchema, field: string): ModelSchema | undefined {
  if (schema.kind === 'struct') return schema.fields[field];
  if (schema.kind === 'map') return schema.of;
  return schema.kind === 'any' ? schema : undefined;
}
