import { formatKey } from '../../../kube/cache/object-key.js';
import type { ObjectKeyText } from '../../../kube/cache/object-key.js';
import type { StoreChange } from '../../../kube/cache/object-store.js';
import type { ReflectorEvent, ReflectorLimits } from '../../../kube/cache/reflector.js';
import type { ResourceStore } from '../../../kube/cache/store.js';
import type { KubeObject, ObjectName } from '../../../kube/object.js';
import { runQueue } from '../../../kube/run-queue.js';
import { WorkQueue } from '../../../kube/work-queue.js';
import { toConsumerKey } from '../../engine/key-mapping.js';
import type { SyncContext } from '../../engine/sync-context.js';
import type { ResourceSync, SyncPolicy, SyncStats } from '../resource-sync.js';
import { AnswersAhead } from './answers-ahead.js';
import { isEdit, isReport } from './change-kind.js';
import { CopyStore } from './copy-store.js';
import { hasCopies, isReleased } from './drained.js';
import { retryAfterOf } from './object-failure.js';
import { ObjectRecords } from './object-records.js';
import { ObjectTeller } from './object-teller.js';
import { LeftBehind } from './left-behind.js';
import { ObjectWork } from './object-work.js';
import { reflectorProblem } from './reflector-problem.js';
import { SideGate } from './side-gate.js';
import { Side } from './side.js';
import type { SideName } from './side.js';
import { consumerNamespaces, followConsumer, syncContext } from './sync-parts.js';
import { SyncLag } from './sync-lag.js';
import type { ResourceSyncOptions } from './sync-options.js';
import { syncProblem } from './sync-problem.js';
import { planWatch } from './watch-plan.js';

/**
 * Keeps the objects of one API of one binding in sync: everything but status up, status down. Driven by the
 * watches of both sides; makes no request at rest. What one side does not show is never taken for a deletion.
 */
export function createApiSync(options: ResourceSyncOptions): ResourceSync {
  return new ObjectsSync(options);
}

class ObjectsSync implements ResourceSync {
  readonly #options: ResourceSyncOptions;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #queue: WorkQueue<ObjectKeyText>;
  readonly #records = new ObjectRecords<ObjectKeyText>();
  readonly #sides: Readonly<Record<SideName, Side>>;
  readonly #ahead: Readonly<Record<SideName, AnswersAhead>>;
  /** Sides whose watch failed for longer than is routine. */
  readonly #unwatched = new Set<SideName>();
  readonly #copies: CopyStore;
  readonly #work: ObjectWork;
  readonly #lag: SyncLag;
  readonly #left: LeftBehind;
  #consumers: { readonly store: ResourceStore; readonly stopped: Promise<void> } | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #policy: SyncPolicy;
  #draining = false;
  #lastSyncAt: number | undefined;

