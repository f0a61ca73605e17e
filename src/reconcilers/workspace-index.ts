import { BINDINGS, CONNECTIONS } from '../api/group.js';
import { GVR } from '../api/gvr.js';
import type { ObjectStore } from '../kube/cache/object-store.js';
import type { KubeObject, LogicalCluster } from '../kube/object.js';
import type { VirtualWorkspace } from '../vw-client/virtual-workspace.js';
import { readClaims } from './claims.js';
import type { ExportHome, WorkspaceClaims } from './claims.js';
import { bindingSpec, isDeleting } from './views.js';

/** The stores that follow all workspaces, and what is read from several of them at once. */
export class WorkspaceIndex {
  readonly connections: ObjectStore;
  readonly bindings: ObjectStore;
  readonly apiBindings: ObjectStore;
  readonly logicalClusters: ObjectStore;
  readonly #workspaces: VirtualWorkspace;
  readonly #home: ExportHome;
  readonly #clientExport: string;

  constructor(workspaces: VirtualWorkspace, home: ExportHome, clientExport: string) {
    this.#workspaces = workspaces;
    this.connections = workspaces.follow(CONNECTIONS);
    this.bindings = workspaces.follow(BINDINGS);
    this.apiBindings = workspaces.follow(GVR.apiBindings);
    this.logicalClusters = workspaces.follow(GVR.logicalClusters);
    this.#home = home;
    this.#clientExport = clientExport;
  }

  /** As far as the store shows; nothing is granted while the workspace's APIBinding was not seen yet. */
  claims(cluster: LogicalCluster): WorkspaceClaims {
    return readClaims(this.apiBindings.inCluster(cluster), this.#home, this.#clientExport);
  }

  /**
   * The same for decisions: where the store does not show the workspace's APIBinding to the client export (it
   * is filled shard by shard), it is asked for. Taking "not seen" for "not granted" would withdraw consent.
   */
  async claimsNow(cluster: LogicalCluster): Promise<WorkspaceClaims> {
    const cached = this.claims(cluster);
    if (cached.apiBinding !== undefined) return cached;
    const { items } = await this.#workspaces.workspace(cluster).list(GVR.apiBindings);
    return readClaims(items, this.#home, this.#clientExport);
  }

  /** Its LogicalCluster has a deletionTimestamp: the earliest sign, where the claim lets us see it. */
  isDying(cluster: LogicalCluster): boolean {
    for (const object of this.logicalClusters.inCluster(cluster)) if (isDeleting(object)) return true;
    return false;
  }

  /** Bindings of a connection, the oldest first. */
  bindingsOf(cluster: LogicalCluster, connection: string): KubeObject[] {
    const found: KubeObject[] = [];
    for (const object of this.bindings.inCluster(cluster)) {
      if (bindingSpec(object).connection === connection) found.push(object);
    }
    return found.sort(byAge);
  }

  /** The binding that beats for a connection: the oldest that is not being deleted. */
  beating(cluster: LogicalCluster, connection: string): KubeObject | undefined {
    return this.bindingsOf(cluster, connection).find((object) => !isDeleting(object));
  }
}

function byAge(a: KubeObject, b: KubeObject): number {
  const [x, y] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ''} ${metadata.uid ?? ''}`);
  return (x ?? '') < (y ?? '') ? -1 : 1;
}
