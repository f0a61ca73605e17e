import type { ConnectionReason } from '../../api/conditions.js';
import type { ServerCredentials } from '../../kube/credentials.js';
import type { ConnectionState } from '../../state/records.js';
import type { WorkspaceClaims } from '../claims.js';
import type { ConnectionSpec } from '../views.js';
import type { BindingView } from './report-conditions.js';

/** What the backend's provider document said when it was last asked. */
export type ProviderProbe =
  /** Not asked yet, or the answer is awaited. */
  | { readonly kind: 'pending' }
  | { readonly kind: 'reachable'; readonly prettyName: string; readonly version: string }
  | {
      readonly kind: 'failed';
      readonly reason: Exclude<ConnectionReason<'BackendReachable'>, 'Reachable'>;
      readonly message: string;
    };

/** The user's Secret with a kubeconfig, as far as it may be used. */
export type SecretProbe =
  | { readonly kind: 'claim-missing' }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'not-labelled' }
  | { readonly kind: 'invalid'; readonly message: string }
  | {
      readonly kind: 'usable';
      readonly credentials: ServerCredentials;
      readonly contractNamespace: string;
      /** SHA-256, hex, of the kubeconfig's text. */
      readonly sourceHash: string;
    };

/** All that decides about a connection. Data only, so that every case can stand in a table. */
export interface ConnectionObservation {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly deleting: boolean;
  readonly hasFinalizer: boolean;
  readonly spec: ConnectionSpec;
  /** The workspace's LogicalCluster has a deletionTimestamp: nothing new is begun. */
  readonly workspaceDying: boolean;
  readonly claims: WorkspaceClaims;
  readonly state: ConnectionState;
  /** `status.authentication` is that of `state.login`. */
  readonly loginPublished: boolean;
  /** Login pages are served under a URL. */
  readonly handshakeServed: boolean;
  readonly provider: ProviderProbe;
  /** Undefined with `spec.backend`. */
  readonly secret: SecretProbe | undefined;
  /** Bindings of this workspace that name the connection, deleting ones included. */
  readonly bindings: readonly BindingView[];
  /** Generated exports that are still cleaned up for bindings that are gone. */
  readonly leftovers: number;
}
