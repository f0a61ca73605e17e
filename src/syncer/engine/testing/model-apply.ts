import { isJsonObject } from '../../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../../kube/json-value.js';
import { jsonEqual } from '../../../kube/json.js';
import { fieldSet, itemsOf, matches, removeAtSteps, stepsOf, valueAtSteps } from './model-fields.js';
import type { FieldSet } from './model-fields.js';
import { schemaOf } from './model-schema.js';
import type { ModelSchema } from './model-schema.js';

/** Owned fields by `<manager>:<operation>`. */
export type Managers = Map<string, FieldSet>;

export type ApplyResult =
  | { readonly kind: 'merged'; readonly value: JsonObject; readonly managers: Managers }
  | { readonly kind: 'conflict'; readonly fields: readonly string[] }
  /** A container of ours became empty: servers make it null, which no schema takes. */
  | { readonly kind: 'null'; readonly field: string }
  | { readonly kind: 'unknown'; readonly fields: readonly string[] };

/** Server-side apply as Kubernetes does it, its oddities with emptied containers included. */
export function modelApply(
  live: { readonly value: JsonObject; readonly managers: Managers },
  config: JsonObject,
  schema: ModelSchema,
  options: { readonly manager: string; readonly force: boolean },
): ApplyResult {
  const unknown = unknownFields(config, schema);
  if (unknown.length > 0) return { kind: 'unknown', fields: unknown };
  const name = `${options.manager}:Apply`;
  const wanted = fieldSet(config, schema);
  const before = live.managers.get(name) ?? new Set<string>();
  const managers: Managers = new Map([...live.managers].map(([key, set]) => [key, new Set(set)]));
  managers.delete(name);
  const conflicts: string[] = [];
  for (const path of wanted) {
    if (jsonEqual(leafValue(live.value, path), leafValue(config, path))) continue;
    for (const [other, set] of managers) {
      if (!set.has(path)) continue;
      if (options.force) set.delete(path);
      else conflicts.push(`${other} ${path}`);
    }
  }
  if (conflicts.length > 0) return { kind: 'conflict', fields: conflicts };
  let value = mergeValue(live.value, config, schema);
  const gone = [...before].filter((path) => !wanted.has(path)).sort((a, b) => a.length - b.length);
  for (const path of gone) {
    const kept = [...managers.values(), wanted].some((set) => isOwnedOrAbove(set, itemOf(path)));
    if (!kept) value = removeAtSteps(value, path);
  }
  const emptied = settleEmptied(value, { before, config, wanted, managers });
  if (emptied.nullField !== undefined) return { kind: 'null', field: emptied.nullField };
  if (wanted.size > 0) managers.set(name, wanted);
  return {
    kind: 'merged',
    value: isJsonObject(emptied.value) ? emptied.value : {},
    managers: tidy(managers),
  };
}

/** What an Update by a manager does to the owners: added and changed fields become its, removed ones nobody's. */
export function modelUpdate(
  live: { readonly value: JsonObject; readonly managers: Managers },
  next: JsonObject,
  schema: ModelSchema,
  manager: string,
): Managers {
  const name = `${manager}:Update`;
  const before = fieldSet(live.value, schema);
  const after = fieldSet(next, schema);
  const managers: Managers = new Map([...live.managers].map(([key, set]) => [key, new Set(set)]));
  const own = managers.get(name) ?? new Set<string>();
  for (const path of after) {
    const old = leafValue(live.value, path);
    // A container that was emptied is no addition.
    if (jsonEqual(old, leafValue(next, path)) && (before.has(path) || isJsonObject(old))) continue;
    for (const set of managers.values()) set.delete(path);
    own.add(path);
  }
  if (own.size > 0) managers.set(name, own);
  for (const set of managers.values()) {
    for (const path of set) if (valueAtSteps(next, path) === undefined) set.delete(path);
  }
  return tidy(managers);
}

function tidy(managers: Managers): Managers {
  return new Map([...managers].filter(([, set]) => set.size > 0));
}

