import type { KubeObject, LogicalCluster } from '../object.js';

/** Addresses an object across workspaces. The logical cluster always comes first. */
export interface ObjectKey {
  readonly cluster: LogicalCluster;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/**
 * A change of the store.
 * - `set`: the object is there (new, changed, or seen again by a list)
 * - `missing`: it is not among what a complete list or a DELETED event shows any more. This alone is never
 *   a deletion: a claim that was rejected or a wrong answer looks the same (design: absence).
 */
export type StoreChange =
  | {
      readonly type: 'set';
      readonly key: ObjectKey;
      readonly object: KubeObject;
      readonly previous: KubeObject | undefined;
    }
  | { readonly type: 'missing'; readonly key: ObjectKey; readonly previous: KubeObject };

/** Read side of a cache that reflectors fill. Objects are frozen by contract: never change them. */
export interface ObjectStore {
  get(key: ObjectKey): KubeObject | undefined;
  /** All objects of one logical cluster. */
  inCluster(cluster: LogicalCluster): Iterable<KubeObject>;
  all(): Iterable<KubeObject>;
  readonly size: number;
  /** True after every source that is known now has completed one list. */
  readonly synced: boolean;
  /** Resolves when `synced` turns true; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Calls back for each change after it is in the store; the result ends the subscription. */
  subscribe(listener: (change: StoreChange) => void): () => void;
}
