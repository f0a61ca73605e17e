import { FIELD_MANAGER } from '../../api/markers.js';
import { parseJson } from '../../kube/json.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
import { itemIdentity } from './list-identity.js';
import type { ListIdentity } from './list-identity.js';

/**
 * What a manager owns below one field, read from `FieldsV1`. A node without fields and list owns all that is
 * below it (a scalar, an atomic list or map, an empty container).
 */
export interface OwnedNode {
  /** The field itself is owned, not only something below it. */
  readonly whole: boolean;
  readonly fields: ReadonlyMap<string, OwnedNode>;
  /** Items of a list that the server keeps as a map or a set. */
  readonly list?: OwnedList;
}

export interface OwnedList {
  readonly identity: ListIdentity;
  /** By `itemIdentity`. */
  readonly items: ReadonlyMap<string, OwnedNode>;
}

/** Managers of the konnector, whose copies this program takes over. */
export const FORMER_MANAGERS: readonly string[] = ['kube-bind.io', 'konnector'];

const LEAF: OwnedNode = { whole: true, fields: new Map() };
/** Deeper nesting than any object that a server stores. */
const MAX_DEPTH = 200;
const MAX_KEY_LENGTH = 64 * 1024;

/** True for a node that owns everything below it. */
export function isOwnedLeaf(node: OwnedNode): boolean {
  return node.fields.size === 0 && node.list === undefined;
}

/** Reads a `FieldsV1` value; parts that are not in its form are left out. */
export function readFieldsV1(fields: JsonValue | undefined, depth = 0): OwnedNode {
  if (!isJsonObject(fields) || depth > MAX_DEPTH) return LEAF;
  const children = new Map<string, OwnedNode>();
  const items = new Map<string, OwnedNode>();
  let identity: ListIdentity | undefined;
  const keys = Object.keys(fields);
  if (keys.length === 0) return LEAF;
  for (const key of keys) {
    if (key.startsWith('f:')) children.set(key.slice(2), readFieldsV1(fields[key], depth + 1));
    if (!key.startsWith('k:') && !key.startsWith('v:')) continue;
    const item = parseItemKey(key.slice(2));
    if (item === undefined) continue;
    identity ??= key.startsWith('v:') ? { by: 'value' } : { by: 'keys', names: keyNames(item) };
    const id = itemIdentity(identity, item);
    if (id !== undefined) items.set(id, readFieldsV1(fields[key], depth + 1));
  }
  return {
    whole: Object.hasOwn(fields, '.'),
    fields: children,
    ...(identity !== undefined && { list: { identity, items } }),
  };
}

function parseItemKey(text: string): JsonValue | undefined {
  try {
    return parseJson(text, { maxBytes: MAX_KEY_LENGTH });
  } catch {
    // Written by a server that is not ours: an item that cannot be read counts as not owned.
    return undefined;
  }
}

function keyNames(item: JsonValue): readonly string[] {
  return isJsonObject(item) ? Object.keys(item).sort() : [];
}

/** Everything that either node owns. */
export function unionOwned(a: OwnedNode, b: OwnedNode): OwnedNode {
  if (isOwnedLeaf(a)) return { ...b, whole: true };
  if (isOwnedLeaf(b)) return { ...a, whole: true };
  const fields = unionMaps(a.fields, b.fields);
  const list =
    a.list === undefined || b.list === undefined
      ? (a.list ?? b.list)
      : { identity: a.list.identity, items: unionMaps(a.list.items, b.list.items) };
  return { whole: a.whole || b.whole, fields, ...(list !== undefined && { list }) };
}

function unionMaps(
  a: ReadonlyMap<string, OwnedNode>,
  b: ReadonlyMap<string, OwnedNode>,
): ReadonlyMap<string, OwnedNode> {
  const union = new Map(a);
  for (const [key, node] of b) {
    const other = union.get(key);
    union.set(key, other === undefined ? node : unionOwned(other, node));
  }
  return union;
}

interface ManagedEntry {
  readonly manager: string;
  readonly apiVersion: string | undefined;
  readonly fields: JsonValue | undefined;
}

