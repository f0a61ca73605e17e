import { backoffMs } from '../kube/backoff.js';
import type { KubeClient } from '../kube/client.js';
import type { Clock } from '../kube/clock.js';
import type { ConnectUrl } from './virtual-workspace.js';

/** One URL of a virtual workspace, from when it is listed until a while after it no longer is. */
export interface Endpoint {
  readonly url: string;
  /** False in the time between vanishing from the list and removal. */
  readonly listed: boolean;
  /** Undefined until a client could be made. */
  readonly client: KubeClient | undefined;
  /** Resolves with the client, or with undefined where the URL is removed before there is one. */
  readonly connected: Promise<KubeClient | undefined>;
  /** Aborted when the URL is removed. */
  readonly removed: AbortSignal;
}

export interface EndpointSetOptions {
  readonly connect: ConnectUrl;
  readonly clock: Clock;
  readonly random: () => number;
  /**
   * Milliseconds for which a URL is still used after it vanished from the list: long enough for the last
   * events of workspaces that have just unbound, and for a list that is wrong for a moment.
   */
  readonly lingerMs: number;
  readonly onAdded: (endpoint: Endpoint) => void;
  readonly onRemoved: (endpoint: Endpoint) => void;
  /** `connect` threw; it is called again later. */
  readonly onConnectFailed: (url: string, error: unknown) => void;
}

const RECONNECT = { baseMs: 500, maxMs: 30_000 };

/** The URLs in use, each with one client. A URL with another host or path is another URL. */
export class EndpointSet {
  readonly #options: EndpointSetOptions;
  readonly #endpoints = new Map<string, ManagedEndpoint>();
  readonly #closing = new Set<Promise<void>>();

  constructor(options: EndpointSetOptions) {
    this.#options = options;
  }

  /** Those that are listed come first. */
  get all(): readonly Endpoint[] {
    const all = [...this.#endpoints.values()];
    return [...all.filter(({ listed }) => listed), ...all.filter(({ listed }) => !listed)];
  }

  get(url: string): Endpoint | undefined {
    return this.#endpoints.get(url);
  }

  /** Takes over what the slice lists now. */
  setListed(urls: readonly string[]): void {
    const { clock, lingerMs } = this.#options;
    for (const url of urls) {
      const endpoint = this.#endpoints.get(url);
      if (endpoint === undefined) this.#add(url);
      else endpoint.relist();
    }
    for (const endpoint of this.#endpoints.values())
      if (endpoint.listed && !urls.includes(endpoint.url))
        endpoint.delist(clock.after(lingerMs, () => this.#remove(endpoint)));
  }

  /** Removes all and resolves when their clients are closed. */
  async close(): Promise<void> {
    for (const endpoint of [...this.#endpoints.values()]) this.#remove(endpoint);
    await Promise.all(this.#closing);
  }

  #add(url: string): void {
    const endpoint = new ManagedEndpoint(url, this.#options);
    this.#endpoints.set(url, endpoint);
    this.#options.onAdded(endpoint);
    endpoint.open();
  }

  #remove(endpoint: ManagedEndpoint): void {
    this.#endpoints.delete(endpoint.url);
    const closing = endpoint.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    this.#options.onRemoved(endpoint);
  }
}

class ManagedEndpoint implements Endpoint {
  readonly url: string;
  readonly connected: Promise<KubeClient | undefined>;
  client: KubeClient | undefined;
  listed = true;
  readonly #options: EndpointSetOptions;
  readonly #removal = new AbortController();
  #settle: (client: KubeClient | undefined) => void = () => undefined;
  #cancelTimer = (): void => undefined;
  #attempts = 0;
  #cancelRemoval = (): void => undefined;

  constructor(url: string, options: EndpointSetOptions) {
    this.url = url;
    this.#options = options;
    this.connected = new Promise((resolve) => (this.#settle = resolve));
  }

  get removed(): AbortSignal {
    return this.#removal.signal;
  }

  open(): void {
    const { connect, clock, random, onConnectFailed } = this.#options;
    try {
      this.client = connect(this.url);
      this.#settle(this.client);
    } catch (error) {
      this.#cancelTimer = clock.after(backoffMs(this.#attempts, RECONNECT, random), () => this.open());
      this.#attempts += 1;
      onConnectFailed(this.url, error);
    }
  }

  delist(cancelRemoval: () => void): void {
    this.listed = false;
    this.#cancelRemoval = cancelRemoval;
  }

  relist(): void {
    this.#cancelRemoval();
    this.listed = true;
  }

  async close(): Promise<void> {
    this.#cancelRemoval();
    this.#cancelTimer();
    this.#removal.abort();
    this.#settle(undefined);
    // A client that cannot be closed in order has nobody to complain to.
    await this.client?.close().catch(() => undefined);
  }
}
