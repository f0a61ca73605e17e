import { isJsonObject } from '../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
import { emptyListsToRemove } from './empty-lists.js';
import { member } from './field-access.js';
import { toPointer } from './json-pointer.js';
import type { JsonPath } from './json-pointer.js';
import { indexItems } from './list-identity.js';
import { isOwnedLeaf } from './managed-fields.js';
import type { OwnedNode } from './managed-fields.js';

/** An operation of a JSON patch that only takes something away. */
export interface RemoveOperation extends JsonObject {
  op: 'remove';
  path: string;
}

/**
 * How a container that becomes empty is dealt with.
 * - `whole`: it is taken away, and the apply makes an empty one. A crash in between leaves nothing behind.
 * - `contents`: it is emptied, for schemas that require the field. Nobody owns the empty rest until the apply,
 *   which does not matter, since a required field never goes away.
 */
export type EmptyingMode = 'whole' | 'contents';

/** Operations of one patch are no more than this; what is left over stays until the next change. */
const MAX_OPERATIONS = 500;

/**
 * What has to be taken away by a JSON patch before the apply, because the apply cannot express it (measured
 * on Kubernetes and kcp):
 * - a map or list of ours becomes empty: apply makes it `null`, is refused with 422, or drops the field
 * - an empty set or map list of ours goes away: nobody owns it, so apply leaves it
 *
 * Only removals of what our manager owns, or of empty lists that the copy's annotation says are ours, so the
 * patch itself makes us owner of nothing. Positions are those of `live`: guard the patch by its resourceVersion.
 */
export function removalsBeforeApply(
  desired: KubeObject,
  live: KubeObject,
  owned: OwnedNode | undefined,
  mode: EmptyingMode,
): readonly RemoveOperation[] {
  const removals: JsonPath[] = [];
  for (const key of payloadKeys(live)) {
    const node = owned?.fields.get(key);
    if (node !== undefined)
      emptied(member(desired, key), member(live, key), node, { path: [key], removals, mode });
  }
  const emptyLists = emptyListsToRemove(desired, live, owned).filter(
    (path) => !removals.some((removed) => startsWith(path, removed)),
  );
  // First those that move no items: the positions of the others stay true.
  return toOperations([...emptyLists, ...removals]);
}

/**
 * What managers that are no longer at work own and the desired copy does not say, labels and annotations
 * included: left alone it would stay for ever.
 */
export function removalsOfFormerManagers(
  desired: KubeObject,
  live: KubeObject,
  former: OwnedNode,
  mode: EmptyingMode,
): readonly RemoveOperation[] {
  const removals: JsonPath[] = [];
  for (const key of payloadKeys(live)) {
    const node = former.fields.get(key);
    if (node !== undefined)
      leftOver(member(desired, key), member(live, key), node, { path: [key], removals, mode });
  }
  const metadata = former.fields.get('metadata');
  for (const map of ['labels', 'annotations'] as const) {
    for (const key of metadata?.fields.get(map)?.fields.keys() ?? []) {
      if (member(live.metadata[map], key) === undefined) continue;
      if (member(desired.metadata[map], key) === undefined) removals.push(['metadata', map, key]);
    }
  }
  return toOperations(removals);
}

interface Walk {
  readonly path: JsonPath;
  readonly removals: JsonPath[];
  readonly mode: EmptyingMode;
}

function below(walk: Walk, step: Step): Walk {
  return { ...walk, path: [...walk.path, 'key' in step ? step.key : step.position] };
}

function payloadKeys(object: KubeObject): string[] {
  return Object.keys(object).filter(
    (key) => !['apiVersion', 'kind', 'metadata', 'status'].includes(key) && object[key] !== undefined,
  );
}

/** Removals under containers that the desired copy wants empty. */
function emptied(
  desired: JsonValue | undefined,
  live: JsonValue | undefined,
  owned: OwnedNode,
  walk: Walk,
): void {
  if (desired === undefined || isOwnedLeaf(owned)) return;
  if (isEmptyContainer(desired)) {
    empty(live, owned, walk);
    return;
  }
  forOwnedChildren(live, owned, (child, node, step) => {
    emptied(desiredChild(desired, owned, step), child, node, below(walk, step));
  });
}