function readEntry(entry: JsonValue): ManagedEntry | undefined {
  if (!isJsonObject(entry)) return undefined;
  const manager = entry['manager'];
  if (typeof manager !== 'string') return undefined;
  // Entries of a subresource say who wrote it: never us on a copy, and never a reason to remove anything.
  const subresource = entry['subresource'];
  if (typeof subresource === 'string' && subresource !== '') return undefined;
  const apiVersion = entry['apiVersion'];
  return {
    manager,
    apiVersion: typeof apiVersion === 'string' ? apiVersion : undefined,
    fields: entry['fieldsV1'],
  };
}

function entriesOf(object: KubeObject): JsonValue[] {
  const entries = object.metadata.managedFields;
  return Array.isArray(entries) ? entries : [];
}

/** What the managers own in the object, together. */
export interface Ownership {
  readonly root: OwnedNode;
  /** An entry was written in another version of the API: its field names may not be those of the object. */
  readonly otherVersion: boolean;
}

/** Undefined where no entry of these managers is there. */
export function ownershipOf(object: KubeObject, managers: readonly string[]): Ownership | undefined {
  let root: OwnedNode | undefined;
  let otherVersion = false;
  for (const value of entriesOf(object)) {
    const entry = readEntry(value);
    if (entry === undefined || !managers.includes(entry.manager)) continue;
    const node = readFieldsV1(entry.fields);
    root = root === undefined ? node : unionOwned(root, node);
    otherVersion ||= entry.apiVersion !== object.apiVersion;
  }
  return root === undefined ? undefined : { root, otherVersion };
}

/** What our own manager owns in a copy. */
export function ourOwnership(copy: KubeObject): Ownership | undefined {
  return ownershipOf(copy, [FIELD_MANAGER]);
}

/** Positions of the managers' entries in `metadata.managedFields`, last one first. */
export function entryPositions(object: KubeObject, managers: readonly string[]): readonly number[] {
  const positions: number[] = [];
  entriesOf(object).forEach((value, index) => {
    const entry = readEntry(value);
    if (entry !== undefined && managers.includes(entry.manager)) positions.unshift(index);
  });
  return positions;
}

/** More entries than servers keep. */
const MAX_ENTRIES = 500;

/**
 * Operations of a JSON patch that enter all managers under the version in which the object was read, status and
 * managers of others included. A server translates an apply into the version of each entry, and so refuses it for
 * ever when it has stopped to serve one of them. Conversion None, the only one there is here, keeps names of fields.
 */
export function entriesInVersion(object: KubeObject): readonly JsonObject[] {
  return entriesOf(object)
    .map((entry, index) => ({ entry, path: `/metadata/managedFields/${String(index)}/apiVersion` }))
    .filter(({ entry }) => isJsonObject(entry) && entry['apiVersion'] !== object.apiVersion)
    .slice(0, MAX_ENTRIES)
    .map(({ path }) => ({ op: 'replace', path, value: object.apiVersion }));
}

/** Names of managers other than ours that own something outside of subresources. */
export function otherManagers(object: KubeObject): readonly string[] {
  const names = new Set<string>();
  for (const value of entriesOf(object)) {
    const entry = readEntry(value);
    if (entry !== undefined && entry.manager !== FIELD_MANAGER) names.add(entry.manager);
  }
  return [...names];
}

/** The object as the consumer's store keeps it: nobody reads its managedFields. Shares all other parts. */
export function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return object;
  const metadata = { ...object.metadata };
  delete metadata.managedFields;
  return { ...object, metadata };
}

/** The copy as the provider's store keeps it: of managedFields only our own entries. Shares all other parts. */
export function withOwnManagedFields(object: KubeObject): KubeObject {
  const all = object.metadata.managedFields;
  if (all === undefined) return object;
  const own = entriesOf(object).filter((value) => readEntry(value)?.manager === FIELD_MANAGER);
  return own.length === all.length
    ? object
    : { ...object, metadata: { ...object.metadata, managedFields: own } };
}
