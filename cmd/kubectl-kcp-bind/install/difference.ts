import { isJsonObject, type JsonValue } from '../../../src/kube/json-value.js';

/** A field that differs: what is there (undefined: nothing), and what is wanted. */
export interface Difference {
  /** `spec.resources[0].schema` */
  readonly path: string;
  readonly is: JsonValue | undefined;
  readonly wanted: JsonValue;
}

/**
 * Where an object says something else than is wanted. What only the server says (status, defaults, metadata of its own)
 * does not count; lists count as a whole in length and order.
 */
export function differences(wanted: JsonValue, is: JsonValue | undefined, path = ''): Difference[] {
  if (isJsonObject(wanted) && isJsonObject(is)) {
    return Object.entries(wanted).flatMap(([key, value]) =>
      value === undefined ? [] : differences(value, is[key], path === '' ? key : `${path}.${key}`),
    );
  }
  if (Array.isArray(wanted) && Array.isArray(is) && wanted.length === is.length) {
    return wanted.flatMap((value, index) => differences(value, is[index], `${path}[${index}]`));
  }
  // The server leaves empty texts and lists away.
  const isEmpty = wanted === '' || (Array.isArray(wanted) && wanted.length === 0);
  if (wanted === is || (isEmpty && is === undefined)) return [];
  return [{ path, is, wanted }];
}
