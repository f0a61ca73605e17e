import { jsonEqual } from '../json.js';
import type { KubeObject, LogicalCluster } from '../object.js';
import { CustomIndex } from './custom-index.js';
import type { IndexFunction } from './custom-index.js';
import type { ObjectKey, ObjectStore, StoreChange } from './object-store.js';
import { ObjectTable } from './object-table.js';
import type { ObjectEvent, ReflectorSink } from './reflector-sink.js';
import { newSource, sameVersion, viewOf } from './store-entry.js';
import type { Entry, Source, View } from './store-entry.js';
import { identify } from './tenancy.js';
import type { RefusalReason, Tenancy } from './tenancy.js';

export interface ResourceStoreOptions<I extends string = never> {
  /**
   * Applied to each object before it is stored, for instance to leave out fields that nobody reads. Must be
   * pure, return a new object where it changes one, and keep name, namespace, uid and resourceVersion.
   */
  readonly transform?: (object: KubeObject) => KubeObject;
  /** An object may look different in the same version, after a change of its schema. Default false. */
  readonly schemaMayChange?: boolean | undefined;
  readonly indexes?: Readonly<Record<I, IndexFunction>>;
  readonly capacity?: Partial<StoreCapacity>;
  readonly onRefused?: (refusal: Refusal) => void;
  /** A listener threw; the other listeners and the store go on. */
  readonly onListenerError?: (error: unknown) => void;
}

/** Beyond these, objects that are not yet in the store are refused; the next list may bring them in. */
export interface StoreCapacity {
  /** Default 500 000. */
  readonly objects: number;
  /** In one logical cluster, so that one tenant cannot take the room of all. Default 100 000. */
  readonly objectsPerCluster: number;
}

export interface Refusal {
  readonly reason: RefusalReason;
  /** The source that showed the object. */
  readonly source: string;
  /** Where the object could be attributed to one. */
  readonly cluster?: LogicalCluster;
}

/**
 * A cache of one resource that several sources fill, one for each URL that shows a part of the workspaces.
 *
 * - An object that several sources show is `missing` when the last of them does not show it any more. What
 *   counts is the view of the source that was the last to begin showing it: a workspace that moves to
 *   another shard is seen where it went, whatever the old shard still says.
 * - A source that is removed takes nothing away. Objects that only it showed stay as they are (`isStale`),
 *   until another source shows them, or until every remaining source (at least one) has completed a list
 *   that began after the removal and did not show them: then they are `missing`.
 * - An object in the same state as before (uid, resourceVersion) makes no change, so a repeated list makes
 *   no work; where the schema may change it has to look the same too. One that was deleted and made again between
 *   two lists is one `set` with another uid.
 */
export class ResourceStore<I extends string = never> implements ObjectStore {
  readonly #options: ResourceStoreOptions<I>;
  readonly #capacity: StoreCapacity;
  readonly #table = new ObjectTable<Entry>();
  readonly #indexes: readonly (readonly [string, CustomIndex<Entry>])[];
  readonly #sources = new Map<string, Source>();
  readonly #listeners = new Set<(change: StoreChange) => void>();
  readonly #waiters = new Set<() => void>();
  readonly #refused = new Map<RefusalReason, number>();
  /** Grows with each removal of a source. */
  #epoch = 0;