function empty(live: JsonValue | undefined, owned: OwnedNode, walk: Walk): void {
  if (live === undefined || isEmptyContainer(live)) return;
  if (walk.mode === 'whole') removeOwned(live, owned, walk);
  else removeOwnedChildren(live, owned, walk);
}

/** Removals of all that is owned and not desired. */
function leftOver(
  desired: JsonValue | undefined,
  live: JsonValue | undefined,
  owned: OwnedNode,
  walk: Walk,
): void {
  if (desired === undefined) {
    removeOwned(live, owned, walk);
    return;
  }
  if (isOwnedLeaf(owned)) return;
  if (isEmptyContainer(desired)) {
    empty(live, owned, walk);
    return;
  }
  forOwnedChildren(live, owned, (child, node, step) => {
    leftOver(desiredChild(desired, owned, step), child, node, below(walk, step));
  });
}

/** Where a child is: its key, or its position in the live list and what the server knows it by. */
type Step = { readonly key: string } | { readonly position: number; readonly id: string };
type Visit = (child: JsonValue, node: OwnedNode, step: Step) => void;

/** Visits what is there and owned; items of lists last one first, so that removals keep positions true. */
function forOwnedChildren(live: JsonValue | undefined, owned: OwnedNode, visit: Visit): void {
  if (isJsonObject(live)) {
    for (const [key, node] of owned.fields) {
      const child = member(live, key);
      if (child !== undefined) visit(child, node, { key });
    }
  } else if (Array.isArray(live) && owned.list !== undefined) {
    const { identity, items } = owned.list;
    const byPosition = [...indexItems(identity, live)].sort(([, a], [, b]) => b - a);
    for (const [id, position] of byPosition) {
      const node = items.get(id);
      const child = live[position];
      if (node !== undefined && child !== undefined) visit(child, node, { position, id });
    }
  }
}

function desiredChild(desired: JsonValue, owned: OwnedNode, step: Step): JsonValue | undefined {
  if ('key' in step) return member(desired, step.key);
  if (!Array.isArray(desired) || owned.list === undefined) return undefined;
  const position = indexItems(owned.list.identity, desired).get(step.id);
  return position === undefined ? undefined : desired[position];
}

/**
 * Takes a value away, or only the owned parts of it where others have put something beside them. An item that
 * stays for others keeps the fields by which the server knows it.
 */
function removeOwned(
  live: JsonValue | undefined,
  owned: OwnedNode,
  walk: Walk,
  identifying: readonly string[] = [],
): void {
  if (live === undefined) return;
  if (ownsAll(live, owned)) {
    walk.removals.push(walk.path);
    return;
  }
  removeOwnedChildren(live, owned, walk, identifying);
}

function removeOwnedChildren(
  live: JsonValue,
  owned: OwnedNode,
  walk: Walk,
  identifying: readonly string[] = [],
): void {
  const identity = owned.list?.identity;
  const keys = identity?.by === 'keys' ? identity.names : [];
  forOwnedChildren(live, owned, (child, node, step) => {
    if ('key' in step && identifying.includes(step.key)) return;
    removeOwned(child, node, below(walk, step), 'key' in step ? [] : keys);
  });
}

function ownsAll(live: JsonValue, owned: OwnedNode): boolean {
  if (isOwnedLeaf(owned)) return true;
  if (isJsonObject(live)) {
    return Object.keys(live).every((key) => {
      const node = owned.fields.get(key);
      const child = live[key];
      return child === undefined || (node !== undefined && ownsAll(child, node));
    });
  }
  if (!Array.isArray(live) || owned.list === undefined) return false;
  const { identity, items } = owned.list;
  const positions = indexItems(identity, live);
  if (positions.size !== live.length) return false;
  return [...positions].every(([id, position]) => {
    const node = items.get(id);
    const child = live[position];
    return node !== undefined && child !== undefined && ownsAll(child, node);
  });
}

function startsWith(path: JsonPath, prefix: JsonPath): boolean {
  return prefix.every((step, index) => path[index] === step);
}

function isEmptyContainer(value: JsonValue): boolean {
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}

function toOperations(removals: readonly JsonPath[]): readonly RemoveOperation[] {
  return removals.slice(0, MAX_OPERATIONS).map((path) => ({ op: 'remove', path: toPointer(path) }));
}
