import { CLEANUP_FINALIZER } from '../api/markers.js';
import type { Gvr } from '../api/gvr.js';
import { isObjectNotFound } from '../kube/errors.js';
import type { KubeObject } from '../kube/object.js';
import type { WorkspaceClient } from '../vw-client/virtual-workspace.js';

/** Thrown where an object lacks what kcp sets on every stored one. */
export class UnstoredObjectError extends Error {
  override readonly name = 'UnstoredObjectError';
}

/** Adds or takes off our finalizer; guarded, so that nobody else's finalizer is written over. */
export async function setFinalizer(
  workspace: WorkspaceClient,
  gvr: Gvr,
  object: KubeObject,
  present: boolean,
): Promise<void> {
  const { uid, resourceVersion, name, finalizers = [] } = object.metadata;
  if (uid === undefined) throw new UnstoredObjectError(`${gvr.resource} ${name} has no UID`);
  const others = finalizers.filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
  const wanted = present ? [...others, CLEANUP_FINALIZER] : others;
  const patch = { metadata: { finalizers: wanted } };
  try {
    await workspace.mergePatch(gvr, { name }, { uid, resourceVersion }, patch);
  } catch (error) {
    // Off and gone in one go: the object vanishes with its last finalizer.
    if (present || !isObjectNotFound(error)) throw error;
  }
}
