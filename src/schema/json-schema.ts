import { isJsonObject, type JsonObject, type JsonValue } from '../kube/json-value.js';
import { tooLarge, unsupported } from './problem.js';
import { MAX_SCHEMA_DEPTH } from './resource-schema.js';

/** Takes a sentence about a change that consumers might notice. */
export type TakeNote = (text: string) => void;

/** Keywords that hold schemas by name, in a list, or alone. `items` may be alone or a list, `additionalProperties` also a boolean. */
const BY_NAME = ['properties', 'patternProperties', 'definitions'];
const LISTS = ['allOf', 'anyOf', 'oneOf'];
const SINGLE = ['items', 'additionalProperties', 'not', 'additionalItems'];

/**
 * A provider's JSON schema made fit for kcp: kept as it is but for map types that kcp v0.28 cannot serve.
 * Throws SchemaProblem for references (kcp has nothing to resolve them with) and for schemas nested too deep.
 */
export function adaptJsonSchema(schema: JsonObject, path: string, note: TakeNote): JsonObject {
  return adaptNode(schema, path, 1, note);
}

function adaptNode(node: JsonObject, path: string, depth: number, note: TakeNote): JsonObject {
  if (depth > MAX_SCHEMA_DEPTH)
    throw tooLarge(path, `the schema is nested deeper than ${MAX_SCHEMA_DEPTH} levels`);
  if (Object.hasOwn(node, '$ref'))
    throw unsupported(`${path}.$ref`, 'the schema refers to another one by $ref, which kcp does not resolve');
  const adapted = { ...node };
  if (cannotServeAtomicMap(node)) {
    delete adapted['x-kubernetes-map-type'];
    note(
      `${path}: x-kubernetes-map-type atomic was left out, since kcp cannot serve it on a node that preserves unknown fields`,
    );
  }
  const inner = (value: JsonValue, at: string): JsonValue =>
    isJsonObject(value) ? adaptNode(value, at, depth + 1, note) : value;
  for (const keyword of BY_NAME) {
    const schemas = node[keyword];
    if (isJsonObject(schemas)) adapted[keyword] = mapEntries(schemas, `${path}.${keyword}`, inner);
  }
  for (const keyword of [...LISTS, ...SINGLE]) {
    const value = node[keyword];
    if (value === undefined || !Object.hasOwn(node, keyword)) continue;
    adapted[keyword] = Array.isArray(value)
      ? value.map((item, index) => inner(item, `${path}.${keyword}[${index}]`))
      : inner(value, `${path}.${keyword}`);
  }
  return adapted;
}

/**
 * kcp v0.28 turns each served schema into an OpenAPI v2 one, in which a node that preserves unknown fields loses its
 * type; an atomic map type then counts as an unknown list strategy, and the whole export's virtual workspace answers
 * 404. Nullable nodes keep their type there.
 */
function cannotServeAtomicMap(node: JsonObject): boolean {
  return node['x-kubernetes-map-type'] === 'atomic' && node['x-kubernetes-preserve-unknown-fields'] === true;
}

function mapEntries(
  schemas: JsonObject,
  path: string,
  adapt: (value: JsonValue, at: string) => JsonValue,
): JsonObject {
  const entries: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(schemas)) {
    if (value !== undefined) entries.push([name, adapt(value, `${path}.${name}`)]);
  }
  return Object.fromEntries(entries);
}
