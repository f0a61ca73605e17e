import { DELETION_POLICY_ANNOTATION, PAUSED_ANNOTATION } from '../../api/markers.js';
import type { KubeObject } from '../../kube/object.js';
import { member } from './field-access.js';
import type { SyncPolicies } from './sync-context.js';

/** True where the binding or the object's own annotation says so. A binding that leaves pauses nothing. */
export function isPaused(consumer: KubeObject, policies: SyncPolicies): boolean {
  if (policies.draining) return false;
  return policies.paused || member(consumer.metadata.annotations, PAUSED_ANNOTATION) === 'true';
}

/** What becomes of the copy: the object's annotation counts more than the binding's policy. */
export function deletionPolicyOf(consumer: KubeObject, policies: SyncPolicies): 'Delete' | 'Orphan' {
  const own = member(consumer.metadata.annotations, DELETION_POLICY_ANNOTATION);
  return own === 'Orphan' || own === 'Delete' ? own : policies.deletion;
}
