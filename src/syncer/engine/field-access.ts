import { isJsonObject } from '../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../kube/json-value.js';
import type { JsonPath } from './json-pointer.js';

/** An own member of an object; never something inherited such as `constructor`. */
export function member(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** A copy without the fields at these paths; shares all parts that no path goes through. */
export function withoutPaths(object: JsonObject, paths: readonly JsonPath[]): JsonObject {
  let result = object;
  for (const path of paths) {
    const changed = without(result, path);
    if (isJsonObject(changed)) result = changed;
  }
  return result;
}

function without(value: JsonValue, path: JsonPath): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(value)) {
    if (typeof step !== 'number') return value;
    // Items are never taken out, only fields in them: the positions of other paths must stay true.
    return value.map((item, index) => (index === step && rest.length > 0 ? without(item, rest) : item));
  }
  if (!isJsonObject(value) || typeof step !== 'string' || !Object.hasOwn(value, step)) return value;
  const entries = Object.entries(value);
  if (rest.length === 0) return Object.fromEntries(entries.filter(([key]) => key !== step));
  return Object.fromEntries(
    entries.map(([key, child]) => [key, key === step && child !== undefined ? without(child, rest) : child]),
  );
}
