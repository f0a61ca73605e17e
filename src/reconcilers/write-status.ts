import type { Gvr } from '../api/gvr.js';
import { jsonEqual } from '../kube/json.js';
import type { JsonObject } from '../kube/json-value.js';
import type { KubeObject } from '../kube/object.js';
import type { WorkspaceClient } from '../vw-client/virtual-workspace.js';

/** True when `/status` has to be written to say `wanted`. */
export function statusDiffers(object: KubeObject, wanted: JsonObject): boolean {
  return !jsonEqual(object['status'] ?? {}, wanted);
}

/**
 * Replaces the whole status: a patch would leave what somebody else wrote there, and kcp merges applies.
 * Rejects with ApiError(409) when the object has changed since it was read.
 */
export async function writeStatus(
  workspace: WorkspaceClient,
  gvr: Gvr,
  object: KubeObject,
  wanted: JsonObject,
): Promise<void> {
  await workspace.replaceStatus(gvr, { ...object, status: wanted });
}