  constructor(options: ResourceStoreOptions<I> = {}) {
    this.#options = options;
    this.#capacity = { objects: 500_000, objectsPerCluster: 100_000, ...options.capacity };
    this.#indexes = Object.entries<IndexFunction>(options.indexes ?? {}).map(
      ([name, valuesOf]) => [name, new CustomIndex<Entry>(valuesOf)] as const,
    );
  }

  get size(): number {
    return this.#table.size;
  }

  /** True after every source that is known now has completed one list. False without any source. */
  get synced(): boolean {
    if (this.#sources.size === 0) return false;
    for (const source of this.#sources.values()) if (source.completeSince < 0) return false;
    return true;
  }

  /** Objects that were not taken so far, by reason. */
  get refused(): ReadonlyMap<RefusalReason, number> {
    return this.#refused;
  }

  get(key: ObjectKey): KubeObject | undefined {
    return this.#table.get(key)?.view.object;
  }

  /** True where the object is there only because its source was removed: nobody shows it now. */
  isStale(key: ObjectKey): boolean {
    return this.#table.get(key)?.view.source.removedIn !== undefined;
  }

  /** Id of a source that shows objects of the logical cluster now. */
  sourceOf(cluster: LogicalCluster): string | undefined {
    for (const { view } of this.#table.inCluster(cluster))
      if (view.source.removedIn === undefined) return view.source.id;
    return undefined;
  }

  *all(): Iterable<KubeObject> {
    for (const { view } of this.#table.values()) yield view.object;
  }

  *inCluster(cluster: LogicalCluster): Iterable<KubeObject> {
    for (const { view } of this.#table.inCluster(cluster)) yield view.object;
  }

  *inNamespace(cluster: LogicalCluster, namespace: string): Iterable<KubeObject> {
    for (const { view } of this.#table.inNamespace(cluster, namespace)) yield view.object;
  }

  /** Objects of one logical cluster under a value of a custom index. */
  *byIndex(index: I, cluster: LogicalCluster, value: string): Iterable<KubeObject> {
    const found = this.#indexes.find(([name]) => name === index);
    for (const { view } of found?.[1].find(cluster, value) ?? []) yield view.object;
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiters.delete(check);
        signal.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        end();
        reject(
          signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason }),
        );
      };
      const check = (): void => {
        if (!this.synced) return;
        end();
        resolve();
      };
      this.#waiters.add(check);
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
      else check();
    });
  }

  subscribe(listener: (change: StoreChange) => void): () => void {
    const own = (change: StoreChange): void => listener(change);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /**
   * Adds a source and gives the sink for its reflector. A sink whose source was removed takes nothing more.
   *
   * @throws TypeError where a source of that id is part of the store
   */
  source(id: string, tenancy: Tenancy): ReflectorSink {
    if (this.#sources.has(id))
      throw new TypeError(`source ${JSON.stringify(id)} is already part of the store`);
    const source = newSource(id, tenancy);
    this.#sources.set(id, source);
    const whilePart = (action: () => void): void => {
      if (source.removedIn === undefined) action();
    };
    return {
      begin: () => whilePart(() => this.#begin(source)),
      page: (items) => whilePart(() => items.forEach((object) => this.#show(source, object))),
      commit: () => whilePart(() => this.#commit(source)),
      apply: (event) => whilePart(() => this.#apply(source, event)),
    };
  }

  /** Takes a source out; its objects stay. An unknown id is fine. */
  removeSource(id: string): void {
    const source = this.#sources.get(id);
    if (source === undefined) return;
    this.#sources.delete(id);
    source.removedIn = this.#epoch += 1;
    for (const entry of [...this.#table.values()]) {
      if (entry.view.source !== source) entry.others = entry.others.filter((view) => view.source !== source);
      else if (entry.others.length > 0) this.#lose(entry, source);
    }
    this.#checkWaiters();
  }

  #begin(source: Source): void {
    source.round += 1;
    source.beganIn = this.#epoch;
  }

  #commit(source: Source): void {
    source.completeSince = source.beganIn;
    for (const entry of [...this.#table.values()]) {
      const view = viewOf(entry, source);
      if (view !== undefined && view.round !== source.round) this.#lose(entry, source);
    }
    this.#dropStale();
    this.#checkWaiters();
  }

  #apply(source: Source, { type, object }: ObjectEvent): void {
    if (type !== 'DELETED') {
      this.#show(source, object);
      return;
    }
    const key = identify(object, source.tenancy);
    const entry = typeof key === 'string' ? undefined : this.#table.get(key);
    const view = entry && viewOf(entry, source);
    if (entry === undefined || view === undefined) return;
    // The end of a former object of that name says nothing about the one that is there now.
    if (view.object.metadata.uid === object.metadata.uid) this.#lose(entry, source);
  }

  #show(source: Source, shown: KubeObject): void {
    const key = identify(shown, source.tenancy);
    if (typeof key === 'string') {
      this.#refuse(source, key);
      return;
    }
    const entry = this.#table.get(key);
    const view = entry && viewOf(entry, source);
    if (view !== undefined) {
      view.round = source.round;
      if (this.#options.schemaMayChange !== true && sameVersion(view.object, shown)) return;
    } else if (entry === undefined && !this.#hasRoom(key.cluster)) {
      this.#refuse(source, 'Full', key.cluster);
      return;
    }
    const prepared = this.#prepare(key.cluster, shown);
    if (prepared === undefined) this.#refuse(source, 'TransformFailed', key.cluster);
    else if (entry === undefined) this.#insert(key, { source, object: prepared.object, round: source.round });
    else if (view === undefined)
      this.#takeOver(entry, { source, object: prepared.object, round: source.round });
    else this.#update(entry, view, prepared.object);
  }

  #insert(key: ObjectKey, view: View): void {
    const entry: Entry = { key, view, others: [] };
    this.#table.set(key, entry);
    this.#changed(entry, undefined);
  }

  #takeOver(entry: Entry, view: View): void {
    const former = entry.view;
    if (former.source.removedIn === undefined) entry.others.push(former);
    entry.view = view;
    if (!jsonEqual(former.object, view.object)) this.#changed(entry, former.object);
  }

  #update(entry: Entry, view: View, object: KubeObject): void {
    const previous = view.object;
    if (sameVersion(previous, object) && jsonEqual(previous, object)) return;
    view.object = object;
    if (entry.view === view) this.#changed(entry, previous);
  }

  /** A source does not show the entry any more. */
  #lose(entry: Entry, source: Source): void {
    if (entry.view.source !== source) {
      entry.others = entry.others.filter((view) => view.source !== source);
      return;
    }
    const next = entry.others.pop();
    if (next === undefined) {
      this.#drop(entry);
      return;
    }
    const { object } = entry.view;
    entry.view = next;
    if (!jsonEqual(object, next.object)) this.#changed(entry, object);
  }

  #dropStale(): void {
    if (this.#epoch === 0) return;
    let since = Number.POSITIVE_INFINITY;
    for (const source of this.#sources.values()) since = Math.min(since, source.completeSince);
    for (const entry of [...this.#table.values()]) {
      const { removedIn } = entry.view.source;
      if (removedIn !== undefined && removedIn <= since) this.#drop(entry);
    }
  }

  #drop(entry: Entry): void {
    this.#table.delete(entry.key);
    for (const [, index] of this.#indexes) index.remove(entry);
    this.#emit({ type: 'missing', key: entry.key, previous: entry.view.object });
  }

  #changed(entry: Entry, previous: KubeObject | undefined): void {
    const { object } = entry.view;
    for (const [, index] of this.#indexes) index.put(entry, index.slots(entry.key.cluster, object));
    this.#emit({ type: 'set', key: entry.key, object, previous });
  }

  #hasRoom(cluster: LogicalCluster): boolean {
    return (
      this.#table.size < this.#capacity.objects &&
      this.#table.sizeOf(cluster) < this.#capacity.objectsPerCluster
    );
  }

  /** Undefined where a function from outside cannot take the object; it has then never been stored. */
  #prepare(cluster: LogicalCluster, shown: KubeObject): { readonly object: KubeObject } | undefined {
    try {
      const object = this.#options.transform?.(shown) ?? shown;
      for (const [, index] of this.#indexes) index.slots(cluster, object);
      return { object };
    } catch {
      return undefined;
    }
  }

  #refuse(source: Source, reason: RefusalReason, cluster?: LogicalCluster): void {
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1);
    this.#options.onRefused?.({ reason, source: source.id, ...(cluster === undefined ? {} : { cluster }) });
  }

  #emit(change: StoreChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#options.onListenerError?.(error);
      }
    }
  }

  #checkWaiters(): void {
    for (const check of [...this.#waiters]) check();
  }
}
