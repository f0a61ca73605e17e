import { ManualClock, settle } from '../../../../kube/testing/manual-clock.js';
import type { KubeObject, LogicalCluster, ObjectName } from '../../../../kube/object.js';
import type { ResourceSync, SyncPolicy, SyncTarget } from '../../resource-sync.js';
import type { NamespaceMap } from '../../service-namespaces.js';
import { createApiSync } from '../api-sync.js';
import type { ResourceSyncOptions } from '../sync-options.js';
import type { SyncEvent } from '../object-teller.js';
import type { SyncDirection, SyncLoad } from '../sync-meter.js';
import { ModelServer } from './model-server.js';
import { WIDGET } from '../../../engine/testing/model-schema.js';
import type { ModelSchema } from '../../../engine/testing/model-schema.js';

export const GVR = { group: 'example.org', version: 'v1', resource: 'widgets' };
export const CLUSTER = '2xji7zd2596u6dvg' as LogicalCluster;
export const CONTRACT = 'kube-bind-abc';

export const POLICY: SyncPolicy = {
  conflictPolicy: 'Fail',
  deletionPolicy: 'Delete',
  paused: false,
  force: false,
};

/** Namespaces of a provider that answers at once, or when told. */
export class BenchNamespaces implements NamespaceMap {
  readonly #mapped = new Map<string, string>();
  readonly #listeners = new Set<(name: string) => void>();
  readonly asked: string[] = [];
  synced = true;
  /** Gives each namespace that is asked for. */
  answers = true;
  refusal: Error | undefined;

  whenSynced(): Promise<void> {
    return Promise.resolve();
  }
  names(): readonly string[] {
    return [...this.#mapped.keys()];
  }
  wantedByProvider(): boolean {
    return false;
  }
  subscribe(listener: (name: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
  providerNamespace(name: string): string | undefined {
    return this.#mapped.get(name);
  }
  consumerNamespace(provider: string): string | undefined {
    return [...this.#mapped].find(([, value]) => value === provider)?.[0];
  }
  async ensure(name: string): Promise<void> {
    this.asked.push(name);
    await Promise.resolve();
    if (this.refusal !== undefined) throw this.refusal;
    if (this.answers) this.give(name);
  }
  give(name: string): void {
    this.giveAs(name, `${CONTRACT}-${name}`);
  }
  giveAs(name: string, providerNamespace: string): void {
    this.#mapped.set(name, providerNamespace);
    for (const listener of this.#listeners) listener(name);
  }
  take(name: string): void {
    this.#mapped.delete(name);
    for (const listener of this.#listeners) listener(name);
  }
}

export interface BenchOptions {
  readonly target?: Partial<SyncTarget>;
  readonly policy?: Partial<SyncPolicy>;
  readonly schema?: ModelSchema;
  readonly limits?: Partial<ResourceSyncOptions['limits']>;
}

/** A consumer, a provider and the sync between them, on a clock that stands still. */
export class SyncBench {
  readonly clock = new ManualClock();
  readonly consumer: ModelServer;
  readonly provider: ModelServer;
  readonly namespaces = new BenchNamespaces();
  readonly events: SyncEvent[] = [];
  readonly failures: unknown[] = [];
  /** Changes that arrived, with the milliseconds that they took. */
  readonly reached: (readonly [SyncDirection, number])[] = [];
  readonly watched: string[] = [];
  readonly loads = new Set<() => SyncLoad>();
  readonly #options: BenchOptions;
  policy: SyncPolicy;
  sync: ResourceSync;

  constructor(options: BenchOptions = {}) {
    this.#options = options;
    this.policy = { ...POLICY, ...options.policy };
    const schema = options.schema ?? WIDGET;
    this.consumer = new ModelServer({ gvr: GVR, kind: 'Widget', schema, cluster: CLUSTER });
    this.provider = new ModelServer({ gvr: GVR, kind: 'Widget', schema });
    this.sync = this.#open();
  }

  #open(): ResourceSync {
    const target: SyncTarget = {
      gvr: GVR,
      kind: 'Widget',
      scope: 'Namespaced',
      hasStatus: true,
      isolation: 'Prefixed',
      informerScope: 'Namespaced',
      schema: '',
      ...this.#options.target,
    };
    return createApiSync({
      target,
      places: {
        key: 'k',
        cluster: CLUSTER,
        bindingName: 'widgets',
        bindingUid: 'b-1',
        consumer: this.consumer.client(),
        provider: this.provider.client(),
        contractNamespace: CONTRACT,
        namespaces: this.namespaces,
        ensureNamespace: (name) => this.namespaces.ensure(name),
      },
      policy: this.policy,
      limits: {
        absenceGraceMs: 300_000,
        requestTimeoutMs: 10_000,
        watchSilenceMs: 10_000_000,
        backoffBaseMs: 1000,
        backoffMaxMs: 60_000,
        concurrency: 4,
        ...this.#options.limits,
      },
      clock: this.clock,
      random: () => 0.5,
      signal: new AbortController().signal,
      emitEvent: (event) => this.events.push(event),
      meter: {
        reached: (direction, ms) => this.reached.push([direction, ms]),
        watched: (side, { type }) => this.watched.push(`${side} ${type}`),
        load: (ask) => {
          this.loads.add(ask);
          return () => void this.loads.delete(ask);
        },
      },
      onFailure: ({ error }) => this.failures.push(error),
      reflector: { watchMinMs: 1e9, watchMaxMs: 1e9 },
    });
  }

  async start(): Promise<this> {
    this.sync.start();
    await this.idle();
    return this;
  }

  /** The process dies and another one takes over. */
  async restart(): Promise<void> {
    await this.sync.close();
    this.sync = this.#open();
    await this.start();
  }

  update(policy: Partial<SyncPolicy>): void {
    this.policy = { ...this.policy, ...policy };
    this.sync.update(this.policy);
  }

  /** Until neither server has heard anything for a while; the clock stands still. */
  async idle(): Promise<void> {
    for (let quiet = 0, last = -1; quiet < 6;) {
      await settle();
      const now = this.consumer.requests.length + this.provider.requests.length;
      quiet = now === last ? quiet + 1 : 0;
      last = now;
    }
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.idle();
  }

  async close(): Promise<void> {
    await this.sync.close();
  }

  /** Writes on both sides since the last call. */
  takeWrites(): string[] {
    const writes = [
      ...this.consumer.writes.map((write) => `consumer ${write}`),
      ...this.provider.writes.map((write) => `provider ${write}`),
    ];
    this.consumer.requests.length = 0;
    this.provider.requests.length = 0;
    return writes;
  }

  /** Creates or replaces the user's object; everything but status and metadata kept by the server. */
  put(target: ObjectName, content: Record<string, unknown>, metadata: Record<string, unknown> = {}): void {
    this.consumer.edit(
      target,
      (object) =>
        ({
          ...content,
          apiVersion: object.apiVersion,
          kind: object.kind,
          metadata: { ...object.metadata, ...metadata },
          ...(object['status'] !== undefined && { status: object['status'] }),
        }) as KubeObject,
      'user',
    );
  }
}

export const A: ObjectName = { namespace: 'ns', name: 'a' };
export const COPY_A: ObjectName = { namespace: `${CONTRACT}-ns`, name: 'a' };
