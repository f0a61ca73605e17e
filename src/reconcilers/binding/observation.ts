import type { ConditionState } from '../../api/conditions.js';
import type { Account } from '../../state/records.js';
import type { ConsumerAccess, NamespacesInUse } from '../../syncer/protocol/assignment.js';
import type { BindingReport } from '../../syncer/protocol/report.js';
import type { KubeObject } from '../../kube/object.js';
import type { ExportHome, WorkspaceClaims } from '../claims.js';
import type { BindingSpec } from '../views.js';
import type { BindingRef } from './owner.js';
import type { SchemaDecision } from './schema-plan.js';

/** The connection that the binding names. */
export type ConnectionView =
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'present';
      readonly name: string;
      readonly uid: string;
      readonly deleting: boolean;
      readonly account: Account | undefined;
      /** Secret name in the client workspace: how our own heartbeat is told from another's. */
      readonly stateName: string;
    };

/** APIBindings of the consumer workspace that refer to the generated export. */
export type ApiBindingView =
  /** It cannot be told now; never taken for "none". */
  | { readonly kind: 'unknown'; readonly message: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'found'; readonly object: KubeObject; readonly ours: boolean }
  /** More than one makes kcp's authorisation random. */
  | { readonly kind: 'several'; readonly names: readonly string[]; readonly ours: KubeObject | undefined }
  /** An APIBinding of our name that refers to another export. */
  | { readonly kind: 'name-taken'; readonly refersTo: string };

/** The way to the consumer's objects, through the generated export's virtual workspace. */
export type AccessView =
  /** No APIBinding, or not bound: there is nothing to reach. */
  | { readonly kind: 'none' }
  | { readonly kind: 'served'; readonly access: ConsumerAccess }
  | { readonly kind: 'not-served'; readonly message: string };

/** Parts of the generated export in the client workspace that were looked for and are not there (or differ). */
export interface MissingParts {
  readonly identity: boolean;
  /** Names of APIResourceSchemas. */
  readonly schemas: readonly string[];
  readonly account: boolean;
  readonly role: boolean;
  readonly roleBinding: boolean;
  /** Role for binding by users: to be there or not, and is not so. */
  readonly bindRole: 'fine' | 'missing' | 'left-over';
  /** Own APIResourceSchemas that nothing names any more. */
  readonly oldSchemas: readonly string[];
}

/** What runs of this process remember about a binding; a restart begins with the first value of each. */
export interface Progress {
  readonly drained: boolean;
  readonly cleaned: boolean;
  /** Set once the worker has left the provider: what stays there. */
  readonly left?: readonly string[];
}

/** A step that failed in the last run; its conditions say so until it succeeds. */
export interface StepFailure {
  readonly step: string;
  readonly message: string;
}

/** All that decides about a binding. Data only, so that every case can stand in a table. */
export interface BindingObservation {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly home: ExportHome;
  /** Namespace of the client workspace for state and accounts. */
  readonly namespace: string;
  readonly ref: BindingRef;
  /** False: the object is provably gone and only what was made for it is left. */
  readonly exists: boolean;
  readonly deleting: boolean;
  readonly hasFinalizer: boolean;
  readonly force: boolean;
  readonly spec: BindingSpec;
  readonly workspaceDying: boolean;
  readonly connection: ConnectionView;
  /** It is the oldest live binding of its connection. */
  readonly beats: boolean;
  readonly claims: WorkspaceClaims;
  /** Last report about any revision of the assignment. */
  readonly latest: BindingReport | undefined;
  /** Last report about the newest revision. */
  readonly fresh: BindingReport | undefined;
  /** Of the worker's schemas; undefined while there are none. */
  readonly schemas: SchemaDecision | undefined;
  /** The generated export as it is now. */
  readonly generated: KubeObject | undefined;
  /** Undefined: not looked for, because the export carries the hash of what it should be. */
  readonly missing: MissingParts | undefined;
  readonly failure: StepFailure | undefined;
  readonly apiBinding: ApiBindingView;
  readonly access: AccessView;
  /** This process has a worker that may write to a provider for it. */
  readonly working: boolean;
  readonly progress: Progress;
  /** Namespaces in which other bindings of the contract namespace have copies; undefined: not all are known yet. */
  readonly namespacesInUse: NamespacesInUse | undefined;
}

export type BindingCondition =
  | 'Connected'
  | 'PermissionClaimsAccepted'
  | 'ExportReady'
  | 'SchemaInSync'
  | 'APIBound'
  | 'Syncing'
  | 'Ready';
export type BindingConditions = readonly (readonly [BindingCondition, ConditionState])[];
