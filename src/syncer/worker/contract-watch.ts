import { GVR, type Gvr } from '../../api/gvr.js';
import { PROVIDER_KUBECONFIG } from '../../backend/provider/rotated-kubeconfig.js';
import type { ProviderContract } from '../../backend/provider/contract.js';
import { followResource, type FollowedResource } from '../../kube/cache/follow-resource.js';
import type { ReflectorEvent } from '../../kube/cache/reflector.js';
import type { Clock } from '../../kube/clock.js';
import type { KubeObject, LogicalCluster } from '../../kube/object.js';

export interface ContractWatchOptions {
  readonly exportName: string;
  /** First part of the keys in the stores; a provider has none, so the binding's own serves. */
  readonly cluster: LogicalCluster;
  readonly clock: Clock;
  readonly random: () => number;
  readonly silenceMs: number;
  /** Something changed, or cannot be seen any more: look again. Called once a second at most. */
  readonly onChange: () => void;
  /** For metrics. */
  readonly onWatched?: ((event: ReflectorEvent) => void) | undefined;
}

/** What a watch shows of one object; undefined: it shows nothing at present, so whoever wants to know must ask. */
export type Seen = { readonly object: KubeObject | undefined } | undefined;

/** A provider that changes something all the time gets no more than this of our attention. */
const GAP_MS = 1000;

interface Followed {
  readonly resource: FollowedResource;
  live: boolean;
}

interface Running {
  readonly closing: AbortController;
  readonly namespace: string;
  readonly export: Followed;
  readonly kubeconfig: Followed;
}

/**
 * Watches the two objects of a contract that a provider changes while a binding rests: the export, whose annotation
 * tells of changed schemas, and the Secret with the kubeconfig. With it nobody needs to ask for them again and again.
 */
export class ContractWatch {
  readonly #options: ContractWatchOptions;
  #running: Running | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;
  #cancelTelling: (() => void) | undefined;

  constructor(options: ContractWatchOptions) {
    this.#options = options;
  }

  /** Idempotent. */
  start(contract: ProviderContract): void {
    if (this.#running !== undefined) return;
    const closing = new AbortController();
    const follow = (gvr: Gvr, name: string): Followed => this.#follow(contract, gvr, name, closing.signal);
    this.#running = {
      closing,
      namespace: contract.namespace,
      export: follow(GVR.exports, this.#options.exportName),
      kubeconfig: follow(GVR.secrets, PROVIDER_KUBECONFIG.name),
    };
  }

  /** True while both can be seen. */
  get live(): boolean {
    return this.export !== undefined && this.kubeconfig !== undefined;
  }

  get export(): Seen {
    return this.#seen(this.#running?.export, this.#options.exportName);
  }

  get kubeconfig(): Seen {
    return this.#seen(this.#running?.kubeconfig, PROVIDER_KUBECONFIG.name);
  }

  /** Idempotent; may be started again. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    this.#cancelTelling?.();
    this.#cancelTelling = undefined;
    running?.closing.abort();
    await Promise.all([running?.export.resource.stopped, running?.kubeconfig.resource.stopped]);
  }

  #tell(): void {
    const { clock, onChange } = this.#options;
    if (this.#cancelTelling !== undefined || this.#running === undefined) return;
    this.#cancelTelling = clock.after(Math.max(0, this.#toldAt + GAP_MS - clock.now()), () => {
      this.#cancelTelling = undefined;
      this.#toldAt = clock.now();
      onChange();
    });
  }

  #seen(followed: Followed | undefined, name: string): Seen {
    if (followed?.live !== true || !followed.resource.store.synced) return undefined;
    const { cluster } = this.#options;
    return { object: followed.resource.store.get({ cluster, namespace: this.#running?.namespace, name }) };
  }

  #follow({ client, namespace }: ProviderContract, gvr: Gvr, name: string, signal: AbortSignal): Followed {
    const { cluster, clock, random, silenceMs } = this.#options;
    const resource = followResource({
      client,
      gvr,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      cluster,
      clock,
      random,
      signal,
      limits: { silenceMs },
      onEvent: (event) => {
        this.#options.onWatched?.(event);
        const live = tellsLife(event);
        if (live === undefined || live === followed.live) return;
        followed.live = live;
        this.#tell();
      },
    });
    const followed: Followed = { resource, live: false };
    resource.store.subscribe(() => this.#tell());
    return followed;
  }
}

/** Undefined where the event says nothing about it. */
function tellsLife(event: ReflectorEvent): boolean | undefined {
  if (event.type === 'listed' || event.type === 'recovered') return true;
  return event.type === 'error' ? false : undefined;
}
