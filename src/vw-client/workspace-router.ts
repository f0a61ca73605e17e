import { GVR } from '../api/gvr.js';
import { KCP_CLUSTER_ANNOTATION } from '../api/markers.js';
import type { KubeClient } from '../kube/client.js';
import type { Clock } from '../kube/clock.js';
import { ApiError, isObjectNotFound, isStatus } from '../kube/errors.js';
import type { LogicalCluster } from '../kube/object.js';
import type { Endpoint } from './endpoint-set.js';

export interface WorkspaceRouterOptions {
  /** For messages. */
  readonly exportName: string;
  /** URLs in use. */
  readonly endpoints: () => readonly Endpoint[];
  /** URL on which objects of the workspace are seen now. */
  readonly seenOn: (cluster: LogicalCluster) => string | undefined;
  readonly clock: Clock;
}

/** Workspaces whose URL is remembered; the longest unused one is forgotten first. */
const MAX_REMEMBERED = 20_000;
/** Milliseconds for asking one URL whether it serves a workspace. */
const PROBE_TIMEOUT_MS = 10_000;
/** Milliseconds in which a URL that was found is not doubted again. */
const TRUST_MS = 10_000;

/**
 * Finds the URL (the shard) that serves a workspace.
 *
 * A request for a workspace never goes to a URL that has not proven to serve it, unless there is only one:
 * another shard may answer with an empty success, or create an object nobody will ever see. The proof is
 * an APIBinding to our export, which every bound workspace shows on its own shard and on no other.
 */
export class WorkspaceRouter {
  readonly #options: WorkspaceRouterOptions;
  readonly #homes = new Map<LogicalCluster, { readonly url: string; readonly foundAt: number }>();
  readonly #searches = new Map<LogicalCluster, Promise<Endpoint | undefined>>();

  constructor(options: WorkspaceRouterOptions) {
    this.#options = options;
  }

  /**
   * Runs `use` with a client for the workspace. After a 403, or a 404 that does not name the object, the
   * workspace is looked for on all URLs, and `use` runs once more where it has moved.
   *
   * @throws ApiError(404, reason `WorkspaceNotServed`) when every URL says that it does not serve it; this
   * is not the absence of an object
   */
  async run<T>(cluster: LogicalCluster, use: (workspace: KubeClient) => Promise<T>): Promise<T> {
    const home = this.#home(cluster) ?? (await this.#search(cluster));
    if (home?.client === undefined) throw this.#notServed(cluster);
    try {
      return await use(workspaceOn(home.client, cluster));
    } catch (error) {
      const other = this.#mayHaveMoved(cluster, error) ? await this.#search(cluster) : undefined;
      if (other?.client === undefined || other === home) throw error;
      return use(workspaceOn(other.client, cluster));
    }
  }

  #home(cluster: LogicalCluster): Endpoint | undefined {
    const usable = this.#usable();
    if (usable.length === 1) return usable[0];
    const remembered = this.#homes.get(cluster)?.url;
    const seen = this.#options.seenOn(cluster);
    return usable.find(({ url }) => url === remembered) ?? usable.find(({ url }) => url === seen);
  }

  #usable(): Endpoint[] {
    return this.#options.endpoints().filter(({ client }) => client !== undefined);
  }

  #mayHaveMoved(cluster: LogicalCluster, error: unknown): boolean {
    if (!isStatus(error, 403) && !(isStatus(error, 404) && !isObjectNotFound(error))) return false;
    if (this.#usable().length < 2) return false;
    const foundAt = this.#homes.get(cluster)?.foundAt ?? Number.NEGATIVE_INFINITY;
    return this.#options.clock.now() - foundAt > TRUST_MS;
  }

  /** Asks all URLs at once; callers who search for the same workspace share one search. */
  #search(cluster: LogicalCluster): Promise<Endpoint | undefined> {
    const running = this.#searches.get(cluster);
    if (running !== undefined) return running;
    const search = this.#askAll(cluster).finally(() => this.#searches.delete(cluster));
    this.#searches.set(cluster, search);
    return search;
  }

  async #askAll(cluster: LogicalCluster): Promise<Endpoint | undefined> {
    const failures: unknown[] = [];
    const asked = this.#usable().map(async (endpoint) => {
      const serves = await servesWorkspace(endpoint, cluster).catch((error: unknown) => {
        failures.push(error);
        return false;
      });
      if (!serves) throw new Error(`${endpoint.url} does not serve ${cluster}`);
      return endpoint;
    });
    // One shard that does not answer must not hold up a workspace of another.
    const found = await Promise.any(asked).catch(() => undefined);
    if (found !== undefined) this.#remember(cluster, found.url);
    // "No" from some and silence from others is not a "no".
    else if (failures.length > 0) throw failures[0];
    return found;
  }

  #remember(cluster: LogicalCluster, url: string): void {
    this.#homes.delete(cluster);
    this.#homes.set(cluster, { url, foundAt: this.#options.clock.now() });
    const [oldest] = this.#homes.keys();
    if (this.#homes.size > MAX_REMEMBERED && oldest !== undefined) this.#homes.delete(oldest);
  }

  #notServed(cluster: LogicalCluster): ApiError {
    return new ApiError({
      message:
        `workspace ${cluster} is not served by the virtual workspace of APIExport ${this.#options.exportName}: ` +
        'no listed URL shows an APIBinding in it',
      status: 404,
      reason: 'WorkspaceNotServed',
    });
  }
}

function workspaceOn(client: KubeClient, cluster: LogicalCluster): KubeClient {
  return client.at(`/clusters/${cluster}`);
}

async function servesWorkspace({ client }: Endpoint, cluster: LogicalCluster): Promise<boolean> {
  if (client === undefined) return false;
  try {
    const { items } = await workspaceOn(client, cluster).list(GVR.apiBindings, {
      limit: 1,
      timeoutMs: PROBE_TIMEOUT_MS,
    });
    return items.some(({ metadata }) => metadata.annotations?.[KCP_CLUSTER_ANNOTATION] === cluster);
  } catch (error) {
    if (isStatus(error, 403) || isStatus(error, 404)) return false;
    throw error;
  }
}
