import { DELETION_POLICY_ANNOTATION, PAUSED_ANNOTATION } from '../../api/markers.js';
import type { KubeObject } from '../../kube/object.js';
import { member } from './field-access.js';
import type { SyncPolicies } from './sync-context.js';

/** True where the binding or the object's own annotation says so. A binding that leaves pauses nothing. */
export function isPaused(consumer: KubeObject, policies: SyncPolicies): boolean {
  if (policies.draining) return false;
  return policies.paused || member(consumer.metadata.annotations, PAUSED_ANNOTATION) === 'true';
}

/** What an object says about its copy itself; a copy carries the same note. Undefined for anything else. */
export function ownDeletionPolicy(object: KubeObject): 'Delete' | 'Orphan' | undefined {
  const own = member(object.metadata.annotations, DELETION_POLICY_ANNOTATION);
  return own === 'Orphan' || own === 'Delete' ? own : undefined;
}

/**
 * What becomes of the copy: the object's annotation counts more than the binding's policy.
 *
 * @param object the consumer's, or the copy where that one is not there any more
 */
export function deletionPolicyOf(object: KubeObject, policies: SyncPolicies): 'Delete' | 'Orphan' {
  return ownDeletionPolicy(object) ?? policies.deletion;
}
