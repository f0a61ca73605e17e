import type { ConditionState } from '../../api/conditions.js';
import type { ObjectStore } from '../../kube/cache/object-store.js';
import type { KubeClient } from '../../kube/client.js';
import type { Gvr, LogicalCluster } from '../../kube/object.js';
import type { Isolation } from '../engine/key-mapping.js';
import type { NamespaceMap } from './service-namespaces.js';

/** What the user has decided for a binding; may change while objects are synced. */
export interface SyncPolicy {
  readonly conflictPolicy: 'Fail' | 'Adopt';
  readonly deletionPolicy: 'Delete' | 'Orphan';
  readonly paused: boolean;
  /** While draining: the provider does not answer; let objects go without it. */
  readonly force: boolean;
}

/** One API of a binding. */
export interface SyncTarget {
  readonly gvr: Gvr;
  readonly kind: string;
  /** Scope in the consumer's workspace. */
  readonly scope: 'Cluster' | 'Namespaced';
  readonly hasStatus: boolean;
  readonly isolation: Isolation;
  readonly informerScope: 'Cluster' | 'Namespaced';
  /**
   * Stands for the schemas of both sides. A watch goes on showing objects through the schema that it began with, without
   * fields that came later and under the same resourceVersion [measured]: with another value everything is read anew.
   */
  readonly schema: string;
}

/** Where the objects of a binding are. */
export interface SyncPlaces {
  /** Key of the assignment, for events. */
  readonly key: string;
  readonly cluster: LogicalCluster;
  readonly bindingName: string;
  readonly bindingUid: string;
  readonly consumer: KubeClient;
  readonly provider: KubeClient;
  readonly contractNamespace: string;
  readonly namespaces: NamespaceMap;
  /** Asks the provider for a namespace; the map tells when it is there. Rejects with the errors of KubeClient. */
  readonly ensureNamespace: (consumerNamespace: string, signal: AbortSignal) => Promise<void>;
}

export interface SyncStats {
  readonly objects: number;
  readonly pending: number;
  readonly failing: number;
  /** Milliseconds since the epoch. */
  readonly lastSyncAt?: number;
  /** Consumer namespaces with copies. */
  readonly namespaces: readonly string[];
  /** What holds up all objects, or an example of what fails. */
  readonly problem?: ConditionState;
  /** False until both sides have been listed once: figures and namespaces are not complete. Absent: true. */
  readonly synced?: boolean;
  /** Only while draining: nothing of ours is left on either side. */
  readonly drained: boolean;
  /** Copies that a forced drain left on the provider, in words; at most 100. */
  readonly leftBehind?: readonly string[];
  /** What the user should know although nothing fails. */
  readonly note?: string;
  /** Objects, counted each time they are shown, that are not taken: of another workspace, or beyond a limit. */
  readonly refused?: number;
}

/** Keeps the objects of one API in sync. */
export interface ResourceSync {
  /** The consumer's objects; there after `start`. */
  readonly originals?: ObjectStore | undefined;
  start(): void;
  update(policy: SyncPolicy): void;
  stats(): SyncStats;
  /** Lets every object go, by policy; `stats().drained` tells when that is done. Idempotent. */
  drain(): void;
  /** Stops at once and leaves everything as it is. Idempotent. */
  close(): Promise<void>;
}
