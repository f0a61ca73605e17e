import type { Offer } from '../api/offer.js';
import type { ConnectionReason } from '../api/conditions.js';
import type { ServerCredentials } from '../kube/credentials.js';
import type { LogicalCluster } from '../kube/object.js';

export type { Offer, OfferedClaim } from '../api/offer.js';

/** A KubeBindConnection, by what kcp set: the name alone may be used again by another object. */
export interface ConnectionRef {
  readonly cluster: LogicalCluster;
  readonly name: string;
  readonly uid: string;
}

/** What a finished handshake, or a user's kubeconfig Secret, gave us. Lives in the client workspace only. */
export interface Account {
  readonly source: 'handshake' | 'secret';
  readonly credentials: ServerCredentials;
  /** Namespace of the contract on the provider: the kubeconfig's context namespace. */
  readonly contractNamespace: string;
  /** UID of that namespace, once a worker has read it: another one means another account. */
  readonly contractNamespaceUid?: string;
  readonly offers: readonly Offer[];
  /** RFC 3339. */
  readonly obtainedAt: string;
  /** For `secret`: hash of the kubeconfig text that this was made from. */
  readonly sourceHash?: string;
}

/** A login that is awaited or under way. Secrets in it are kept as hashes. */
export interface Login {
  /** SHA-256, hex, of the id in the published URL. */
  readonly idHash: string;
  /** From `spec.login.challenge`: SHA-256, base64url, of the plugin's verifier. */
  readonly challenge?: string;
  /** Where there is no challenge: SHA-256, hex, of the code that the person types. */
  readonly userCodeHash?: string;
  readonly wrongCodes: number;
  /** RFC 3339. */
  readonly expiresAt: string;
  /**
   * - `awaited`: URL published
   * - `claimed`: one browser has proven verifier or code; bound to it by `cookieHash`
   * - `redirected`: sent to the backend; `nonceHash` and `sessionId` tie the callback to it
   * - `finished`, `ended` (too many wrong codes, refused): over
   */
  readonly stage: 'awaited' | 'claimed' | 'redirected' | 'finished' | 'ended';
  /** SHA-256, hex. Stays after `finished`: the browser that made the login may go on to the catalogue. */
  readonly cookieHash?: string;
  /**
   * SHA-256, hex, of the nonce in the callback's URL. Taken away by the callback that used it: stage
   * `redirected` without it means that a callback was accepted and its account is not stored yet.
   */
  readonly nonceHash?: string;
  /** SHA-256, hex, of the session id that was given to the backend. */
  readonly sessionHash?: string;
  /** Who picks from the offers afterwards: the page, or the terminal that opened it. Absent: the page. */
  readonly picker?: 'page' | 'terminal';
  /** For `ended`: why, in words for the connection's condition. */
  readonly endedBecause?: string;
  /** For `ended`: the reason that condition `Authenticated` takes. */
  readonly endedReason?: LoginEndedReason;
  /**
   * For `ended`: RFC 3339, when somebody pressed the page's button for another login. Whoever publishes
   * logins starts one then; only he knows the id in its URL.
   */
  readonly restartRequestedAt?: string;
}

/** Reasons of condition `Authenticated` with which a login ends without an account. */
export type LoginEndedReason = Extract<
  ConnectionReason<'Authenticated'>,
  'LoginExpired' | 'LoginEnded' | 'LoginRefused' | 'NoOffers' | 'BackendRefused'
>;

/** All that the client workspace remembers about one connection. */
export interface ConnectionState {
  readonly connection: ConnectionRef;
  readonly account?: Account;
  readonly login?: Login;
}

/** A read state with the resourceVersion that guards its next write; absent version: not stored yet. */
export interface Versioned<T> {
  readonly value: T;
  readonly resourceVersion: string | undefined;
}
