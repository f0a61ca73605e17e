import { expire, isExpired } from '../../state/login/login-steps.js';
import type { Login } from '../../state/records.js';
import { GVR } from '../../api/gvr.js';
import type { ConnectionObservation } from './observation.js';

/** How far the login is, as the connection's status tells it. */
export type LoginView =
  | { readonly kind: 'none' }
  | { readonly kind: 'live'; readonly login: Login; readonly expiresAt: number }
  | { readonly kind: 'over'; readonly login: Login };

/** A login is live until its time is over, it was ended or it led to an account. */
export function loginView(login: Login | undefined, now: number): LoginView {
  if (login === undefined) return { kind: 'none' };
  if (login.stage === 'ended' || login.stage === 'finished' || isExpired(login, now)) {
    return { kind: 'over', login: expire(login, now) };
  }
  return { kind: 'live', login, expiresAt: Date.parse(login.expiresAt) };
}

/** Why no login can be made in this workspace now, in words that say what to do; undefined when one can. */
export function whyNoHandshake(observed: ConnectionObservation): string | undefined {
  if (!observed.handshakeServed) {
    return 'Logins are switched off: the platform admin starts the controller with --external-url to serve the login pages. A kubeconfig works without: create a connection with spec.kubeconfigSecretRef.';
  }
  if (!observed.claims.allows(GVR.logicalClusters, 'get', 'list', 'watch')) {
    const name = observed.claims.apiBinding ?? 'to the client export';
    return `The login page must show this workspace's path: accept the permission claim logicalclusters.core.kcp.io on APIBinding ${name} of this workspace.${observed.claims.hint(GVR.logicalClusters)}`;
  }
  return undefined;
}

/**
 * True when a (new) login is to be started. An expired or ended one is never renewed by itself: that takes a
 * change of `spec.login.challenge` or the login page's button. One whose URL was lost between the two writes
 * (state, then status), or overwritten in status, is replaced unless a browser is already at it.
 */
export function wantsLogin(observed: ConnectionObservation): boolean {
  const { account, login } = observed.state;
  const challenge = observed.spec.login?.challenge;
  if (login === undefined) return account === undefined || challenge !== undefined;
  if (challenge !== login.challenge && (challenge !== undefined || account === undefined)) return true;
  if (login.stage === 'ended' && login.restartRequestedAt !== undefined) return true;
  return login.stage === 'awaited' && !isExpired(login, observed.now) && !observed.loginPublished;
}