/** Containers only say that they are there; their contents have paths of their own. */
function leafValue(value: JsonObject, path: string): JsonValue | undefined {
  const found = valueAtSteps(value, path);
  if (isJsonObject(found)) return {};
  return found;
}

function isOwnedOrAbove(set: FieldSet, path: string): boolean {
  const steps = stepsOf(path);
  for (const other of set) {
    const otherSteps = stepsOf(other);
    if (otherSteps.length >= steps.length && steps.every((step, index) => otherSteps[index] === step))
      return true;
  }
  return false;
}

/** The key field of a list item stays as long as anything of the item does. */
function itemOf(path: string): string {
  const steps = stepsOf(path);
  const item = steps.at(-2);
  const field = steps.at(-1);
  if (item?.startsWith('k:') !== true || field === undefined) return path;
  const isKey = Object.hasOwn(JSON.parse(item.slice(2)) as object, field.slice(2));
  return isKey ? JSON.stringify(steps.slice(0, -1)) : path;
}

export function unknownFields(value: JsonValue, schema: ModelSchema, path = ''): string[] {
  if (schema.kind === 'mapList' && Array.isArray(value))
    return value.flatMap((item, index) => unknownFields(item, schema.item, `${path}[${String(index)}]`));
  if (!isJsonObject(value) || schema.kind === 'atomic' || schema.kind === 'scalar') return [];
  return Object.keys(value).flatMap((key) => {
    const below = schemaOf(schema, key);
    const child = value[key];
    if (below === undefined) return [`${path}.${key}`];
    return child === undefined ? [] : unknownFields(child, below, `${path}.${key}`);
  });
}

function mergeValue(live: JsonValue | undefined, config: JsonValue, schema: ModelSchema): JsonValue {
  if ((schema.kind === 'set' || schema.kind === 'mapList') && Array.isArray(config)) {
    const existing = Array.isArray(live) ? live : [];
    const wanted = itemsOf(config, schema);
    const merged = wanted.map(([step, item]) => {
      const old = existing.find((candidate) => matches(step, candidate));
      return schema.kind === 'mapList' && old !== undefined ? mergeValue(old, item, schema.item) : item;
    });
    const rest = existing.filter((item) => !wanted.some(([step]) => matches(step, item)));
    return [...merged, ...rest];
  }
  if (!isJsonObject(config) || !isJsonObject(live) || schema.kind === 'atomic' || schema.kind === 'scalar')
    return config;
  const merged: JsonObject = { ...live };
  for (const key of Object.keys(config)) {
    const child = config[key];
    const below = schemaOf(schema, key);
    if (child !== undefined && below !== undefined) merged[key] = mergeValue(live[key], child, below);
  }
  return merged;
}

/** What becomes of containers that lost all that the manager had put into them. */
function settleEmptied(
  value: JsonValue,
  owners: {
    readonly before: FieldSet;
    readonly config: JsonObject;
    readonly wanted: FieldSet;
    readonly managers: Managers;
  },
): { value: JsonValue; nullField?: string } {
  const { before, config, wanted, managers } = owners;
  let current = value;
  const containers = new Set<string>();
  for (const path of before) {
    if (wanted.has(path)) continue;
    const steps = stepsOf(path);
    for (let length = steps.length - 1; length > 0; length--)
      containers.add(JSON.stringify(steps.slice(0, length)));
  }
  for (const container of [...containers].sort((a, b) => b.length - a.length)) {
    const left = valueAtSteps(current, container);
    const isEmpty = Array.isArray(left)
      ? left.length === 0
      : isJsonObject(left) && Object.keys(left).length === 0;
    if (!isEmpty) continue;
    const desired = valueAtSteps(config, container);
    if (isJsonObject(desired)) return { value: current, nullField: container };
    const othersOwn = [...managers.values()].some((set) => isOwnedOrAbove(set, container));
    if (!othersOwn) current = removeAtSteps(current, container);
  }
  return { value: current };
}
