import { isJsonObject } from '../../kube/json-value.js';
import type { JsonValue } from '../../kube/json-value.js';
import { jsonEqual } from '../../kube/json.js';
import type { KubeObject } from '../../kube/object.js';
import { jsonDigest } from './canonical-json.js';
import { member } from './field-access.js';
import type { ObjectMemory } from './object-memory.js';
import { translateObservedGeneration } from './observed-generation.js';
import { classifyCopy } from './ownership.js';
import { sentGeneration } from './sent-generation.js';
import type { SyncContext } from './sync-context.js';
import { isPaused } from './user-annotations.js';

export interface DownInput {
  readonly consumer: KubeObject;
  readonly copy: KubeObject | undefined;
  /** The resource has a status subresource in the consumer's workspace. */
  readonly hasStatus: boolean;
  readonly context: SyncContext;
  readonly memory: ObjectMemory;
}

export type DownDecision =
  | { readonly kind: 'none' }
  /** PUT of `/status`; `meant` is the digest of the status in it, for `statusAccepted`. */
  | { readonly kind: 'putStatus'; readonly object: KubeObject; readonly meant: string };

const NONE: DownDecision = { kind: 'none' };

/**
 * What the consumer's status should become: the copy's whole `status`, or none where the copy has none. A
 * copy that is missing, or not proven ours, says nothing. Terminating objects on either side count as alive.
 */
export function decideDown({ consumer, copy, hasStatus, context, memory }: DownInput): DownDecision {
  if (!hasStatus || copy === undefined || isPaused(consumer, context.policies)) return NONE;
  const owner = classifyCopy(copy, { uid: consumer.metadata.uid ?? '' }, context.marks);
  if (owner.kind !== 'ours') return NONE;
  const current = member(consumer, 'status');
  const target = statusFor(copy, memory);
  if (jsonEqual(current, target)) return NONE;
  const meant = statusDigest(target);
  const accepted = memory.statusAccepted;
  if (accepted?.meant === meant && accepted.stored === statusDigest(current)) return NONE;
  const { name, namespace, uid, resourceVersion } = consumer.metadata;
  const object: KubeObject = {
    apiVersion: consumer.apiVersion,
    kind: consumer.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    ...(target !== undefined && { status: target }),
  };
  return { kind: 'putStatus', object, meant };
}

/** Digest of a status, absent ones included. */
export function statusDigest(status: JsonValue | undefined): string {
  return jsonDigest(status === undefined ? [] : [status]);
}

function statusFor(copy: KubeObject, memory: ObjectMemory): JsonValue | undefined {
  const status = member(copy, 'status');
  if (!isJsonObject(status)) return status;
  const sent = sentGeneration(copy);
  const { applied } = memory;
  const ofThisEdit = applied?.consumerGeneration === sent && applied.uid === (copy.metadata.uid ?? '');
  return translateObservedGeneration(status, {
    sent,
    // Without memory the copy's own generation is the safe side: maybe later than the edit, never earlier.
    copy: ofThisEdit ? applied.copyGeneration : (copy.metadata.generation ?? Number.MAX_SAFE_INTEGER),
  });
}
