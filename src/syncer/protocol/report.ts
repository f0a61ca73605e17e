import type { BindingConditionType, ConditionState } from '../../api/conditions.js';
import type { ServerCredentials } from '../../kube/credentials.js';
import type { BindingAssignment } from './assignment.js';

/** One API as the provider's bound schema describes it, converted for kcp. */
export interface ConvertedSchema {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly scope: 'Cluster' | 'Namespaced';
  readonly versions: readonly string[];
  /** First served version: the one that is synced on both sides. */
  readonly syncVersion: string;
  /** SHA-256, hex, of `specJson`. */
  readonly contentHash: string;
  /** JSON of the APIResourceSchema's spec; at most 2 MiB; validated again by the receiver. */
  readonly specJson: string;
  /** The provider converts its versions by a webhook: objects of another version than the served one are lost on us. */
  readonly webhook?: boolean;
}

/** A claim that the provider's export makes, as far as main must know it. */
export interface ReportedClaim {
  readonly group: string;
  readonly resource: string;
  /** The selector in short words, for people. */
  readonly selector: string;
}

/** What a worker knows about one binding. Sent whole, at most every `reportIntervalMs`, when it changed. */
export interface BindingReport {
  readonly key: string;
  /** Revision of the assignment that this speaks about. */
  readonly revision: number;
  /** Conditions that the worker decides; the main thread adds its own and writes all of them. */
  readonly conditions: Partial<
    Record<
      Extract<BindingConditionType, 'Connected' | 'ExportReady' | 'SchemaInSync' | 'Syncing'>,
      ConditionState
    >
  >;
  readonly contractNamespaceUid?: string;
  readonly provider?: { readonly prettyName: string };
  /** The provider's export, once it was read. */
  readonly schemas?: readonly ConvertedSchema[];
  readonly claims?: readonly ReportedClaim[];
  readonly heartbeat?: ConditionState;
  readonly sync: {
    readonly objects: number;
    readonly pending: number;
    readonly failing: number;
    /** RFC 3339. */
    readonly lastSyncTime?: string;
  };
  /** A kubeconfig that the provider rotated: sanitized credentials that replace ours. */
  readonly rotatedCredentials?: ServerCredentials;
  /** All copies are gone or orphaned and no finalizer of ours is left. */
  readonly drained: boolean;
  /** Nothing of ours that we may remove is left on the provider. */
  readonly left: boolean;
  /** What stays on the provider after `left`, in words: `APIServiceExport ns/name`. At most 100. */
  readonly remaining: readonly string[];
  /** Namespaces that this binding has copies in (consumer's names), for the connection's other bindings. */
  readonly namespaces: readonly string[];
}

/** An event for an object in the consumer's workspace; main writes it under the `events` claim. */
export interface ObjectEvent {
  readonly key: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export type ToWorker =
  | { readonly type: 'assign'; readonly assignment: BindingAssignment }
  | { readonly type: 'release'; readonly key: string }
  | { readonly type: 'stop' };

export type FromWorker =
  | { readonly type: 'ready' }
  /**
   * `sameSchemas`: the report leaves `schemas` out because they are those of the last report of this assignment's
   * session; megabytes of schema are not sent again for each figure that changes. The pool puts them back in.
   */
  | { readonly type: 'report'; readonly report: BindingReport; readonly sameSchemas?: true }
  | { readonly type: 'event'; readonly event: ObjectEvent }
  | { readonly type: 'released'; readonly key: string }
  | { readonly type: 'pulse'; readonly metrics: string; readonly externalBytes: number };
