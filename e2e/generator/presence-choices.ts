import { nodeAt, nodesAt, numberAt, textsAt, type SchemaNode } from './json-schema-node.js';
import { joins } from './obeys.js';

/** Fields of one node whose presence is tried in all combinations. */
const MAX_COMBINED = 10;

/**
 * Which fields to leave out: each choice is possible, and each field is there in one of them. Fields that no other
 * rule names are always there, but where the number of fields is limited.
 */
export function choices(node: SchemaNode, way: SchemaNode, names: readonly string[]): ReadonlySet<string>[] {
  const most = numberAt(way, 'maxProperties') ?? Infinity;
  const required = new Set(textsAt(way, 'required'));
  const named = most < names.length ? [...names] : mentioned(node).filter((name) => names.includes(name));
  const free = named.filter((name) => !required.has(name));
  const covered = new Set<string>();
  const chosen: ReadonlySet<string>[] = [];
  for (const present of combinations(free)) {
    const absent = new Set(free.filter((name) => !present.includes(name)));
    const there = names.filter((name) => !absent.has(name));
    if (there.length > most || (chosen.length > 0 && present.every((name) => covered.has(name)))) continue;
    if (!joins(presence(node), Object.fromEntries(there.map((name) => [name, null])))) continue;
    chosen.push(absent);
    for (const name of present) covered.add(name);
  }
  return chosen.length > 0 ? chosen : [new Set()];
}

/** Lists of names to have, longest first. */
function combinations(names: readonly string[]): string[][] {
  if (names.length > MAX_COMBINED) {
    const without = names.map((name) => names.filter((other) => other !== name));
    return [[...names], ...without, ...names.map((name) => [name]), []];
  }
  return Array.from({ length: 2 ** names.length }, (_, bits) =>
    names.filter((_name, place) => (bits >> place) % 2 === 1),
  ).sort((one, other) => other.length - one.length);
}

/** Names that junctions of a node require or forbid. */
function mentioned(node: SchemaNode): string[] {
  const inner = [
    ...['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => nodesAt(node, keyword)),
    nodeAt(node, 'not'),
  ];
  return [
    ...new Set(
      inner.flatMap((each) => (each === undefined ? [] : [...textsAt(each, 'required'), ...mentioned(each)])),
    ),
  ];
}

/** The junctions of a node as far as they are about presence: what they say of values is left out. */
function presence(node: SchemaNode): SchemaNode {
  const kept: SchemaNode = {};
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const branches = nodesAt(node, keyword);
    if (branches.length > 0 && branches.some((each) => mentioned({ not: each }).length > 0))
      kept[keyword] = branches.map((each) => ({ ...presence(each), required: textsAt(each, 'required') }));
  }
  const not = nodeAt(node, 'not');
  if (not !== undefined && not['properties'] === undefined && mentioned({ not }).length > 0)
    kept['not'] = { ...presence(not), required: textsAt(not, 'required') };
  return kept;
}
