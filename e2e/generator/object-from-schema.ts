import { isJsonObject, type JsonObject, type JsonValue } from '../../src/kube/json-value.js';
import { waysOf } from './join-schemas.js';
import {
  identityOf,
  isIntOrString,
  nodeAt,
  numberAt,
  preservesUnknown,
  propertiesOf,
  textOf,
  textsAt,
  type SchemaNode,
} from './json-schema-node.js';
import { obeys } from './obeys.js';
import { choices } from './presence-choices.js';
import { enumFor, numberFor, TextMaker } from './primitive-values.js';

/** Values of one node that are kept, and so the most items that a list gets by itself. */
const MAX_VALUES = 8;

/**
 * An object that obeys a schema and fills as much of it as one object can: every field, an item in every list, an entry
 * in every map. Where fields exclude each other, lists get an item for each choice. Always the same for the same
 * schema. Without apiVersion, kind and metadata. CEL rules are not known here.
 */
export function objectFromSchema(schema: SchemaNode): JsonObject {
  const everyones = ['apiVersion', 'kind', 'metadata'];
  const own = (name: string) => !everyones.includes(name);
  const bare = {
    ...schema,
    properties: Object.fromEntries(propertiesOf(schema).filter(([name]) => own(name))),
    required: textsAt(schema, 'required').filter(own),
  };
  const [value] = new ValueMaker().values(bare, 0);
  return isJsonObject(value) ? value : {};
}

class ValueMaker {
  readonly #texts = new TextMaker();
  readonly #made = new WeakMap<SchemaNode, Map<number, JsonValue[]>>();

  /**
   * Values that obey the node, the fullest first; together they fill what none of them can alone. None: there is no
   * way. Where values of a list or map must differ, they do for different indexes.
   */
  values(node: SchemaNode, index: number): JsonValue[] {
    const before = this.#made.get(node) ?? new Map<number, JsonValue[]>();
    this.#made.set(node, before);
    const made = before.get(index) ?? this.#make(node, index);
    before.set(index, made);
    return made;
  }

  #make(node: SchemaNode, index: number): JsonValue[] {
    if (isIntOrString(node)) return some(this.#intOrString(node, index));
    const found = new Map<string, JsonValue>();
    for (const way of waysOf(node)) {
      for (const value of this.#ofWay(node, way, index)) {
        if (found.size < MAX_VALUES && obeys(node, value)) found.set(textOf(value), value);
      }
    }
    return [...found.values()].sort((one, other) => sizeOf(other) - sizeOf(one));
  }

  #ofWay(node: SchemaNode, way: SchemaNode, index: number): JsonValue[] {
    const values = way['enum'];
    if (Array.isArray(values)) return some(enumFor(values, index));
    const type = typeof way['type'] === 'string' ? way['type'] : '';
    switch (type) {
      case 'array':
        return some(this.#list(way, index));
      case 'string':
        return some(this.#texts.text(way, index));
      case 'boolean':
        return [true, false].filter((value) => obeys(node, value)).slice(0, 1);
      case 'integer':
      case 'number':
        return some(numberFor(way, index));
      default:
        return type === '' && preservesUnknown(way) ? [anything(index)] : this.#objects(node, way, index);
    }
  }

  #intOrString(node: SchemaNode, index: number): JsonValue | undefined {
    if (typeof node['pattern'] === 'string') return this.#texts.text(node, index);
    return numberFor(node, index);
  }

  #objects(node: SchemaNode, way: SchemaNode, index: number): JsonObject[] {
    const members = propertiesOf(way)
      .map(([name, schema]) => [name, this.values(schema, index)] as const)
      .filter(([, values]) => values.length > 0);
    const count = Math.min(MAX_VALUES, Math.max(1, ...members.map(([, values]) => values.length)));
    const extra = this.#others(way, index);
    const names = members.map(([name]) => name);
    return choices(node, way, names).flatMap((absent) =>
      Array.from({ length: count }, (_, turn) => {
        const entries = members
          .filter(([name]) => !absent.has(name))
          .map(([name, values]): [string, JsonValue] => [name, values[turn % values.length] ?? null]);
        return Object.fromEntries([...extra, ...entries]);
      }),
    );
  }

  /** Entries that no property names: of a map, of an embedded object, or of an object that may hold anything. */
  #others(way: SchemaNode, index: number): [string, JsonValue][] {
    if (way['x-kubernetes-embedded-resource'] === true)
      return [
        ['apiVersion', 'v1'],
        ['kind', 'ConfigMap'],
        ['metadata', { name: `embedded-${index}` }],
      ];
    const rest = way['additionalProperties'];
    if (rest === true) return [['free', `value-${index}`]];
    if (!isJsonObject(rest)) return preservesUnknown(way) ? [['any', anything(index)]] : [];
    const most = numberAt(way, 'maxProperties') ?? MAX_VALUES;
    const wanted = Math.max(this.values(rest, 0).length, numberAt(way, 'minProperties') ?? 1);
    return Array.from({ length: Math.min(wanted, most) }, (_, turn): [string, JsonValue][] => {
      const values = this.values(rest, turn);
      const value = values[turn % values.length];
      return value === undefined ? [] : [[`key-${turn}`, value]];
    }).flat();
  }

  #list(way: SchemaNode, index: number): JsonValue[] | undefined {
    const items = nodeAt(way, 'items');
    if (items === undefined) return [];
    const least = numberAt(way, 'minItems') ?? 0;
    const most = Math.min(numberAt(way, 'maxItems') ?? Infinity, Math.max(MAX_VALUES, least));
    const wanted = Math.min(most, Math.max(least, this.values(items, index).length));
    const result: JsonValue[] = [];
    const seen = new Set<string>();
    for (let turn = 0; turn < wanted * 4 && result.length < wanted; turn++) {
      const values = this.values(items, index + turn);
      const value = values[turn % values.length];
      if (value === undefined) break;
      const identity = identityOf(way, value);
      if (identity !== undefined && seen.has(identity)) continue;
      if (identity !== undefined) seen.add(identity);
      result.push(value);
    }
    return result.length >= least ? result : undefined;
  }
}

function anything(index: number): JsonObject {
  return { kept: true, list: [index, 'two', { three: 3.5 }] };
}

function some(...values: readonly (JsonValue | undefined)[]): JsonValue[] {
  return values.filter((value) => value !== undefined);
}

function sizeOf(value: JsonValue): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item), 1);
  if (!isJsonObject(value)) return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + sizeOf(item ?? null), 1);
}