  constructor(options: ResourceSyncOptions) {
    const { places, target, policy, limits, clock, random, signal } = options;
    this.#options = options;
    this.#policy = policy;
    this.#lag = new SyncLag(clock, (direction, ms) => options.meter?.reached(direction, ms));
    this.#left = new LeftBehind(target.gvr);
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
    const backoff = { baseMs: limits.backoffBaseMs, maxMs: limits.backoffMaxMs };
    this.#queue = new WorkQueue({ clock, random, backoff });
    this.#sides = { consumer: this.#side('consumer'), provider: this.#side('provider') };
    this.#ahead = { consumer: this.#answersAhead(), provider: this.#answersAhead() };
    this.#copies = new CopyStore({
      client: places.provider,
      gvr: target.gvr,
      cluster: places.cluster,
      plan: planWatch(target, places),
      namespaces: places.namespaces,
      clock,
      random,
      limits: this.#reflectorLimits(),
      signal: this.#signal,
      onEvent: (event) => this.#onReflector('provider', event),
      onListed: (namespace) => this.#enqueueWhere(namespace),
    });
    this.#work = new ObjectWork({
      ...options,
      signal: this.#signal,
      sides: this.#sides,
      ahead: this.#ahead,
      copies: this.#copies,
      context: () => this.#context(),
      force: () => this.#draining && this.#policy.force,
      onLeft: (copy) => this.#left.add(copy),
      consumerSynced: () => this.#consumers?.store.synced === true,
      cachedConsumer: (name) => this.#cachedConsumer(name),
      teller: new ObjectTeller(options.emitEvent),
    });
  }

  get originals(): ResourceStore | undefined {
    return this.#consumers?.store;
  }

  start(): void {
    if (this.#consumers !== undefined || this.#signal.aborted) return;
    const { places, target, clock, random, limits, onFailure } = this.#options;
    const { namespaces } = places;
    const consumers = followConsumer({
      client: places.consumer,
      gvr: target.gvr,
      cluster: places.cluster,
      clock,
      random,
      limits: this.#reflectorLimits(),
      signal: this.#signal,
      onEvent: (event) => this.#onReflector('consumer', event),
    });
    this.#consumers = consumers;
    consumers.store.subscribe((change) => this.#onConsumer(change));
    this.#copies.subscribe((change) => this.#onCopy(change));
    const unsubscribe = namespaces.subscribe((namespace) => this.#onNamespace(namespace));
    this.#signal.addEventListener('abort', unsubscribe, { once: true });
    const unload = this.#options.meter?.load(() => ({
      queued: this.#queue.length,
      oldestMs: this.#lag.oldestMs,
    }));
    if (unload !== undefined) this.#signal.addEventListener('abort', unload, { once: true });
    this.#copies.start();
    this.#whenSynced(consumers.store);
    this.#whenSynced(namespaces);
    const queue = runQueue(this.#queue, {
      concurrency: limits.concurrency,
      signal: this.#signal,
      handle: (key) => this.#handle(key),
      retryAfter: retryAfterOf,
      onError: (failure) => {
        this.#records.hold(failure.key, clock.now() + failure.retryInMs);
        onFailure?.(failure);
      },
    });
    this.#running = Promise.all([queue, consumers.stopped]);
  }

  update(policy: SyncPolicy): void {
    const before = this.#policy;
    this.#policy = policy;
    if (JSON.stringify(before) === JSON.stringify(policy)) return;
    this.#enqueueAll(true);
  }

  drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    this.#enqueueAll(true);
  }

  stats(): SyncStats {
    const { pending, failing } = this.#records.figures();
    const { consumer, provider } = this.#sides;
    const { target } = this.#options;
    const problem = syncProblem(consumer.gate.problem, provider.gate.problem, this.#records, target);
    return {
      objects: this.#consumers?.store.size ?? 0,
      pending,
      failing,
      ...(this.#lastSyncAt !== undefined && { lastSyncAt: this.#lastSyncAt }),
      namespaces: consumerNamespaces(this.#copies.all(), this.#context().marks),
      ...(problem !== undefined && { problem }),
      drained: this.#isDrained(),
      leftBehind: this.#left.names,
      refused: [...(this.#consumers?.store.refused.values() ?? [])].reduce((sum, count) => sum + count, 0),
    };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    for (const ahead of Object.values(this.#ahead)) ahead.close();
    await this.#copies.close();
    await this.#running;
  }

  async #handle(key: ObjectKeyText): Promise<{ readonly requeueAfterMs: number } | undefined> {
    const { clock, onChange } = this.#options;
    const record = this.#records.of(key);
    record.released = false;
    try {
      const result = await this.#work.run(key, record);
      if (result.kind === 'settled') {
        this.#lastSyncAt = clock.now();
        this.#lag.agreed(key);
      }
      if (result.kind === 'nothing') {
        this.#records.delete(key);
        this.#lag.forget(key);
      }
      return result.retryInMs === undefined ? undefined : { requeueAfterMs: result.retryInMs };
    } finally {
      onChange?.();
    }
  }

  #onConsumer(change: StoreChange): void {
    const key = formatKey(change.key);
    this.#ahead.consumer.observe(key, change);
    if (this.#consumers?.store.synced === true) this.#lag.seen('consumer', key, change);
    if (change.type === 'set' && isEdit(change.previous, change.object)) {
      this.#release(key);
      this.#records.retryStatus(key);
    }
    this.#queue.add(key);
  }

  #onCopy(change: StoreChange): void {
    const object = change.type === 'set' ? change.object : change.previous;
    const key = this.#consumerKey(object);
    if (key === undefined) return;
    this.#ahead.provider.observe(key, change);
    this.#lag.seen('provider', key, change);
    if (!isReport(change)) this.#release(key);
    this.#queue.add(key);
  }

  #onNamespace(consumerNamespace: string): void {
    this.#work.namespaceChanged(consumerNamespace);
    const { cluster } = this.#options.places;
    for (const object of this.#consumers?.store.inNamespace(cluster, consumerNamespace) ?? [])
      this.#enqueue(object, true);
    // Copies may have been listed before their namespace could be told.
    for (const copy of this.#copies.all()) {
      const key = this.#consumerKey(copy);
      if (key !== undefined) this.#queue.add(key);
    }
  }

  #onReflector(side: SideName, event: ReflectorEvent): void {
    this.#options.meter?.watched(side, event);
    const { gate } = this.#sides[side];
    const problem = reflectorProblem(event);
    if (problem !== undefined) {
      this.#unwatched.add(side);
      gate.failed(problem);
      return;
    }
    // A watch that can be read says nothing about writes that are refused.
    const watches = event.type === 'recovered' && this.#unwatched.has(side);
    if (event.type !== 'listed' && !watches) return;
    this.#unwatched.delete(side);
    gate.succeeded();
  }

  #whenSynced(source: { whenSynced(signal: AbortSignal): Promise<void> }): void {
    source.whenSynced(this.#signal).then(
      () => this.#enqueueAll(false),
      // Only the signal ends the waiting.
      () => undefined,
    );
  }

  #enqueueAll(release: boolean): void {
    for (const object of this.#consumers?.store.all() ?? []) this.#enqueue(object, release);
    this.#enqueueCopies();
  }

  #enqueueCopies(): void {
    for (const copy of this.#copies.all()) {
      const key = this.#consumerKey(copy);
      if (key !== undefined) this.#queue.add(key);
    }
  }

  /** A namespace of the provider, or all of it, has been listed. */
  #enqueueWhere(providerNamespace: string | undefined): void {
    const { cluster, namespaces } = this.#options.places;
    const consumerNamespace =
      providerNamespace === undefined ? undefined : namespaces.consumerNamespace(providerNamespace);
    const objects =
      consumerNamespace === undefined
        ? this.#consumers?.store.all()
        : this.#consumers?.store.inNamespace(cluster, consumerNamespace);
    for (const object of objects ?? []) this.#enqueue(object, false);
  }

  #enqueue(consumer: KubeObject, release: boolean): void {
    const { name, namespace } = consumer.metadata;
    const { cluster } = this.#options.places;
    const key = formatKey(namespace === undefined ? { cluster, name } : { cluster, namespace, name });
    if (release) this.#release(key);
    this.#queue.add(key);
  }

  /** Ends the back-off of an object: something has changed that may help. */
  #release(key: ObjectKeyText): void {
    this.#queue.forget(key);
    this.#records.release(key);
  }

  #consumerKey(copy: KubeObject): ObjectKeyText | undefined {
    const { places } = this.#options;
    const name = toConsumerKey(this.#context().rule, places.namespaces, copy.metadata);
    return name && formatKey({ cluster: places.cluster, ...name });
  }

  #cachedConsumer(name: ObjectName): KubeObject | undefined {
    return this.#consumers?.store.get({ cluster: this.#options.places.cluster, ...name });
  }

  #context(): SyncContext {
    const { target, places } = this.#options;
    return syncContext(target, places, this.#policy, this.#draining);
  }

  #isDrained(): boolean {
    const originals = this.#consumers?.store;
    if (!this.#draining || originals?.synced !== true || !isReleased(originals.all())) return false;
    if (this.#policy.force) return true;
    // What lies in a namespace that is mapped no more is out of reach, and goes with the namespace.
    const inReach = (copy: KubeObject) => this.#consumerKey(copy) !== undefined;
    return this.#copies.synced && !hasCopies(this.#copies.all(), this.#context().marks, inReach);
  }

  #reflectorLimits(): Partial<ReflectorLimits> {
    return { ...this.#options.reflector, silenceMs: this.#options.limits.watchSilenceMs };
  }

  #answersAhead(): AnswersAhead {
    // Keys go in as ObjectKeyText and come out the same.
    return new AnswersAhead(this.#options.clock, (key) => this.#queue.add(key as ObjectKeyText));
  }

  #side(name: SideName): Side {
    const { clock, random, limits, target, onRequest, onChange } = this.#options;
    const backoff = { baseMs: limits.backoffBaseMs, maxMs: limits.backoffMaxMs };
    const gate = new SideGate({ clock, random, backoff, ...(onChange && { onChange }) });
    return new Side({ name, gvr: target.gvr, gate, signal: this.#signal, ...(onRequest && { onRequest }) });
  }
}
