import type { ConditionState } from '../../api/conditions.js';
import { GVR } from '../../api/gvr.js';
import { detail, no, unknown, yes } from '../conditions.js';
import { loginView, whyNoHandshake } from './login-plan.js';
import type { ConnectionObservation, SecretProbe } from './observation.js';
import type { ConnectionSpec } from '../views.js';

const START_ANOTHER =
  'Start another login: run "kubectl kcp bind login" for this connection, change spec.login.challenge, or use the button of the login page.';

/** Condition `Authenticated`: are there credentials for the provider, and if not, what a person has to do. */
export function authenticatedCondition(observed: ConnectionObservation): ConditionState {
  return observed.secret === undefined ? byLogin(observed) : bySecret(observed, observed.secret);
}

function byLogin(observed: ConnectionObservation): ConditionState {
  if (observed.state.account !== undefined) return yes('LoggedIn');
  const view = loginView(observed.state.login, observed.now);
  if (view.kind === 'live') {
    const where =
      view.login.challenge === undefined
        ? 'Open status.authentication.url in a browser and type status.authentication.userCode there'
        : 'Finish the login in the browser that the plugin has opened';
    return no('AwaitingLogin', `${where}, before ${view.login.expiresAt}.`);
  }
  const unavailable = whyNoHandshake(observed);
  if (unavailable !== undefined) return no('HandshakeUnavailable', unavailable);
  if (view.kind === 'none')
    return unknown('AwaitingLogin', 'The login starts as soon as the backend answers.');
  const because = detail(view.login.endedBecause ?? 'the login led to no account');
  return no(view.login.endedReason ?? 'LoginEnded', `The login ended: ${because}. ${START_ANOTHER}`);
}

function bySecret(observed: ConnectionObservation, secret: SecretProbe): ConditionState {
  const ref = observed.spec.kubeconfigSecretRef;
  const name = `Secret ${ref?.namespace ?? ''}/${ref?.name ?? ''}`;
  const stored = observed.state.account !== undefined;
  if (secret.kind === 'usable') return yes('KubeconfigStored');
  if (secret.kind === 'invalid') {
    const kept = stored ? ' The kubeconfig that was stored before stays in use.' : '';
    return no('KubeconfigInvalid', `${name}, key ${keyOf(ref)}: ${secret.message}.${kept}`);
  }
  // A Secret that cannot be seen any more takes nothing away: deleting the connection does.
  if (stored) {
    return yes(
      'KubeconfigStored',
      `${secretTrouble(secret.kind, name, observed)} The copy that was stored before stays in use; delete the connection to end that.`,
    );
  }
  const reasons = {
    'claim-missing': 'SecretsClaimMissing',
    'not-found': 'SecretNotFound',
    'not-labelled': 'SecretNotLabelled',
  } as const;
  return no(reasons[secret.kind], secretTrouble(secret.kind, name, observed));
}

function secretTrouble(
  kind: 'claim-missing' | 'not-found' | 'not-labelled',
  name: string,
  observed: ConnectionObservation,
): string {
  switch (kind) {
    case 'claim-missing':
      return `${name} cannot be read: accept the permission claim secrets on APIBinding ${observed.claims.apiBinding ?? 'to the client export'} of this workspace.${observed.claims.hint(GVR.secrets)}`;
    case 'not-found':
      return `${name} does not exist: create it with the kubeconfig and the label kcp.kube-bind.io/credentials: "true".`;
    case 'not-labelled':
      return `${name} lacks the label kcp.kube-bind.io/credentials: "true"; add it to let this connection use the Secret.`;
  }
}

function keyOf(ref: ConnectionSpec['kubeconfigSecretRef']): string {
  return ref?.key ?? 'kubeconfig';
}
