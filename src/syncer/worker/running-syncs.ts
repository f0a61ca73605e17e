import type { ObjectStore } from '../../kube/cache/object-store.js';
import type { ResourceSync, SyncPolicy, SyncStats, SyncTarget } from './resource-sync.js';

export type OpenSync = (target: SyncTarget, policy: SyncPolicy) => ResourceSync;

interface OpenTarget {
  readonly shape: string;
  readonly sync: ResourceSync;
}

/** The APIs of one binding, each synced by itself: one that hangs holds up none of the others. */
export class RunningSyncs {
  readonly #open: OpenSync;
  readonly #syncs = new Map<string, OpenTarget>();
  /** Ends when every sync that was replaced has stopped. */
  #closing: Promise<unknown> = Promise.resolve();

  constructor(open: OpenSync) {
    this.#open = open;
  }

  get size(): number {
    return this.#syncs.size;
  }

  /**
   * Starts what is new and hands the policy to all. An API whose version, scope or mapping changed is started
   * again. One that is not among the targets any more goes on: absence is never a reason to stop or delete.
   */
  async reconcile(targets: readonly SyncTarget[], policy: SyncPolicy): Promise<void> {
    for (const { sync } of this.#syncs.values()) sync.update(policy);
    for (const target of targets) {
      const key = `${target.gvr.resource}.${target.gvr.group}`;
      const shape = JSON.stringify(target);
      const current = this.#syncs.get(key);
      if (current?.shape === shape) continue;
      this.#syncs.delete(key);
      await current?.sync.close();
      const sync = this.#open(target, policy);
      this.#syncs.set(key, { shape, sync });
      sync.start();
    }
  }

  drain(): void {
    for (const { sync } of this.#syncs.values()) sync.drain();
  }

  stats(): readonly SyncStats[] {
    return [...this.#syncs.values()].map(({ sync }) => sync.stats());
  }

  /** The consumer's objects of each API, by `resource.group`. */
  originals(): ReadonlyMap<string, ObjectStore> {
    const stores = new Map<string, ObjectStore>();
    for (const [key, { sync }] of this.#syncs)
      if (sync.originals !== undefined) stores.set(key, sync.originals);
    return stores;
  }

  /** Stops all at once; idempotent. New ones may be opened afterwards. */
  async close(): Promise<void> {
    const open = [...this.#syncs.values()];
    this.#syncs.clear();
    const closing = Promise.all([this.#closing, ...open.map(({ sync }) => sync.close())]);
    this.#closing = closing;
    await closing;
  }
}
