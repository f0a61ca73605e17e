import { isJsonObject, type JsonValue } from '../../src/kube/json-value.js';
import { nodeAt, propertiesOf, type SchemaNode } from './json-schema-node.js';

/** How much of a schema's leaves an object fills. */
export interface Fill {
  readonly leaves: number;
  readonly filled: number;
  /** Leaves that the object does not have, such as `.spec.items[].name`. */
  readonly missing: readonly string[];
}

/**
 * A leaf is a node without fields, items or entries of its own that the schema describes. Leaves below a list or a map
 * count once, whatever the number of items. apiVersion, kind and metadata are every object's, and count nowhere.
 */
export function fillOf(schema: SchemaNode, object: JsonValue): Fill {
  const leaves = new Set<string>();
  const filled = new Set<string>();
  for (const [name, node] of propertiesOf(schema)) {
    if (['apiVersion', 'kind', 'metadata'].includes(name)) continue;
    walk(node, isJsonObject(object) ? [object[name]] : [], { path: `.${name}`, leaves, filled });
  }
  return {
    leaves: leaves.size,
    filled: filled.size,
    missing: [...leaves].filter((leaf) => !filled.has(leaf)),
  };
}

interface Place {
  readonly path: string;
  readonly leaves: Set<string>;
  readonly filled: Set<string>;
}

/** @param values of the node wherever it is in the object */
function walk(node: SchemaNode, values: readonly (JsonValue | undefined)[], place: Place): void {
  const present = values.filter((value) => value !== undefined);
  const at = (path: string) => ({ ...place, path: place.path + path });
  const objects = present.filter(isJsonObject);
  const properties = propertiesOf(node);
  const items = nodeAt(node, 'items');
  const entries = nodeAt(node, 'additionalProperties');
  for (const [name, inner] of properties)
    walk(
      inner,
      objects.map((object) => (Object.hasOwn(object, name) ? object[name] : undefined)),
      at(`.${name}`),
    );
  if (items !== undefined) walk(items, present.filter((value) => Array.isArray(value)).flat(), at('[]'));
  if (entries !== undefined)
    walk(
      entries,
      objects.flatMap((object) => Object.values(object)),
      at('{}'),
    );
  if (properties.length > 0 || items !== undefined || entries !== undefined) return;
  place.leaves.add(place.path);
  if (present.length > 0) place.filled.add(place.path);
}
