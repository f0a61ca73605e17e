/**
 * A JSON value as it travels through this program. Integers that a float64 cannot hold but an int64 can
 * are `bigint`; every other number is a `number`.
 */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;

/** A JSON object. Keys are own properties of a plain object, `__proto__` included. */
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

/** Narrows to a JSON object (not null, not an array). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
