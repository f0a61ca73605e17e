import { runReflector } from '../../../kube/cache/reflector.js';
import type { ReflectorEvent, ReflectorLimits } from '../../../kube/cache/reflector.js';
import type { ReflectorSink } from '../../../kube/cache/reflector-sink.js';
import { ResourceStore } from '../../../kube/cache/store.js';
import type { StoreChange } from '../../../kube/cache/object-store.js';
import type { KubeClient } from '../../../kube/client.js';
import type { Clock } from '../../../kube/clock.js';
import type { Gvr, KubeObject, LogicalCluster, ObjectName } from '../../../kube/object.js';
import { withOwnManagedFields } from '../../engine/managed-fields.js';
import type { NamespaceMap } from '../service-namespaces.js';
import type { WatchPlan } from './watch-plan.js';

export interface CopyStoreOptions {
  readonly client: KubeClient;
  readonly gvr: Gvr;
  /** First part of the keys; the provider itself has none. */
  readonly cluster: LogicalCluster;
  readonly plan: WatchPlan;
  readonly namespaces: NamespaceMap;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limits: Partial<ReflectorLimits>;
  readonly signal: AbortSignal;
  readonly onEvent: (event: ReflectorEvent) => void;
  /** Everything in a namespace of the provider is known now; undefined: in all of them. */
  readonly onListed: (providerNamespace: string | undefined) => void;
  /** What is kept of each object. Default: everything, of the managedFields our own part. */
  readonly transform?: (object: KubeObject) => KubeObject;
}

interface Source {
  readonly stop: AbortController;
  readonly stopped: Promise<void>;
  listed: boolean;
}

const EVERYWHERE = '';

/** What the provider has at the places of our copies, kept by one or more watches. */
export class CopyStore {
  readonly #options: CopyStoreOptions;
  readonly #store: ResourceStore;
  /** By provider namespace. */
  readonly #sources = new Map<string, Source>();
  readonly #ending = new Set<Promise<void>>();
  #unsubscribe: () => void = () => undefined;

  constructor(options: CopyStoreOptions) {
    this.#options = options;
    this.#store = new ResourceStore({ transform: options.transform ?? withOwnManagedFields });
  }

  /** Begins to watch; call it once. */
  start(): void {
    const { plan, namespaces } = this.#options;
    if (plan.kind === 'namespace') this.#watch(plan.namespace);
    else if (plan.kind === 'labelled') this.#watch(EVERYWHERE);
    else {
      this.#unsubscribe = namespaces.subscribe(() => this.#followMapping());
      this.#followMapping();
    }
  }

  /** True when everything that is to be watched by now has been listed. */
  get synced(): boolean {
    if (this.#options.plan.kind === 'mapped' && !this.#options.namespaces.synced) return false;
    for (const source of this.#sources.values()) if (!source.listed) return false;
    return this.#sources.size > 0 || this.#options.plan.kind === 'mapped';
  }

  /** True when what lies at a place would be known. */
  hasListed({ namespace = EVERYWHERE }: ObjectName): boolean {
    return (this.#sources.get(namespace) ?? this.#sources.get(EVERYWHERE))?.listed === true;
  }

  /** What the watches have shown of a place. */
  get(target: ObjectName): KubeObject | undefined {
    const { name, namespace } = target;
    const { cluster } = this.#options;
    return this.#store.get(namespace === undefined ? { cluster, name } : { cluster, namespace, name });
  }

  all(): Iterable<KubeObject> {
    return this.#store.all();
  }

  subscribe(listener: (change: StoreChange) => void): () => void {
    return this.#store.subscribe(listener);
  }

  /** Ends all watches; idempotent. */
  async close(): Promise<void> {
    this.#unsubscribe();
    for (const namespace of [...this.#sources.keys()]) this.#unwatch(namespace);
    await Promise.all(this.#ending);
  }

  #followMapping(): void {
    const { namespaces } = this.#options;
    const wanted = new Set<string>();
    for (const name of namespaces.names()) {
      const namespace = namespaces.providerNamespace(name);
      if (namespace !== undefined) wanted.add(namespace);
    }
    for (const namespace of [...this.#sources.keys()]) if (!wanted.has(namespace)) this.#unwatch(namespace);
    for (const namespace of wanted) if (!this.#sources.has(namespace)) this.#watch(namespace);
  }

  #watch(namespace: string): void {
    const { client, gvr, cluster, plan, clock, random, limits, signal, onEvent, onListed } = this.#options;
    const stop = new AbortController();
    const everywhere = namespace === EVERYWHERE;
    const filled = this.#store.source(namespace, { kind: 'fixed', cluster, strict: false });
    const sink: ReflectorSink = {
      begin: () => filled.begin(),
      page: (items) => filled.page(items),
      apply: (event) => filled.apply(event),
      commit: () => {
        filled.commit();
        source.listed = true;
        onListed(everywhere ? undefined : namespace);
      },
    };
    const stopped = runReflector({
      client,
      gvr,
      clock,
      random,
      limits,
      onEvent,
      ...(everywhere ? {} : { namespace }),
      ...(plan.kind !== 'namespace' && { labelSelector: plan.labelSelector }),
      sink,
      signal: AbortSignal.any([signal, stop.signal]),
    });
    const source: Source = { stop, stopped, listed: false };
    this.#sources.set(namespace, source);
    this.#ending.add(stopped);
    void stopped.then(() => this.#ending.delete(stopped));
  }

  #unwatch(namespace: string): void {
    this.#sources.get(namespace)?.stop.abort();
    this.#sources.delete(namespace);
    this.#store.removeSource(namespace);
  }
}
