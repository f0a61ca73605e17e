import { GVR } from '../api/gvr.js';
import type { BackoffOptions } from '../kube/backoff.js';
import { followResource } from '../kube/cache/follow-resource.js';
import type { ObjectStore } from '../kube/cache/object-store.js';
import { runReflector } from '../kube/cache/reflector.js';
import type { ReflectorEvent, ReflectorLimits } from '../kube/cache/reflector.js';
import { ResourceStore } from '../kube/cache/store.js';
import type { Refusal, StoreCapacity } from '../kube/cache/store.js';
import { Wake } from '../kube/cache/wake.js';
import type { KubeClient } from '../kube/client.js';
import type { Clock } from '../kube/clock.js';
import { isLogicalCluster } from '../kube/logical-cluster.js';
import type { Gvr, KubeObject, LogicalCluster } from '../kube/object.js';
import { EndpointSet } from './endpoint-set.js';
import type { Endpoint } from './endpoint-set.js';
import { urlsOfSlice } from './slice-urls.js';
import type { ConnectUrl, VirtualWorkspace, WorkspaceClient } from './virtual-workspace.js';
import { createWorkspaceClient } from './workspace-client.js';
import { WorkspaceRouter } from './workspace-router.js';

export interface OpenVirtualWorkspaceOptions {
  /** The workspace with the APIExport and its APIExportEndpointSlice. Not closed by `close`. */
  readonly clientWorkspace: KubeClient;
  /** Name of the APIExport, and of the slice that kcp makes for it. */
  readonly exportName: string;
  /** Makes a client for a URL; called again later where it throws. Its clients are closed here. */
  readonly connect: ConnectUrl;
  /** Rewrites listed URLs to ones that can be reached from here. */
  readonly urlMap?: ((url: string) => string) | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  /** Closes. */
  readonly signal: AbortSignal;
  /** For log and metrics; what it throws is ignored. */
  readonly onEvent?: ((event: VirtualWorkspaceEvent) => void) | undefined;
  readonly limits?: Partial<ReflectorLimits> | undefined;
  /** Of each resource's store. */
  readonly capacity?: Partial<StoreCapacity> | undefined;
  /** Applied to each object before it is stored. */
  readonly transform?: ((object: KubeObject) => KubeObject) | undefined;
  /** Milliseconds for which a URL that is no longer listed is still used. Default 30 s. */
  readonly lingerMs?: number | undefined;
}

export type VirtualWorkspaceEvent =
  | { readonly type: 'urls'; readonly urls: readonly string[] }
  | { readonly type: 'connect-failed'; readonly url: string; readonly error: unknown }
  /** Of the reflector of one resource on one URL, or of the slice (then without URL). */
  | { readonly type: 'reflector'; readonly gvr: Gvr; readonly url?: string; readonly event: ReflectorEvent }
  | { readonly type: 'refused'; readonly gvr: Gvr; readonly refusal: Refusal }
  | { readonly type: 'listener-failed'; readonly error: unknown };

/** Key of the slice in its own store; no workspace has that name. */
const SLICES = 'client-workspace' as LogicalCluster;

/**
 * "Not yet" (404, 403) is asked again every 5 s at most for about two minutes, so that a new binding or a
 * newly accepted claim is served soon, then more and more seldom up to every 30 s.
 */
function notServedBackoff(attempt: number): BackoffOptions {
  return attempt < 30
    ? { baseMs: 500, maxMs: 5000 }
    : { baseMs: 500, maxMs: Math.min(30_000, 500 * (attempt - 20)) };
}

/**
 * Opens an APIExport's virtual workspace and follows its URLs. While the slice is missing, cannot be read or
 * lists nothing, this waits; nothing is dropped for it. A missing slice leaves the URLs of the last one in
 * use, since they do not depend on it.
 */
export function openVirtualWorkspace(options: OpenVirtualWorkspaceOptions): VirtualWorkspace {
  return new OpenedVirtualWorkspace(options);
}

interface Followed {
  readonly gvr: Gvr;
  readonly labelSelector: string | undefined;
  readonly store: ResourceStore;
}

class OpenedVirtualWorkspace implements VirtualWorkspace {
  readonly #options: OpenVirtualWorkspaceOptions;
  readonly #endpoints: EndpointSet;
  readonly #router: WorkspaceRouter;
  readonly #followed = new Map<string, Followed>();
  readonly #urlListeners = new Set<(urls: readonly string[]) => void>();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #wake = new Wake();
  #urls: readonly string[] = [];
  #closed: Promise<void> | undefined;

