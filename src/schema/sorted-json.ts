import { stringifyJson } from '../kube/json.js';
import type { JsonValue } from '../kube/json-value.js';

/**
 * JSON text with the keys of every object sorted and without keys whose value is undefined: equal values give
 * equal bytes, whichever order a server wrote them in. The value must not be nested deeper than the parser allows.
 */
export function sortedJson(value: JsonValue): string {
  return stringifyJson(sortKeys(value));
}

function sortKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const members: [string, JsonValue][] = [];
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) members.push([key, sortKeys(member)]);
  }
  // fromEntries defines own properties, `__proto__` included.
  return Object.fromEntries(members);
}
