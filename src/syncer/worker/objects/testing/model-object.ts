import { KCP_CLUSTER_ANNOTATION } from '../../../../api/markers.js';
import { isJsonObject } from '../../../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../../../kube/json-value.js';
import { jsonEqual } from '../../../../kube/json.js';
import type { KubeObject, ObjectMeta, ObjectName } from '../../../../kube/object.js';
import { unknownFields } from '../../../engine/testing/model-apply.js';
import { applyJsonPatch } from './model-json-patch.js';
import { METADATA, schemaOf } from '../../../engine/testing/model-schema.js';
import type { ModelSchema } from '../../../engine/testing/model-schema.js';

export function nameOf({ namespace, name }: ObjectName): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Metadata of an object that is no more than named. */
export function nameMetadata({ namespace, name }: ObjectName): ObjectMeta {
  return namespace === undefined ? { name } : { name, namespace };
}

/** True where a list or watch with these parameters shows the object. */
export function selected(
  object: KubeObject,
  namespace: string | undefined,
  labelSelector: string | undefined,
): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  if (labelSelector === undefined) return true;
  const [key = '', value] = labelSelector.split('=');
  return object.metadata.labels?.[key] === value;
}

/** The fields that count for the generation. */
export function payload(object: KubeObject): JsonObject {
  return without(object, ['metadata', 'status']);
}

/** The part that managers can own. */
export function ownable(object: KubeObject): JsonObject {
  const rest = without(object, ['apiVersion', 'kind', 'metadata', 'status']);
  const { labels = {}, annotations = {} } = object.metadata;
  const metadata: JsonObject = {};
  if (Object.keys(labels).length > 0) metadata['labels'] = labels;
  const own = without(annotations, [KCP_CLUSTER_ANNOTATION]);
  if (Object.keys(own).length > 0) metadata['annotations'] = own;
  return Object.keys(metadata).length > 0 ? { ...rest, metadata } : rest;
}

/** The schema of the part that managers can own. */
export function ownableSchema(schema: ModelSchema): ModelSchema {
  if (schema.kind !== 'struct') return schema;
  const fields = Object.entries(schema.fields).filter(([key]) => key !== 'status');
  return { kind: 'struct', fields: { ...Object.fromEntries(fields), metadata: METADATA } };
}

/** An object with another ownable part. */
export function withOwnable(base: KubeObject, owned: JsonObject): KubeObject {
  const metadata: ObjectMeta = { ...base.metadata };
  delete metadata.labels;
  delete metadata.annotations;
  const ownedMetadata = owned['metadata'];
  const merged: ObjectMeta = { ...metadata, ...(isJsonObject(ownedMetadata) ? ownedMetadata : {}) };
  const status = base['status'];
  return {
    ...without(owned, ['metadata']),
    apiVersion: base.apiVersion,
    kind: base.kind,
    metadata: merged,
    ...(status !== undefined && { status }),
  };
}

/** Without what the schema does not know, as creates, updates and JSON patches are stored. */
export function pruned(object: KubeObject, schema: ModelSchema): KubeObject {
  let result: JsonValue = object;
  const own = without(object, ['apiVersion', 'kind', 'metadata', 'status']);
  for (const path of unknownFields(own, schema)) {
    const pointer = path.replaceAll(/\[(\d+)\]/g, '.$1').replaceAll('.', '/');
    result = applyJsonPatch(result, [{ op: 'remove', path: pointer }]);
  }
  return result as KubeObject;
}

export function withDefaults(object: KubeObject, schema: ModelSchema): KubeObject {
  const walk = (value: JsonValue, at: ModelSchema): JsonValue => {
    if (!isJsonObject(value) || at.kind !== 'struct') return value;
    const next: JsonObject = { ...value };
    for (const [key, below] of Object.entries(at.fields)) {
      const child = next[key];
      if (child === undefined && below.kind === 'scalar' && below.default !== undefined)
        next[key] = below.default;
      else if (child !== undefined && schemaOf(at, key) !== undefined) next[key] = walk(child, below);
    }
    return next;
  };
  return walk(object, schema) as KubeObject;
}

function without(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** Metadata as a server stores it: uid and generation are its own business, empty maps are left out. */
export function storedMetadata(
  next: KubeObject,
  old: KubeObject | undefined,
  identity: () => { readonly uid: string; readonly cluster: string | undefined },
): ObjectMeta {
  const former = old?.metadata ?? { ...identity(), generation: 1, resourceVersion: '' };
  const { uid = '', generation = 1, resourceVersion = '' } = former;
  const cluster = old === undefined ? identity().cluster : old.metadata.annotations?.[KCP_CLUSTER_ANNOTATION];
  const changed = old !== undefined && !jsonEqual(payload(old), payload(next));
  const metadata: ObjectMeta = {
    ...next.metadata,
    annotations: {
      ...next.metadata.annotations,
      ...(cluster !== undefined && { [KCP_CLUSTER_ANNOTATION]: cluster }),
    },
    uid,
    generation: changed ? generation + 1 : generation,
    resourceVersion,
  };
  delete metadata.managedFields;
  if (isEmpty(metadata.labels)) delete metadata.labels;
  if (isEmpty(metadata.annotations)) delete metadata.annotations;
  if (isEmpty(metadata.finalizers)) delete metadata.finalizers;
  return metadata;
}

function isEmpty(container: object | undefined): boolean {
  return container === undefined || Object.keys(container).length === 0;
}
