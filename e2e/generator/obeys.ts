import { isJsonObject, type JsonObject, type JsonValue } from '../../src/kube/json-value.js';
import {
  isIntOrString,
  nodeAt,
  nodesAt,
  numberAt,
  propertiesOf,
  textOf,
  textsAt,
  type SchemaNode,
} from './json-schema-node.js';

/**
 * Whether a value obeys the value rules of a schema: types, bounds, enums, patterns, required, and all that is joined
 * by allOf, anyOf, oneOf and not. Formats and CEL rules are left to the API server.
 */
export function obeys(node: SchemaNode, value: JsonValue): boolean {
  if (value === null) return node['nullable'] === true || node['type'] === undefined;
  return hasType(node, value) && inEnum(node, value) && bounded(node, value) && joins(node, value);
}

/** Only what is joined by allOf, anyOf, oneOf and not. */
export function joins(node: SchemaNode, value: JsonValue): boolean {
  const holds = (each: SchemaNode) => obeys(each, value);
  const anyOf = nodesAt(node, 'anyOf');
  const oneOf = nodesAt(node, 'oneOf');
  const not = nodeAt(node, 'not');
  return (
    nodesAt(node, 'allOf').every(holds) &&
    (anyOf.length === 0 || anyOf.some(holds)) &&
    (oneOf.length === 0 || oneOf.filter(holds).length === 1) &&
    (not === undefined || !holds(not))
  );
}

const TYPES: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  object: isJsonObject,
  array: (value) => Array.isArray(value),
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number' || typeof value === 'bigint',
  integer: (value) => typeof value === 'bigint' || Number.isInteger(value),
};

function hasType(node: SchemaNode, value: JsonValue): boolean {
  if (isIntOrString(node)) return typeof value === 'string' || TYPES['integer']?.(value) === true;
  const type = node['type'];
  return typeof type !== 'string' || TYPES[type]?.(value) === true;
}

function inEnum(node: SchemaNode, value: JsonValue): boolean {
  const values = node['enum'];
  return !Array.isArray(values) || values.some((each) => textOf(each) === textOf(value));
}

function bounded(node: SchemaNode, value: JsonValue): boolean {
  if (typeof value === 'string') return boundedText(node, value);
  if (Array.isArray(value)) return boundedList(node, value);
  if (isJsonObject(value)) return boundedObject(node, value);
  return typeof value === 'boolean' || boundedNumber(node, Number(value));
}

function boundedText(node: SchemaNode, value: string): boolean {
  const pattern = node['pattern'];
  const length = Array.from(value).length;
  return (
    within(node, length, ['minLength', 'maxLength']) &&
    (typeof pattern !== 'string' || expression(pattern).test(value))
  );
}

function boundedList(node: SchemaNode, value: readonly JsonValue[]): boolean {
  const items = nodeAt(node, 'items');
  return (
    within(node, value.length, ['minItems', 'maxItems']) &&
    (items === undefined || value.every((item) => obeys(items, item)))
  );
}

function boundedObject(node: SchemaNode, value: JsonObject): boolean {
  const names = Object.keys(value);
  const rest = nodeAt(node, 'additionalProperties');
  const known = new Map(propertiesOf(node));
  return (
    within(node, names.length, ['minProperties', 'maxProperties']) &&
    textsAt(node, 'required').every((name) => Object.hasOwn(value, name)) &&
    names.every((name) => {
      const schema = known.get(name) ?? rest;
      return schema === undefined || obeys(schema, value[name] ?? null);
    })
  );
}

function boundedNumber(node: SchemaNode, value: number): boolean {
  const minimum = numberAt(node, 'minimum') ?? -Infinity;
  const maximum = numberAt(node, 'maximum') ?? Infinity;
  const step = numberAt(node, 'multipleOf');
  return (
    (node['exclusiveMinimum'] === true ? value > minimum : value >= minimum) &&
    (node['exclusiveMaximum'] === true ? value < maximum : value <= maximum) &&
    (step === undefined || Number.isInteger(Math.round((value / step) * 1e9) / 1e9))
  );
}

function within(node: SchemaNode, size: number, [least, most]: readonly [string, string]): boolean {
  return size >= (numberAt(node, least) ?? 0) && size <= (numberAt(node, most) ?? Infinity);
}

/** A Go expression as JavaScript reads it. */
export function expression(pattern: string): RegExp {
  const flags = /^\(\?([is]+)\)/.exec(pattern);
  const source = pattern
    .slice(flags?.[0].length ?? 0)
    .replaceAll('\\z', '$')
    .replaceAll('\\A', '^')
    .replaceAll('[[:alnum:]]', '[0-9A-Za-z]')
    .replaceAll('[:alnum:]', '0-9A-Za-z')
    .replaceAll('[:alpha:]', 'A-Za-z');
  return new RegExp(source, flags?.[1] ?? '');
}
