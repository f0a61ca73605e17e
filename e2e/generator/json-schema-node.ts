import { isJsonObject, type JsonObject, type JsonValue } from '../../src/kube/json-value.js';

/** A node of a JSON schema as Kubernetes has it: OpenAPI v3, structural, with `x-kubernetes-*`. */
export type SchemaNode = JsonObject;

export function nodeAt(node: SchemaNode, keyword: string): SchemaNode | undefined {
  const value = Object.hasOwn(node, keyword) ? node[keyword] : undefined;
  return isJsonObject(value) ? value : undefined;
}

export function nodesAt(node: SchemaNode, keyword: string): SchemaNode[] {
  const value = node[keyword];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textsAt(node: SchemaNode, keyword: string): string[] {
  const value = node[keyword];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Names and schemas of `properties`, in the schema's order. */
export function propertiesOf(node: SchemaNode): [string, SchemaNode][] {
  return Object.entries(nodeAt(node, 'properties') ?? {}).filter((entry): entry is [string, SchemaNode] =>
    isJsonObject(entry[1]),
  );
}

export function numberAt(node: SchemaNode, keyword: string): number | undefined {
  const value = node[keyword];
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
}

export function isIntOrString(node: SchemaNode): boolean {
  return node['x-kubernetes-int-or-string'] === true;
}

export function preservesUnknown(node: SchemaNode): boolean {
  return node['x-kubernetes-preserve-unknown-fields'] === true;
}

/** What makes two items of a list the same one to the API server; undefined where lists may repeat themselves. */
export function identityOf(list: SchemaNode, item: JsonValue): string | undefined {
  if (list['x-kubernetes-list-type'] === 'set') return textOf(item);
  if (list['x-kubernetes-list-type'] !== 'map' || !isJsonObject(item)) return undefined;
  const defaults = nodeAt(nodeAt(list, 'items') ?? {}, 'properties') ?? {};
  return textsAt(list, 'x-kubernetes-list-map-keys')
    .map((key) => textOf(item[key] ?? nodeAt(defaults, key)?.['default'] ?? null))
    .join('/');
}

/** A text for a value, to compare values with. */
export function textOf(value: JsonValue): string {
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : inner));
}
