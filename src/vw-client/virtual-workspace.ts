import type { Gvr, KubeObject, LogicalCluster } from '../kube/object.js';
import type { ObjectStore } from '../kube/cache/object-store.js';
import type { JsonValue } from '../kube/json-value.js';
import type { KubeClient, ListOptions, RequestOptions } from '../kube/client.js';
import type { ObjectName, ObjectList } from '../kube/object.js';

/** Guards of a patch: kcp answers 409 when the object is another one, or another state of it, by now. */
export interface PatchGuard {
  readonly uid: string;
  readonly resourceVersion?: string | undefined;
}

/**
 * One workspace, seen through a virtual workspace. There is no apply here on purpose: kcp answers 200 to an
 * apply-patch but merges, so nothing is ever removed.
 */
export interface WorkspaceClient {
  readonly cluster: LogicalCluster;
  get(gvr: Gvr, target: ObjectName, options?: RequestOptions): Promise<KubeObject>;
  list(gvr: Gvr, options?: ListOptions): Promise<ObjectList>;
  create(gvr: Gvr, object: KubeObject, options?: RequestOptions): Promise<KubeObject>;
  /** JSON merge patch; the guard becomes `metadata.uid` and `metadata.resourceVersion` of the patch. */
  mergePatch(
    gvr: Gvr,
    target: ObjectName,
    guard: PatchGuard,
    patch: JsonValue,
    options?: RequestOptions & { subresource?: 'status' },
  ): Promise<KubeObject>;
  /** JSON Patch; the guard becomes leading `test` operations. */
  jsonPatch(
    gvr: Gvr,
    target: ObjectName,
    guard: PatchGuard,
    operations: JsonValue[],
    options?: RequestOptions & { subresource?: 'status' },
  ): Promise<KubeObject>;
  /** PUT of `/status`; metadata.resourceVersion must be there. */
  replaceStatus(gvr: Gvr, object: KubeObject, options?: RequestOptions): Promise<KubeObject>;
  delete(
    gvr: Gvr,
    target: ObjectName,
    options?: RequestOptions & { uid?: string },
  ): Promise<KubeObject | undefined>;
  /** GET of a path below the workspace, for discovery: `/apis/<group>/<version>`. */
  discover(path: string, options?: RequestOptions): Promise<JsonValue>;
}

/** An APIExport's virtual workspace on all shards. */
export interface VirtualWorkspace {
  /**
   * Lists and watches a resource in all bound workspaces on all URLs; one store for each resource, however
   * often it is asked for. A resource that is not served (claim not accepted anywhere, nobody bound yet)
   * is "not yet": it is tried again with back-off, and `synced` of its store stays false.
   */
  follow(gvr: Gvr, options?: { readonly labelSelector?: string }): ObjectStore;
  /**
   * Client for one workspace: by the URL on which the workspace was seen, else by trying each URL.
   * Rejects at use with ApiError(404) when no URL serves the workspace.
   */
  workspace(cluster: LogicalCluster): WorkspaceClient;
  /** URLs listed now; an empty list is normal while nobody is bound. */
  readonly urls: readonly string[];
  /** Calls back after the list of URLs changed. */
  onUrls(listener: (urls: readonly string[]) => void): () => void;
  close(): Promise<void>;
}

/** Gives a client for a virtual workspace's URL: another host, CA and credentials are possible. */
export type ConnectUrl = (url: string) => KubeClient;
