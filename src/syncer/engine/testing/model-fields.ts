import { isJsonObject } from '../../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../../kube/json-value.js';
import { canonicalJson } from '../canonical-json.js';
import { schemaOf } from './model-schema.js';
import type { ModelSchema } from './model-schema.js';

/** Owned paths, each serialized as JSON of its FieldsV1 steps. */
export type FieldSet = Set<string>;

const text = (path: readonly string[]): string => JSON.stringify(path);
export const stepsOf = (path: string): string[] => JSON.parse(path) as string[];

/** Items of an associative list with their FieldsV1 step. */
export function itemsOf(list: JsonValue, schema: ModelSchema): [string, JsonValue][] {
  if (!Array.isArray(list)) return [];
  if (schema.kind === 'set') return list.map((item) => [`v:${canonicalJson(item)}`, item]);
  if (schema.kind !== 'mapList') return [];
  return list.map((item) => {
    const value = isJsonObject(item) ? (item[schema.key] ?? null) : null;
    return [`k:${canonicalJson({ [schema.key]: value })}`, item];
  });
}

/** What a manager that applies this value owns. */
export function fieldSet(value: JsonValue, schema: ModelSchema): FieldSet {
  const set: FieldSet = new Set();
  const walk = (current: JsonValue, at: ModelSchema, path: string[]): void => {
    if (at.kind === 'set' || at.kind === 'mapList') {
      for (const [step, item] of itemsOf(current, at)) {
        set.add(text([...path, step]));
        if (at.kind === 'mapList' && isJsonObject(item)) walkFields(item, at.item, [...path, step]);
      }
      return;
    }
    if (isJsonObject(current) && at.kind !== 'atomic' && at.kind !== 'scalar') {
      // Untyped maps own themselves too, and so does every empty one.
      if (path.length > 0 && (at.kind === 'any' || Object.keys(current).length === 0)) set.add(text(path));
      walkFields(current, at, path);
    } else set.add(text(path));
  };
  const walkFields = (object: JsonObject, at: ModelSchema, path: string[]): void => {
    for (const key of Object.keys(object)) {
      const child = object[key];
      const below = schemaOf(at, key);
      if (child !== undefined && below !== undefined) walk(child, below, [...path, `f:${key}`]);
    }
  };
  walk(value, schema, []);
  return set;
}

/** FieldsV1 of a set of paths. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const root: JsonObject = {};
  for (const path of [...set].sort()) {
    let node = root;
    for (const step of stepsOf(path)) {
      const next = node[step];
      if (isJsonObject(next)) node = next;
      else node = node[step] = {};
    }
    node['.'] = {};
  }
  return tidy(root);
}

/** A leaf is written as `{}`, a node with children that owns itself holds `.`. */
function tidy(node: JsonObject): JsonObject {
  const keys = Object.keys(node);
  if (keys.length === 1 && keys[0] === '.') return {};
  return Object.fromEntries(
    keys.map((key) => {
      const child = node[key];
      return [key, key !== '.' && isJsonObject(child) ? tidy(child) : (child ?? {})];
    }),
  );
}

/** The value at FieldsV1 steps. */
export function valueAtSteps(value: JsonValue | undefined, path: string): JsonValue | undefined {
  let current = value;
  for (const step of stepsOf(path)) {
    if (step.startsWith('f:')) current = isJsonObject(current) ? current[step.slice(2)] : undefined;
    else if (Array.isArray(current)) current = current.find((item) => matches(step, item));
    else return undefined;
  }
  return current;
}

/** True for the item that a `k:` or `v:` step names. */
export function matches(step: string, item: JsonValue): boolean {
  const wanted = JSON.parse(step.slice(2)) as JsonValue;
  if (step.startsWith('v:')) return canonicalJson(wanted) === canonicalJson(item);
  return (
    isJsonObject(wanted) &&
    isJsonObject(item) &&
    Object.keys(wanted).every(
      (key) => canonicalJson(wanted[key] ?? null) === canonicalJson(item[key] ?? null),
    )
  );
}

/** Without the value at the steps; containers stay, however empty. */
export function removeAtSteps(value: JsonValue, path: string): JsonValue {
  const walk = (current: JsonValue, steps: readonly string[]): JsonValue => {
    const [step, ...rest] = steps;
    if (step === undefined) return current;
    if (step.startsWith('f:')) {
      const key = step.slice(2);
      if (!isJsonObject(current) || current[key] === undefined) return current;
      if (rest.length > 0) return { ...current, [key]: walk(current[key], rest) };
      return Object.fromEntries(Object.entries(current).filter(([name]) => name !== key));
    }
    if (!Array.isArray(current)) return current;
    if (rest.length === 0) return current.filter((item) => !matches(step, item));
    return current.map((item) => (matches(step, item) ? walk(item, rest) : item));
  };
  return walk(value, stepsOf(path));
}
