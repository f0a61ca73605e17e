import {
  BINDING_ANNOTATION,
  BINDING_UID_LABEL,
  CLUSTER_LABEL,
  CONSUMER_GENERATION_ANNOTATION,
  DELETION_POLICY_ANNOTATION,
  DESIRED_HASH_ANNOTATION,
  EMPTY_LISTS_ANNOTATION,
  KUBE_BIND,
} from '../../api/markers.js';
import type { JsonObject, JsonValue } from '../../kube/json-value.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { KubeObject, ObjectName } from '../../kube/object.js';
import { isBookkeepingKey } from './bookkeeping-keys.js';
import { jsonDigest } from './canonical-json.js';
import { noteOfEmptyLists } from './empty-lists.js';
import { withoutPaths } from './field-access.js';
import type { JsonPath } from './json-pointer.js';
import { ownDeletionPolicy } from './user-annotations.js';

/** Whose copies these are. */
export interface CopyMarks {
  /** Logical cluster of the consumer's workspace. */
  readonly cluster: string;
  readonly contractNamespace: string;
  readonly bindingUid: string;
  readonly bindingName: string;
}

export interface DesiredCopy {
  /** Body of a server-side apply. Shares parts with the consumer's object: never change it. */
  readonly object: KubeObject;
  /** Value of the desired-hash annotation in it. */
  readonly hash: string;
  /** Its value if no field were left out. */
  readonly wholeHash: string;
}

/** Top-level fields that are never sent: identity is mapped, and the status belongs to the provider. */
const NOT_SENT = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/**
 * What the provider's copy of a consumer's object should be: every top-level field but `status`, labels and
 * annotations but bookkeeping, and the marks that prove ownership. No UID, resourceVersion, generation,
 * managedFields, ownerReferences (they name objects of another server), finalizers or generateName.
 *
 * @param unsent fields that the provider's schema does not know; they are left out
 */
export function desiredCopy(
  consumer: KubeObject,
  target: ObjectName,
  marks: CopyMarks,
  unsent: readonly JsonPath[] = [],
): DesiredCopy {
  const payload = withoutPaths(payloadOf(consumer), unsent);
  const annotations: Record<string, string> = {
    ...travellingKeys(consumer.metadata.annotations),
    [KUBE_BIND.clusterNamespace]: marks.contractNamespace,
    [KUBE_BIND.consumerNamespace]: consumer.metadata.namespace ?? '',
    [KUBE_BIND.consumerUid]: consumer.metadata.uid ?? '',
    [CLUSTER_LABEL]: marks.cluster,
    [BINDING_ANNOTATION]: marks.bindingName,
    [CONSUMER_GENERATION_ANNOTATION]: String(consumer.metadata.generation ?? 0),
  };
  const emptyLists = noteOfEmptyLists(payload);
  if (emptyLists !== undefined) annotations[EMPTY_LISTS_ANNOTATION] = emptyLists;
  // Where the object vanishes without being seen in deletion, nothing else tells what its user wanted.
  const policy = ownDeletionPolicy(consumer);
  if (policy !== undefined) annotations[DELETION_POLICY_ANNOTATION] = policy;
  const object: KubeObject = {
    ...payload,
    apiVersion: consumer.apiVersion,
    kind: consumer.kind,
    metadata: {
      name: target.name,
      ...(target.namespace !== undefined && { namespace: target.namespace }),
      labels: { ...travellingKeys(consumer.metadata.labels), [BINDING_UID_LABEL]: marks.bindingUid },
      annotations,
    },
  };
  // Not the version: a binding that moves to another one rewrites nothing.
  const hash = jsonDigest({ ...object, apiVersion: undefined });
  const marked = { ...annotations, [DESIRED_HASH_ANNOTATION]: hash };
  return {
    object: { ...object, metadata: { ...object.metadata, annotations: marked } },
    hash,
    wholeHash: hash,
  };
}

/** The fields of an object that the consumer decides. */
export function payloadOf(object: KubeObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([key, value]) => value !== undefined && !NOT_SENT.has(key)),
  );
}

/** Labels or annotations without bookkeeping; values that are no strings cannot be sent. */
export function travellingKeys(map: JsonValue | undefined): Record<string, string> {
  if (!isJsonObject(map)) return {};
  const entries: [string, string][] = [];
  for (const [key, value] of Object.entries(map))
    if (typeof value === 'string' && !isBookkeepingKey(key)) entries.push([key, value]);
  return Object.fromEntries(entries);
}
