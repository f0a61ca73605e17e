import type { JsonObject } from '../../../src/kube/json-value.js';
import type { KubeObject } from '../../../src/kube/object.js';

/** How a provider may answer when it is asked for the schema of its API, to hurt who reads it. */
export const POISONED_SCHEMAS: Readonly<Record<string, (schema: JsonObject) => string>> = {
  'more levels than anybody reads': (schema) => {
    const deep = `${'{"type":"object","properties":{"a":'.repeat(20_000)}{}${'}}'.repeat(20_000)}`;
    return withProperty(schema, deep);
  },
  'two hundred thousand fields': (schema) =>
    withProperty(
      schema,
      JSON.stringify({
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`f${at}`, {}])),
      }),
    ),
  'a pattern that takes for ever to match': (schema) =>
    withProperty(
      schema,
      JSON.stringify({ type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(60)}!` }),
    ),
  'words without end': (schema) =>
    withProperty(schema, JSON.stringify({ type: 'string', description: 'x'.repeat(20_000_000) })),
  'no schema but an array': () => '[{"type":"object"}]',
};

const MARK = '"poison":{}';

/** JSON of the schema with one more field of its spec; the text may be more than JSON.stringify can make. */
function withProperty(schema: JsonObject, text: string): string {
  const { properties } = schema as { properties: JsonObject & { spec: { properties: JsonObject } } };
  const spec = { ...properties.spec, properties: { ...properties.spec.properties, poison: {} } };
  const json = JSON.stringify({ ...schema, properties: { ...properties, spec } });
  return json.replace(MARK, () => `"poison":${text}`);
}

/** JSON of a BoundSchema, or of a list of them, with another schema in every version. */
export function poisoned(boundSchema: KubeObject, poison: (schema: JsonObject) => string): string {
  const { spec } = boundSchema as unknown as { spec: { versions: { schema: JsonObject }[] } };
  const [version] = spec.versions;
  if (version === undefined) throw new Error('a BoundSchema without versions');
  const { openAPIV3Schema } = version.schema as { openAPIV3Schema: JsonObject };
  const bare = JSON.stringify({
    ...boundSchema,
    spec: { ...spec, versions: [{ ...version, schema: { openAPIV3Schema: 'POISON' } }] },
  });
  return bare.replace('"POISON"', () => poison(openAPIV3Schema));
}
