import { isJsonObject } from '../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../kube/json-value.js';
import { jsonEqual } from '../../kube/json.js';
import type { KubeObject } from '../../kube/object.js';
import { jsonDigest } from './canonical-json.js';
import { member } from './field-access.js';
import type { JsonPath } from './json-pointer.js';
import { indexItems, itemIdentity } from './list-identity.js';
import { isOwnedLeaf } from './managed-fields.js';
import type { OwnedList, OwnedNode, Ownership } from './managed-fields.js';

/** One place where a copy is not as it was meant. */
export interface Deviation {
  readonly path: JsonPath;
  /**
   * - `missing`: not there (pruned by the server, or taken away)
   * - `changed`: another value
   * - `unowned`: the right value, but we would not notice its removal: somebody else wrote it
   */
  readonly kind: 'missing' | 'changed' | 'unowned';
  /** What is there instead. */
  readonly live?: JsonValue;
}

/**
 * Where the live copy differs from the desired one in what the desired one says. Fields that others added
 * are no deviation, nor are keys that the server's defaults put into our atomic values. Numbers compare by
 * value; `{}`, null and absent are three things; order does not count in lists that the server keeps as
 * maps or sets. All of them are found, which are no more than the desired copy has values: one that was left out could
 * never be told from one that was accepted.
 *
 * @param ownership our managedFields entry; without one, or in another API version, only values count
 */
export function findDeviations(
  desired: KubeObject,
  live: KubeObject,
  ownership: Ownership | undefined,
): readonly Deviation[] {
  const found: Deviation[] = [];
  // Without an entry nothing is owned; in another version the names in the entry may be other ones.
  const root = ownership?.otherVersion === true ? 'unknown' : ownership?.root;
  for (const key of Object.keys(desired)) {
    if (key === 'apiVersion' || key === 'kind') continue;
    if (key === 'metadata') {
      for (const map of ['labels', 'annotations'] as const) {
        const path = ['metadata', map];
        const owned = fieldOf(fieldOf(root, 'metadata'), map);
        // An object that has none has no map: absent and empty are one here.
        compare(desired.metadata[map] ?? {}, live.metadata[map] ?? {}, owned, { path, found });
      }
    } else compare(desired[key], member(live, key), fieldOf(root, key), { path: [key], found });
  }
  return found;
}

/** Tells two sets of deviations apart, live values included. */
export function fingerprint(deviations: readonly Deviation[]): string {
  return jsonDigest(
    deviations.map(({ path, kind, live }) => jsonDigest([[...path], kind, live === undefined ? [] : [live]])),
  );
}

/** `unknown`: cannot be told, counts as owned. Undefined: not owned. */
type Owned = OwnedNode | 'unknown' | undefined;

interface Walk {
  readonly path: JsonPath;
  readonly found: Deviation[];
}

function fieldOf(owned: Owned, key: string): Owned {
  if (owned === undefined || owned === 'unknown') return owned;
  return isOwnedLeaf(owned) && owned.whole ? 'unknown' : owned.fields.get(key);
}

function deviate(walk: Walk, kind: Deviation['kind'], live?: JsonValue): void {
  walk.found.push({ path: walk.path, kind, ...(live !== undefined && { live }) });
}

function compare(
  desired: JsonValue | undefined,
  live: JsonValue | undefined,
  owned: Owned,
  walk: Walk,
): void {
  if (desired === undefined) return;
  if (live === undefined) {
    deviate(walk, 'missing');
  } else if (Array.isArray(desired)) {
    if (Array.isArray(live)) compareLists(desired, live, owned, walk);
    else deviate(walk, 'changed', live);
  } else if (isJsonObject(desired)) {
    if (isJsonObject(live)) compareObjects(desired, live, owned, walk);
    else deviate(walk, 'changed', live);
  } else if (!jsonEqual(desired, live)) {
    deviate(walk, 'changed', live);
  } else if (owned === undefined) {
    deviate(walk, 'unowned', live);
  }
}

function compareObjects(desired: JsonObject, live: JsonObject, owned: Owned, walk: Walk): void {
  // A leaf over a filled map is an atomic value: one owner for all of it.
  for (const key of Object.keys(desired)) {
    compare(desired[key], member(live, key), fieldOf(owned, key), {
      path: [...walk.path, key],
      found: walk.found,
    });
  }
}

function compareLists(desired: JsonValue[], live: JsonValue[], owned: Owned, walk: Walk): void {
  if (owned !== undefined && owned !== 'unknown' && owned.list !== undefined) {
    compareItems(desired, live, owned.list, walk);
  } else if (!coversAtomic(desired, live)) {
    deviate(walk, 'changed', live);
  } else if (owned === undefined && desired.length > 0) {
    // Servers keep no owner for an empty set or map list: an empty one cannot be unowned.
    deviate(walk, 'unowned', live);
  }
}

/** A list that the server keeps as a map or a set: order and items of others do not count. */
function compareItems(desired: JsonValue[], live: JsonValue[], list: OwnedList, walk: Walk): void {
  const positions = indexItems(list.identity, live);
  desired.forEach((item, index) => {
    const step = { path: [...walk.path, index], found: walk.found };
    const id = itemIdentity(list.identity, item);
    const position = id === undefined ? positionOfPartial(item, live) : positions.get(id);
    const match = position === undefined ? undefined : live[position];
    if (match === undefined) deviate(step, 'missing');
    else compare(item, match, id === undefined ? 'unknown' : list.items.get(id), step);
  });
}

/** An item whose key field was left to the server's defaults. */
function positionOfPartial(item: JsonValue, live: readonly JsonValue[]): number | undefined {
  const position = live.findIndex((candidate) => coversAtomic(item, candidate));
  return position < 0 ? undefined : position;
}

/** Equal but for keys that the live side has on top: server defaults reach into atomic values too. */
function coversAtomic(desired: JsonValue, live: JsonValue): boolean {
  if (Array.isArray(desired)) {
    return (
      Array.isArray(live) &&
      desired.length === live.length &&
      desired.every((item, index) => {
        const other = live[index];
        return other !== undefined && coversAtomic(item, other);
      })
    );
  }
  if (isJsonObject(desired)) {
    return (
      isJsonObject(live) &&
      Object.keys(desired).every((key) => {
        const value = desired[key];
        if (value === undefined) return true;
        const other = member(live, key);
        return other !== undefined && coversAtomic(value, other);
      })
    );
  }
  return jsonEqual(desired, live);
}
