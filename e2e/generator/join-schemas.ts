import type { JsonValue } from '../../src/kube/json-value.js';
import {
  nodeAt,
  nodesAt,
  numberAt,
  propertiesOf,
  textOf,
  textsAt,
  type SchemaNode,
} from './json-schema-node.js';

/** Ways of one node that are looked at; a schema could have billions. */
const MAX_WAYS = 32;
/** Where `joinSchemas` keeps the patterns beyond the first one. */
export const MORE_PATTERNS = 'morePatterns';

/**
 * The schemas without anyOf, oneOf and allOf that a node may stand for: for each combination of branches, the node
 * with all that the branches demand. They are where to look for values; `obeys` tells whether one fits.
 */
export function waysOf(node: SchemaNode): SchemaNode[] {
  let ways: { readonly schema: SchemaNode; readonly pending: readonly SchemaNode[][] }[] = [
    { schema: node, pending: junctions(node) },
  ];
  while (ways.some(({ pending }) => pending.length > 0)) {
    ways = ways
      .flatMap(({ schema, pending: [branches, ...rest] }) =>
        branches === undefined
          ? [{ schema, pending: [] }]
          : branches.map((branch) => ({
              schema: joinSchemas(schema, branch),
              pending: [...rest, ...junctions(branch)],
            })),
      )
      .slice(0, MAX_WAYS);
  }
  return ways.map(({ schema }) => schema);
}

/** One list of branches for each decision. */
function junctions(node: SchemaNode): SchemaNode[][] {
  return [
    ...nodesAt(node, 'allOf').map((each) => [each]),
    nodesAt(node, 'anyOf'),
    nodesAt(node, 'oneOf'),
  ].filter((branches) => branches.length > 0);
}

/** A schema that asks for what both ask for, as far as values can be made from it. */
export function joinSchemas(base: SchemaNode, more: SchemaNode): SchemaNode {
  const joined: SchemaNode = { ...base };
  for (const [keyword, value] of Object.entries(more)) {
    if (value === undefined) continue;
    const before = joined[keyword];
    joined[keyword] = before === undefined ? value : (joinKeyword(keyword, base, more) ?? before);
  }
  const patterns = [...textsAt(base, MORE_PATTERNS), ...textsAt(more, MORE_PATTERNS)];
  if (base['pattern'] !== undefined && typeof more['pattern'] === 'string') patterns.push(more['pattern']);
  if (patterns.length > 0) joined[MORE_PATTERNS] = patterns;
  return joined;
}

const LOWER = ['minimum', 'minLength', 'minItems', 'minProperties'];
const UPPER = ['maximum', 'maxLength', 'maxItems', 'maxProperties'];

/** For a keyword that both have; undefined: the base's counts. */
function joinKeyword(keyword: string, base: SchemaNode, more: SchemaNode): JsonValue | undefined {
  if (keyword === 'required') return [...new Set([...textsAt(base, keyword), ...textsAt(more, keyword)])];
  if (keyword === 'enum') return commonValues(base[keyword], more[keyword]);
  if (keyword === 'properties') return joinProperties(base, more);
  if (LOWER.includes(keyword))
    return Math.max(numberAt(base, keyword) ?? -Infinity, numberAt(more, keyword) ?? -Infinity);
  if (UPPER.includes(keyword))
    return Math.min(numberAt(base, keyword) ?? Infinity, numberAt(more, keyword) ?? Infinity);
  const [one, other] = [nodeAt(base, keyword), nodeAt(more, keyword)];
  const nested = keyword === 'items' || keyword === 'additionalProperties';
  return nested && one !== undefined && other !== undefined ? joinSchemas(one, other) : undefined;
}

function commonValues(one: JsonValue | undefined, other: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(one) || !Array.isArray(other)) return one;
  const allowed = new Set(other.map(textOf));
  return one.filter((value) => allowed.has(textOf(value)));
}

function joinProperties(base: SchemaNode, more: SchemaNode): SchemaNode {
  const joined = new Map(propertiesOf(base));
  for (const [name, schema] of propertiesOf(more)) {
    const before = joined.get(name);
    joined.set(name, before === undefined ? schema : joinSchemas(before, schema));
  }
  return Object.fromEntries(joined);
}
