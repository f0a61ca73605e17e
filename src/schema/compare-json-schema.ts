import { isJsonObject, type JsonObject, type JsonValue } from '../kube/json-value.js';
import { field } from './fields.js';

/** Every object has these, whether its schema says so or not. */
const ALWAYS_THERE = ['apiVersion', 'kind', 'metadata'];

/**
 * What values stored under `live` would lose under `next`: each entry names a path and what happens there. What counts
 * is what destroys or misreads stored data, or locks objects up. Stricter validation otherwise does not count: for the
 * unchanged parts of an object the API server skips it (seen on kcp v0.28; a rule in CEL still stops status writes until
 * the user has edited the object), and hiding it from consumers would only move the refusal to the provider.
 */
export function findLosses(live: JsonObject, next: JsonObject, scope: LossScope): string[] {
  const losses: string[] = [];
  compareNodes(live, next, { ...scope, root: true, losses });
  for (const name of newlyRequired(live, next))
    losses.push(
      `${scope.path}.${name}: it became required, and objects without it could not even lose a finalizer`,
    );
  return losses;
}

/** At the root only: it changes with every write, and so is always validated. */
function newlyRequired(live: JsonObject, next: JsonObject): string[] {
  const [before, after] = [field(live, 'required'), field(next, 'required')].map((value) =>
    Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [],
  );
  const known = new Set([...(before ?? []), ...ALWAYS_THERE]);
  return (after ?? []).filter((name) => !known.has(name));
}

export interface LossScope {
  /** What the entries begin with. */
  readonly path: string;
  /** True where status is written by the provider only: what it stops to report is no loss. */
  readonly mirroredStatus: boolean;
}

interface Position {
  readonly path: string;
  readonly mirroredStatus: boolean;
  /** True for the object's root. */
  readonly root: boolean;
  /** True inside of a status that the provider writes. */
  readonly mirrored?: boolean;
  readonly losses: string[];
}

function compareNodes(live: JsonObject, next: JsonObject, position: Position): void {
  const { path, losses } = position;
  const [before, after] = [typesOf(live), typesOf(next)];
  if (!covers(after, before)) {
    losses.push(`${path}: type ${nameOf(before)} became ${nameOf(after)}`);
    return;
  }
  if (position.mirrored !== true) {
    compareEmbedding(live, next, position);
    comparePreservation(live, next, position);
    compareNull(live, next, position);
    compareNewNames(live, next, position);
  }
  compareProperties(live, next, position);
  compareAdditional(live, next, position);
  const [liveItems, nextItems] = [field(live, 'items'), field(next, 'items')];
  if (isJsonObject(liveItems) && isJsonObject(nextItems))
    compareNodes(liveItems, nextItems, below(position, `${path}[]`));
}

function below(position: Position, path: string): Position {
  return { ...position, path, root: false };
}

/** An embedded resource keeps its apiVersion, kind and metadata without naming them. */
function compareEmbedding(live: JsonObject, next: JsonObject, { path, losses }: Position): void {
  if (isEmbedded(live) && !isEmbedded(next) && !keepsUnknown(next))
    losses.push(`${path}: it is no embedded resource any more`);
}

function comparePreservation(live: JsonObject, next: JsonObject, { path, losses }: Position): void {
  if (keepsUnknown(live) && !keepsUnknown(next))
    losses.push(`${path}: unknown fields are not preserved any more`);
}

/** With a default, an API server takes null for absent where null is not allowed. */
function compareNull(live: JsonObject, next: JsonObject, { path, losses }: Position): void {
  if (live['nullable'] === true && next['nullable'] !== true && Object.hasOwn(next, 'default'))
    losses.push(`${path}: null becomes the default`);
}

/** What was taken under any name may be there under one that has a schema of its own now. */
function compareNewNames(live: JsonObject, next: JsonObject, position: Position): void {
  const others = additional(live);
  const before = isJsonObject(others) ? others : others || keepsUnknown(live) ? ANYTHING : undefined;
  const [old, after] = [field(live, 'properties'), field(next, 'properties')];
  if (before === undefined || !isJsonObject(after)) return;
  for (const name of Object.keys(after)) {
    const schema = field(after, name);
    if (isJsonObject(old) && field(old, name) !== undefined) continue;
    if (!isJsonObject(schema) || isImplicit(live, name, position)) continue;
    compareNodes(before, schema, propertyPosition(position, name));
  }
}

function compareProperties(live: JsonObject, next: JsonObject, position: Position): void {
  const [before, after] = [field(live, 'properties'), field(next, 'properties')];
  if (!isJsonObject(before)) return;
  const others = additional(next);
  const keepsAll = keepsUnknown(next) || others === true || position.mirrored === true;
  for (const name of Object.keys(before)) {
    const old = field(before, name);
    if (!isJsonObject(old)) continue;
    const at = propertyPosition(position, name);
    const present = (isJsonObject(after) ? field(after, name) : undefined) ?? others;
    if (isJsonObject(present)) compareNodes(old, present, at);
    else if (!keepsAll && !isImplicit(next, name, position))
      position.losses.push(`${at.path}: the field was removed`);
  }
}

function propertyPosition(position: Position, name: string): Position {
  const child = below(position, `${position.path}.${name}`);
  return position.root && position.mirroredStatus && name === 'status' ? { ...child, mirrored: true } : child;
}

/** An embedded resource is an object, too. */
function isImplicit(next: JsonObject, name: string, position: Position): boolean {
  return (position.root || isEmbedded(next)) && ALWAYS_THERE.includes(name);
}

/** A value of any type, with any fields. */
const ANYTHING: JsonObject = { 'x-kubernetes-preserve-unknown-fields': true };

/** Maps: values of keys that the schema does not name. */
function compareAdditional(live: JsonObject, next: JsonObject, position: Position): void {
  const { path, losses } = position;
  const [before, after] = [additional(live), additional(next)];
  if (before === false) return;
  if (after === false) {
    if (!keepsUnknown(next) && position.mirrored !== true)
      losses.push(`${path}: keys that the schema does not name are not kept any more`);
    return;
  }
  // Where any value was taken, one of them may be of any type.
  if (after !== true) compareNodes(before === true ? ANYTHING : before, after, below(position, `${path}.*`));
}

function additional(node: JsonObject): JsonObject | boolean {
  const value = field(node, 'additionalProperties');
  if (isJsonObject(value)) return value;
  return value === true;
}

function isEmbedded(node: JsonObject): boolean {
  return node['x-kubernetes-embedded-resource'] === true;
}

function keepsUnknown(node: JsonObject): boolean {
  return node['x-kubernetes-preserve-unknown-fields'] === true;
}

/** Undefined: any type. */
function typesOf(node: JsonObject): readonly string[] | undefined {
  if (node['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  const type: JsonValue | undefined = field(node, 'type');
  return typeof type === 'string' && type !== '' ? [type] : undefined;
}

function covers(after: readonly string[] | undefined, before: readonly string[] | undefined): boolean {
  if (after === undefined) return true;
  if (before === undefined) return false;
  return before.every((type) => after.includes(type) || (type === 'integer' && after.includes('number')));
}

function nameOf(types: readonly string[] | undefined): string {
  return types === undefined ? 'any' : types.join(' or ');
}
