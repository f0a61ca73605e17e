import { GVR } from '../../api/gvr.js';
import type { Gvr } from '../../api/gvr.js';
import type { ObjectKey, ObjectStore, StoreChange } from '../../kube/cache/object-store.js';
import type { KubeObject, LogicalCluster } from '../../kube/object.js';
import { matches, sameResource } from './fake-objects.js';
import type { FakeChange, FakeObjects } from './fake-objects.js';

/** A store that sees changes of the pretended kcp at once or a little later, as far as `visible` lets it. */
export class FakeStore implements ObjectStore {
  readonly #objects = new Map<string, KubeObject>();
  readonly #listeners = new Set<(change: StoreChange) => void>();
  readonly #visible: (cluster: string, object: KubeObject) => boolean;
  readonly #end: () => void;
  synced = true;

  constructor(
    objects: FakeObjects,
    gvr: Gvr,
    options: {
      readonly labelSelector?: string | undefined;
      readonly cluster?: string;
      readonly visible?: (cluster: string, object: KubeObject) => boolean;
      /** Lets the store lag behind. */
      readonly later?: (deliver: () => void) => void;
    } = {},
  ) {
    this.#visible = options.visible ?? (() => true);
    for (const object of objects.list(gvr, options.cluster, options.labelSelector)) this.#show(object, false);
    const later = options.later ?? ((deliver) => deliver());
    this.#end = objects.onChange((change) => later(() => this.#follow(objects, change, { gvr, ...options })));
  }

  #follow(
    objects: FakeObjects,
    change: FakeChange,
    of: { readonly gvr: Gvr; readonly cluster?: string; readonly labelSelector?: string | undefined },
  ): void {
    // What a workspace lets us see depends on its APIBindings.
    if (sameResource(change.gvr, GVR.apiBindings)) {
      this.#refresh(objects.list(of.gvr, change.cluster, of.labelSelector));
    }
    const isOurs = of.cluster === undefined || of.cluster === change.cluster;
    if (isOurs && sameResource(change.gvr, of.gvr) && matches(change.object, of.labelSelector)) {
      this.#show(change.object, change.removed);
    }
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): KubeObject | undefined {
    return this.#objects.get(`${key.cluster}|${key.namespace ?? ''}/${key.name}`);
  }

  *inCluster(cluster: LogicalCluster): Iterable<KubeObject> {
    for (const object of this.#objects.values()) if (clusterOf(object) === cluster) yield object;
  }

  all(): Iterable<KubeObject> {
    return this.#objects.values();
  }

  whenSynced(): Promise<void> {
    return Promise.resolve();
  }

  subscribe(listener: (change: StoreChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    this.#end();
    this.#listeners.clear();
  }

  #refresh(all: readonly KubeObject[]): void {
    for (const object of all) {
      const isThere = this.#objects.has(idOf(object));
      if (isThere !== this.#visible(clusterOf(object), object)) this.#show(object, false);
    }
  }

  #show(object: KubeObject, removed: boolean): void {
    const id = idOf(object);
    const previous = this.#objects.get(id);
    const { name, namespace } = object.metadata;
    const key = { cluster: clusterOf(object), name, namespace };
    if (removed || !this.#visible(key.cluster, object)) {
      this.#objects.delete(id);
      if (previous !== undefined) this.#tell({ type: 'missing', key, previous });
    } else if (previous?.metadata.resourceVersion !== object.metadata.resourceVersion) {
      this.#objects.set(id, object);
      this.#tell({ type: 'set', key, object, previous });
    }
  }

  #tell(change: StoreChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

export function clusterOf(object: KubeObject): LogicalCluster {
  return (object.metadata.annotations?.['kcp.io/cluster'] ?? '') as LogicalCluster;
}

function idOf(object: KubeObject): string {
  return `${clusterOf(object)}|${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}
