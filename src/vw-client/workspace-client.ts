import { KCP_CLUSTER_ANNOTATION } from '../api/markers.js';
import type { KubeClient, RequestOptions } from '../kube/client.js';
import { ApiError, isStatus, ProtocolError } from '../kube/errors.js';
import type { Gvr, KubeObject, LogicalCluster, ObjectName } from '../kube/object.js';
import { guardedJsonPatch, guardedMergePatch } from './patch-guard.js';
import type { PatchGuard, WorkspaceClient } from './virtual-workspace.js';

/** Runs a request with a client for the workspace, wherever that is served. */
export type RunInWorkspace = <T>(use: (workspace: KubeClient) => Promise<T>) => Promise<T>;

/**
 * Client for one workspace. What it sends and what it gives back belongs to that workspace: an object whose
 * `kcp.io/cluster` names another one is neither sent (TypeError) nor taken (ProtocolError).
 */
export function createWorkspaceClient(cluster: LogicalCluster, run: RunInWorkspace): WorkspaceClient {
  const own = (object: KubeObject): KubeObject => {
    if (!isForeign(object, cluster)) return object;
    throw new ProtocolError(`the answer for workspace ${cluster} holds an object of another workspace`);
  };
  const mine = (object: KubeObject): KubeObject => {
    if (!isForeign(object, cluster)) return object;
    throw new TypeError(`an object of another workspace may not be written to workspace ${cluster}`);
  };
  return {
    cluster,
    get: async (gvr, target, options) => own(await run((client) => client.get(gvr, target, options))),
    list: async (gvr, options) => {
      const page = await run((client) => client.list(gvr, options));
      page.items.forEach(own);
      return page;
    },
    create: async (gvr, object, options) => {
      mine(object);
      return own(await run((client) => client.create(gvr, object, options)));
    },
    mergePatch: async (...[gvr, target, guard, patch, options]) => {
      const body = guardedMergePatch(guard, patch);
      return own(await run((client) => client.patch(gvr, target, 'merge', body, options)));
    },
    jsonPatch: async (...[gvr, target, guard, operations, options]) => {
      const body = guardedJsonPatch(guard, operations);
      return own(
        await run(async (client) => {
          try {
            return await client.patch(gvr, target, 'json', body, options);
          } catch (error) {
            throw isStatus(error, 422)
              ? await explain(client, { gvr, target, guard, error }, options)
              : error;
          }
        }),
      );
    },
    replaceStatus: async (gvr, object, options) => {
      mine(object);
      return own(await run((client) => client.replace(gvr, object, { ...options, subresource: 'status' })));
    },
    delete: async (gvr, target, options) => {
      const left = await run((client) => client.delete(gvr, target, options));
      return left && own(left);
    },
    discover: (path, options) => run((client) => client.raw('GET', path, undefined, options)),
  };
}

function isForeign(object: KubeObject, cluster: LogicalCluster): boolean {
  const annotated = object.metadata.annotations?.[KCP_CLUSTER_ANNOTATION];
  return annotated !== undefined && annotated !== cluster;
}

/**
 * The server answers 422 both to a `test` that does not hold and to a result that is invalid. Only a look
 * at the object tells which: when it is not the one that was meant, the refusal becomes a 409.
 */
async function explain(
  client: KubeClient,
  patch: { gvr: Gvr; target: ObjectName; guard: PatchGuard; error: ApiError },
  { signal, timeoutMs }: RequestOptions = {},
): Promise<unknown> {
  const { metadata } = await client.get(patch.gvr, patch.target, { signal, timeoutMs });
  const { uid, resourceVersion } = patch.guard;
  const holds =
    metadata.uid === uid && (resourceVersion === undefined || metadata.resourceVersion === resourceVersion);
  if (holds) return patch.error;
  return new ApiError({
    message: `${patch.gvr.resource} ${patch.target.name} is not in the state that the patch was made for`,
    status: 409,
    reason: 'Conflict',
    body: patch.error.body,
  });
}
