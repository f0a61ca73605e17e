import type { JsonValue } from '../../kube/json-value.js';
import { canonicalJson } from './canonical-json.js';
import { member } from './field-access.js';

/** How a server tells the items of a list apart: by their value (a set), or by some of their fields (a map). */
export type ListIdentity =
  { readonly by: 'value' } | { readonly by: 'keys'; readonly names: readonly string[] };

/** Equal for two items that the server takes for the same one; undefined where a key field is missing. */
export function itemIdentity(identity: ListIdentity, item: JsonValue): string | undefined {
  if (identity.by === 'value') return canonicalJson(item);
  const keys: [string, JsonValue][] = [];
  for (const name of identity.names) {
    const value = member(item, name);
    if (value === undefined) return undefined;
    keys.push([name, value]);
  }
  // Not by assignment: a key may be called `__proto__`.
  return canonicalJson(Object.fromEntries(keys));
}

/** Positions of the items by identity. Of equal ones the first counts, as on the server. */
export function indexItems(identity: ListIdentity, items: readonly JsonValue[]): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  items.forEach((item, index) => {
    const id = itemIdentity(identity, item);
    if (id !== undefined && !positions.has(id)) positions.set(id, index);
  });
  return positions;
}
