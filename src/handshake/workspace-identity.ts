import { GVR } from '../api/gvr.js';
import { KCP_PATH_ANNOTATION } from '../api/markers.js';
import { ApiError } from '../kube/errors.js';
import type { WorkspaceClient } from '../vw-client/virtual-workspace.js';
import { PageProblem } from './problems.js';

/** Which workspace a login is for: the path for people, the UID for the identity given to the backend. */
export interface WorkspaceIdentity {
  readonly path: string;
  readonly uid: string;
}

/** Every workspace has one LogicalCluster of this name. */
const LOGICAL_CLUSTER = 'cluster';

/**
 * Reads the workspace's LogicalCluster live, which takes the claim `logicalclusters`.
 *
 * @throws PageProblem `handshake-unavailable` without the claim, `workspace-deleting`, `kcp-unavailable`
 */
export async function readWorkspace(workspace: WorkspaceClient): Promise<WorkspaceIdentity> {
  const { metadata } = await getLogicalCluster(workspace);
  if (metadata.deletionTimestamp !== undefined) throw new PageProblem('workspace-deleting');
  const path = metadata.annotations?.[KCP_PATH_ANNOTATION] ?? '';
  const uid = metadata.uid ?? '';
  if (path === '' || uid === '') throw new PageProblem('handshake-unavailable');
  return { path, uid };
}

async function getLogicalCluster(workspace: WorkspaceClient) {
  try {
    return await workspace.get(GVR.logicalClusters, { name: LOGICAL_CLUSTER });
  } catch (error) {
    // A claim that is not accepted looks like an API that is not served, or like a refusal.
    const refused = error instanceof ApiError && (error.status === 403 || error.status === 404);
    throw new PageProblem(refused ? 'handshake-unavailable' : 'kcp-unavailable', { cause: error });
  }
}
