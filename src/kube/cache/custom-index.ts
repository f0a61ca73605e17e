import type { KubeObject, LogicalCluster } from '../object.js';

/** The values under which an object is found; pure. */
export type IndexFunction = (object: KubeObject) => readonly string[];

/** Entries by a computed value, within each logical cluster: no value of one tenant finds another's object. */
export class CustomIndex<E extends object> {
  readonly #valuesOf: IndexFunction;
  readonly #entries = new Map<string, Set<E>>();
  readonly #slots = new Map<E, readonly string[]>();

  constructor(valuesOf: IndexFunction) {
    this.#valuesOf = valuesOf;
  }

  /** Slots for an object; throws what the index function throws. */
  slots(cluster: LogicalCluster, object: KubeObject): readonly string[] {
    return [...new Set(this.#valuesOf(object))].map((value) => `${cluster}|${value}`);
  }

  put(entry: E, slots: readonly string[]): void {
    this.remove(entry);
    if (slots.length === 0) return;
    this.#slots.set(entry, slots);
    for (const slot of slots) {
      const entries = this.#entries.get(slot);
      if (entries === undefined) this.#entries.set(slot, new Set([entry]));
      else entries.add(entry);
    }
  }

  remove(entry: E): void {
    for (const slot of this.#slots.get(entry) ?? []) {
      const entries = this.#entries.get(slot);
      entries?.delete(entry);
      if (entries?.size === 0) this.#entries.delete(slot);
    }
    this.#slots.delete(entry);
  }

  *find(cluster: LogicalCluster, value: string): Iterable<E> {
    yield* this.#entries.get(`${cluster}|${value}`) ?? [];
  }
}