  constructor(options: OpenVirtualWorkspaceOptions) {
    this.#options = options;
    const { connect, clock, random, exportName, lingerMs = 30_000 } = options;
    this.#endpoints = new EndpointSet({
      connect,
      clock,
      random,
      lingerMs,
      onAdded: (endpoint) => this.#followed.forEach((followed) => this.#reflect(followed, endpoint)),
      onRemoved: ({ url }) => this.#followed.forEach(({ store }) => store.removeSource(url)),
      onConnectFailed: (url, error) => this.#tell({ type: 'connect-failed', url, error }),
    });
    this.#router = new WorkspaceRouter({
      exportName,
      clock,
      endpoints: () => this.#endpoints.all,
      seenOn: (cluster) => this.#seenOn(cluster),
    });
    const close = (): void => void this.close();
    options.signal.addEventListener('abort', close, { once: true });
    this.#stop.signal.addEventListener('abort', () => options.signal.removeEventListener('abort', close));
    if (options.signal.aborted) close();
    else this.#followSlice();
  }

  get urls(): readonly string[] {
    return this.#urls;
  }

  onUrls(listener: (urls: readonly string[]) => void): () => void {
    const own = (urls: readonly string[]): void => listener(urls);
    this.#urlListeners.add(own);
    return () => void this.#urlListeners.delete(own);
  }

  follow(gvr: Gvr, { labelSelector }: { readonly labelSelector?: string } = {}): ObjectStore {
    const key = JSON.stringify([gvr.group, gvr.version, gvr.resource, labelSelector ?? '']);
    const known = this.#followed.get(key);
    if (known !== undefined) return known.store;
    const { transform, capacity } = this.#options;
    const store = new ResourceStore({
      ...(transform === undefined ? {} : { transform }),
      ...(capacity === undefined ? {} : { capacity }),
      onRefused: (refusal) => this.#tell({ type: 'refused', gvr, refusal }),
      onListenerError: (error) => this.#tell({ type: 'listener-failed', error }),
    });
    const followed = { gvr, labelSelector, store };
    this.#followed.set(key, followed);
    for (const endpoint of this.#endpoints.all) this.#reflect(followed, endpoint);
    return store;
  }

  workspace(cluster: LogicalCluster): WorkspaceClient {
    // The type says so, but the name becomes part of a path: a workspace path here would reach elsewhere.
    if (!isLogicalCluster(cluster))
      throw new TypeError(`${JSON.stringify(cluster)} is not the name of a logical cluster`);
    return createWorkspaceClient(cluster, (use) => this.#router.run(cluster, use));
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stop.abort();
    await this.#endpoints.close();
    await Promise.all(this.#running);
  }

  #followSlice(): void {
    const { clientWorkspace, exportName, clock, random, limits } = this.#options;
    const gvr = GVR.apiExportEndpointSlices;
    const { store, stopped } = followResource({
      client: clientWorkspace,
      gvr,
      cluster: SLICES,
      fieldSelector: `metadata.name=${exportName}`,
      clock,
      random,
      signal: this.#stop.signal,
      limits: { notServedBackoff, ...limits },
      onEvent: (event) => this.#tell({ type: 'reflector', gvr, event }),
      onListenerError: (error) => this.#tell({ type: 'listener-failed', error }),
    });
    store.subscribe((change) => {
      if (change.type === 'set' && change.key.name === exportName) this.#applySlice(change.object);
    });
    this.#track(stopped);
  }

  #applySlice(slice: KubeObject): void {
    if (this.#stop.signal.aborted) return;
    const urls = urlsOfSlice(slice, this.#options.urlMap);
    const changed = urls.length !== this.#urls.length || urls.some((url) => !this.#urls.includes(url));
    this.#urls = urls;
    this.#endpoints.setListed(urls);
    this.#wake.wake();
    if (!changed) return;
    this.#tell({ type: 'urls', urls });
    for (const listener of this.#urlListeners) {
      try {
        listener(urls);
      } catch (error) {
        this.#tell({ type: 'listener-failed', error });
      }
    }
  }

  #reflect({ gvr, labelSelector, store }: Followed, endpoint: Endpoint): void {
    const { clock, random, limits } = this.#options;
    const sink = store.source(endpoint.url, { kind: 'annotated' });
    const run = async (): Promise<void> => {
      const client = await endpoint.connected;
      if (client === undefined) return;
      await runReflector({
        client: client.at('/clusters/*'),
        gvr,
        labelSelector,
        sink,
        clock,
        random,
        signal: endpoint.removed,
        wake: this.#wake,
        limits: { notServedBackoff, ...limits },
        onEvent: (event) => this.#tell({ type: 'reflector', gvr, url: endpoint.url, event }),
      });
    };
    this.#track(run());
  }

  #track(run: Promise<void>): void {
    const tracked = run
      .catch((error: unknown) => this.#tell({ type: 'listener-failed', error }))
      .finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  #seenOn(cluster: LogicalCluster): string | undefined {
    for (const { store } of this.#followed.values()) {
      const url = store.sourceOf(cluster);
      if (url !== undefined) return url;
    }
    return undefined;
  }

  #tell(event: VirtualWorkspaceEvent): void {
    try {
      this.#options.onEvent?.(event);
    } catch {
      // A broken metric or log must end nothing, and there is nowhere left to tell.
    }
  }
}
