import type { JsonObject, JsonValue } from '../kube/json-value.js';
import { isJsonObject } from '../kube/json-value.js';
import { unsupported } from './problem.js';

/**
 * Readers of fields that somebody else wrote. Null counts as absent, as it does for the API server. They read own
 * properties only: a field named `constructor` must not find the prototype's. Each throws SchemaProblem when the
 * field has another type.
 */
export function field(object: JsonObject, key: string): JsonValue | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return value === null ? undefined : value;
}

export function optionalString(object: JsonObject, key: string, path: string): string | undefined {
  const value = field(object, key);
  if (value === undefined || typeof value === 'string') return value;
  throw unsupported(`${path}.${key}`, `${path}.${key} is not a string`);
}

export function requiredString(object: JsonObject, key: string, path: string): string {
  const value = optionalString(object, key, path);
  if (value === undefined || value === '')
    throw unsupported(`${path}.${key}`, `${path}.${key} is missing or empty`);
  return value;
}

export function optionalBoolean(object: JsonObject, key: string, path: string): boolean {
  const value = field(object, key);
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw unsupported(`${path}.${key}`, `${path}.${key} is neither true nor false`);
}

export function optionalObject(object: JsonObject, key: string, path: string): JsonObject | undefined {
  const value = field(object, key);
  if (value === undefined || isJsonObject(value)) return value;
  throw unsupported(`${path}.${key}`, `${path}.${key} is not an object`);
}

export function optionalList(object: JsonObject, key: string, path: string): readonly JsonValue[] {
  const value = field(object, key);
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw unsupported(`${path}.${key}`, `${path}.${key} is not a list`);
}

export function stringList(object: JsonObject, key: string, path: string): string[] {
  return optionalList(object, key, path).map((item, index) => {
    if (typeof item === 'string') return item;
    throw unsupported(`${path}.${key}[${index}]`, `${path}.${key}[${index}] is not a string`);
  });
}
