import type { DialPolicy } from '../../kube/dialler/policy.js';
import type { ServerCredentials } from '../../kube/credentials.js';
import type { LogicalCluster } from '../../kube/object.js';

/**
 * How far a binding should be. Level-triggered: main sends the whole assignment again whenever anything in
 * it changes, and the worker works towards it from the truth on both servers.
 * - `prepare`: make export request, read export and schemas, convert, report
 * - `sync`: additionally sync objects; `consumer` is set
 * - `drain`: delete or orphan the copies, take the finalizers off; then report `drained`
 * - `leave`: remove what our account may remove on the provider; then report `left`
 */
export type Stage = 'prepare' | 'sync' | 'drain' | 'leave';

export interface RequestedResource {
  readonly group: string;
  readonly resource: string;
  readonly versions: readonly string[];
}

/** What goes into an APIServiceExportRequest when there is no export of that name yet. */
export interface ExportRequestPlan {
  /** Name of request and export. */
  readonly name: string;
  /** Absent: the export, or a request, must exist already (a template named with a kubeconfig). */
  readonly create?: {
    readonly resources: readonly RequestedResource[];
    readonly permissionClaims: readonly Record<string, unknown>[];
    readonly namespaces: readonly string[];
    readonly schemaUpdatePolicy: 'Never' | 'Always';
  };
}

/** A claim on related resources that workspace and binding have both accepted. */
export interface AcceptedClaim {
  readonly group: string;
  readonly resource: string;
}

/** One API as the consumer's workspace is served it, whatever the provider says by now. */
export interface ServedAs {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly scope: 'Cluster' | 'Namespaced';
  /** The version that is synced. */
  readonly version: string;
  readonly hasStatus: boolean;
}

/** The consumer's side: one workspace of the generated export's virtual workspace. */
export interface ConsumerAccess {
  /** `<url>/clusters/<logical cluster>`; `server` of the credentials already holds it. */
  readonly credentials: ServerCredentials;
  readonly apis: readonly ServedAs[];
  /** Stands for the schemas that the workspace is bound to; another value: another schema. */
  readonly schemas: string;
}

export interface BindingAssignment {
  /** `<logical cluster>|<binding UID>`. */
  readonly key: string;
  /** Grows with each change of this assignment. */
  readonly revision: number;
  readonly stage: Stage;
  readonly cluster: LogicalCluster;
  readonly bindingName: string;
  readonly bindingUid: string;
  readonly provider: {
    readonly credentials: ServerCredentials;
    readonly contractNamespace: string;
    /** Where set, any other UID is `ProviderChanged` and nothing is written. */
    readonly contractNamespaceUid?: string;
  };
  readonly request: ExportRequestPlan;
  readonly consumer?: ConsumerAccess;
  readonly claims: readonly AcceptedClaim[];
  readonly conflictPolicy: 'Fail' | 'Adopt';
  readonly deletionPolicy: 'Delete' | 'Orphan';
  readonly paused: boolean;
  /** Give up on the provider while draining or leaving. */
  readonly force: boolean;
  /** One binding of a connection beats; the names go into ClusterBinding.status.consumerSecretRef. */
  readonly heartbeat?: { readonly secretNamespace: string; readonly secretName: string };
  /** Contract namespaces' APIServiceNamespaces that other bindings of the connection still use. */
  readonly namespacesInUse: NamespacesInUse;
}

/** Consumer namespaces; `unknown`: any may be in use, so none is given up. */
export type NamespacesInUse = readonly string[] | 'unknown';

/** Limits and deadlines of all bindings in a worker; options so that tests can shorten them. */
export interface SyncerOptions {
  readonly absenceGraceMs: number;
  readonly requestTimeoutMs: number;
  readonly watchSilenceMs: number;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
  readonly heartbeatIntervalMs: number;
  readonly reportIntervalMs: number;
  readonly concurrency: number;
  /** Requests a second to one provider. */
  readonly providerQps: number;
  readonly dialPolicy: DialPolicy;
}
