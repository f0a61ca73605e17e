import { JsonTooDeepError, ProtocolError } from '../errors.js';
import { isCut, type CutJson } from '../json-cut.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json-value.js';
import type { KubeObject, ObjectList } from '../object.js';

/**
 * Checks that a value from a server has the shape that the types promise: a hostile server must not get a
 * number where our code expects a string.
 *
 * @throws ProtocolError naming the field
 */
export function decodeObject(value: JsonValue, what: string): KubeObject {
  const problem = isJsonObject(value) ? shapeProblem(value) : 'is not an object';
  // `as`: shapeProblem has checked every field that KubeObject declares.
  if (problem === undefined) return value as KubeObject;
  throw new ProtocolError(`${what}: the object in the answer ${problem}`);
}

/**
 * The object without managedFields, where parts of these were too deep to be read; undefined where something else
 * was: nobody may take the rest for the whole.
 */
export function withoutCutFields(object: KubeObject): KubeObject | undefined {
  if (!isCut(object)) return object;
  const metadata = { ...object.metadata };
  delete metadata.managedFields;
  const rest = { ...object, metadata };
  return isCut(rest) ? undefined : rest;
}

/** Decodes the object of an answer. @throws ProtocolError naming the field, or for one that is too deep */
export function decodeAnswer({ value, cut }: CutJson, what: string): KubeObject {
  const object = decodeObject(value, what);
  const whole = cut ? withoutCutFields(object) : object;
  if (whole === undefined) throw new JsonTooDeepError(`${what}: the object in the answer is nested too deep`);
  return whole;
}

/**
 * Decodes one page. Items of built-in lists come without apiVersion and kind; they get the list's. An item that is
 * too deep to be read is left out.
 */
export function decodeList({ value, cut }: CutJson, what: string): ObjectList {
  const meta = isJsonObject(value) ? value['metadata'] : undefined;
  if (!isJsonObject(value) || !isJsonObject(meta) || typeof meta['resourceVersion'] !== 'string')
    throw new ProtocolError(`${what}: the answer is not a list`);
  // Go writes an empty list as null.
  const items = value['items'] ?? [];
  if (!Array.isArray(items)) throw new ProtocolError(`${what}: items of the list are no array`);
  const { apiVersion, kind } = value;
  const itemKind = typeof kind === 'string' && kind.endsWith('List') ? kind.slice(0, -4) : undefined;
  const decoded = items.map((item) => {
    if (isJsonObject(item)) {
      if (item['apiVersion'] === undefined && apiVersion !== undefined) item['apiVersion'] = apiVersion;
      if (item['kind'] === undefined && itemKind !== undefined) item['kind'] = itemKind;
    }
    return decodeObject(item, what);
  });
  const whole = cut ? decoded.flatMap((item) => withoutCutFields(item) ?? []) : decoded;
  const next = meta['continue'];
  const page = { items: whole, resourceVersion: meta['resourceVersion'] };
  return typeof next === 'string' && next !== '' ? { ...page, continue: next } : page;
}

function shapeProblem(object: JsonObject): string | undefined {
  if (typeof object['apiVersion'] !== 'string') return 'has no apiVersion';
  if (typeof object['kind'] !== 'string') return 'has no kind';
  const meta = object['metadata'];
  if (!isJsonObject(meta)) return 'has no metadata';
  if (typeof meta['name'] !== 'string' || meta['name'] === '') return 'has no metadata.name';
  for (const [field, fits] of META_FIELDS) {
    const value = meta[field];
    if (value !== undefined && !fits(value)) return `has a malformed metadata.${field}`;
  }
  return undefined;
}

const isString = (value: JsonValue | undefined): boolean => typeof value === 'string';
const isStringMap = (value: JsonValue): boolean =>
  isJsonObject(value) && Object.values(value).every(isString);
const isOwner = (value: JsonValue): boolean =>
  isJsonObject(value) && ['apiVersion', 'kind', 'name', 'uid'].every((field) => isString(value[field]));

const META_FIELDS: readonly (readonly [string, (value: JsonValue) => boolean])[] = [
  ['namespace', isString],
  ['uid', isString],
  ['resourceVersion', isString],
  ['generation', (value) => typeof value === 'number'],
  ['creationTimestamp', (value) => isString(value) || value === null],
  ['deletionTimestamp', isString],
  ['labels', isStringMap],
  ['annotations', isStringMap],
  ['finalizers', (value) => Array.isArray(value) && value.every(isString)],
  ['ownerReferences', (value) => Array.isArray(value) && value.every(isOwner)],
  ['managedFields', Array.isArray],
];
