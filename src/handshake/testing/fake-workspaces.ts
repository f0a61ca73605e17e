import { BINDINGS, CONNECTIONS, GROUP, VERSION } from '../../api/group.js';
import { GVR } from '../../api/gvr.js';
import { ApiError } from '../../kube/errors.js';
import type { KubeObject, LogicalCluster } from '../../kube/object.js';
import { memoryKube } from '../../state/testing/memory-kube-client.js';
import type { MemoryKube } from '../../state/testing/memory-kube-client.js';
import type { VirtualWorkspace, WorkspaceClient } from '../../vw-client/virtual-workspace.js';

/** Workspaces in memory, as the client export's virtual workspace shows them. */
export interface FakeWorkspaces {
  readonly virtual: VirtualWorkspace;
  /** Objects and calls of one workspace. */
  at(cluster: LogicalCluster): MemoryKube;
}

export function fakeWorkspaces(): FakeWorkspaces {
  const clusters = new Map<LogicalCluster, MemoryKube>();
  const at = (cluster: LogicalCluster): MemoryKube => {
    let kube = clusters.get(cluster);
    if (kube === undefined) clusters.set(cluster, (kube = memoryKube()));
    return kube;
  };
  const virtual = {
    workspace: (cluster: LogicalCluster) => workspaceClient(cluster, at(cluster)),
    urls: [],
    onUrls: () => () => undefined,
    close: async () => undefined,
    follow: () => {
      throw new Error('not in this fake');
    },
  } satisfies VirtualWorkspace;
  return { virtual, at };
}

function workspaceClient(cluster: LogicalCluster, { client }: MemoryKube): WorkspaceClient {
  const missing = () => Promise.reject(new Error('not in this fake'));
  return {
    cluster,
    get: (gvr, target, options) => client.get(gvr, target, options),
    list: (gvr, options) => client.list(gvr, options),
    create: (gvr, object, options) => client.create(gvr, object, options),
    mergePatch: missing,
    jsonPatch: missing,
    replaceStatus: missing,
    delete: missing,
    discover: missing,
  };
}

/** A workspace with its path, and the claim to read it. */
export async function addWorkspace(kube: MemoryKube, path: string): Promise<void> {
  await kube.client.create(GVR.logicalClusters, {
    apiVersion: 'core.kcp.io/v1alpha1',
    kind: 'LogicalCluster',
    metadata: { name: 'cluster', uid: `uid-of-${path}`, annotations: { 'kcp.io/path': path } },
  });
}

export async function addConnection(
  kube: MemoryKube,
  connection: { readonly name: string; readonly uid: string; readonly spec: Record<string, unknown> },
): Promise<KubeObject> {
  const object = {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: 'KubeBindConnection',
    metadata: { name: connection.name, uid: connection.uid },
    spec: connection.spec,
  } as KubeObject;
  return kube.client.create(CONNECTIONS, object);
}

/** The stored object itself, to change it. */
export function stored(kube: MemoryKube, resource: string, name: string): KubeObject {
  const object = kube.objects.get(`${resource} /${name}`);
  if (object === undefined) throw new Error(`no ${resource} ${name}`);
  return object;
}

export function bindingNames(kube: MemoryKube): readonly string[] {
  return [...kube.objects.keys()]
    .filter((key) => key.startsWith(`${BINDINGS.resource} `))
    .map((key) => key.split('/')[1] ?? '');
}

/** What kcp answers for a claimed API without the claim. */
export function claimMissing(): ApiError {
  return new ApiError({
    message: 'the server could not find the requested resource',
    status: 404,
    reason: 'NotFound',
  });
}
