import type { LogicalCluster } from '../object.js';
import type { ObjectKey } from './object-store.js';

interface Cluster<T> {
  size: number;
  /** By namespace; cluster-scoped ones under the empty name. */
  readonly namespaces: Map<string, Map<string, T>>;
}

/** Values by logical cluster, namespace and name, with no key text to build for a look-up. */
export class ObjectTable<T> {
  readonly #clusters = new Map<string, Cluster<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(cluster: LogicalCluster): number {
    return this.#clusters.get(cluster)?.size ?? 0;
  }

  get(key: ObjectKey): T | undefined {
    return this.#clusters
      .get(key.cluster)
      ?.namespaces.get(key.namespace ?? '')
      ?.get(key.name);
  }

  set(key: ObjectKey, value: T): void {
    let cluster = this.#clusters.get(key.cluster);
    if (cluster === undefined)
      this.#clusters.set(key.cluster, (cluster = { size: 0, namespaces: new Map() }));
    const namespace = key.namespace ?? '';
    let names = cluster.namespaces.get(namespace);
    if (names === undefined) {
      names = new Map<string, T>();
      cluster.namespaces.set(namespace, names);
    }
    const before = names.size;
    names.set(key.name, value);
    cluster.size += names.size - before;
    this.#size += names.size - before;
  }

  delete(key: ObjectKey): void {
    const cluster = this.#clusters.get(key.cluster);
    const namespace = key.namespace ?? '';
    const names = cluster?.namespaces.get(namespace);
    if (cluster === undefined || names?.delete(key.name) !== true) return;
    cluster.size -= 1;
    this.#size -= 1;
    if (names.size === 0) cluster.namespaces.delete(namespace);
    if (cluster.size === 0) this.#clusters.delete(key.cluster);
  }

  *values(): Iterable<T> {
    for (const { namespaces } of this.#clusters.values())
      for (const names of namespaces.values()) yield* names.values();
  }

  *inCluster(cluster: LogicalCluster): Iterable<T> {
    for (const names of this.#clusters.get(cluster)?.namespaces.values() ?? []) yield* names.values();
  }

  *inNamespace(cluster: LogicalCluster, namespace: string): Iterable<T> {
    yield* this.#clusters.get(cluster)?.namespaces.get(namespace)?.values() ?? [];
  }
}
