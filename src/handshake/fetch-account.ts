import { untrustedText } from '../api/untrusted-text.js';
import { BackendError } from '../backend/errors.js';
import type { BackendApi } from '../backend/http/backend-api.js';
import { templatesToOffers } from '../backend/http/offers.js';
import { consumerIdentity, normalizeOrigin } from '../backend/identity.js';
import type { BindResult } from '../backend/http/bind-answer.js';
import type { Clock } from '../kube/clock.js';
import type { ServerCredentials } from '../kube/credentials.js';
import { KubeError, KubeconfigError } from '../kube/errors.js';
import type { Account, LoginEndedReason } from '../state/records.js';
import type { LiveConnection } from './live-connection.js';
import type { WorkspaceIdentity } from './workspace-identity.js';

/**
 * What came of asking the backend.
 * - `account`: credentials and offers
 * - `ended`: a definite no; `because` is text for people
 * - `unavailable`: it may work the next time
 */
export type AccountOutcome =
  | { readonly kind: 'account'; readonly account: Account }
  | { readonly kind: 'ended'; readonly reason: LoginEndedReason; readonly because: string }
  | { readonly kind: 'unavailable'; readonly because: string };

export interface AccountRequest {
  readonly backend: BackendApi;
  /** The login's token; used here and then forgotten. */
  readonly token: string;
  readonly connection: LiveConnection;
  readonly workspace: WorkspaceIdentity;
  readonly key: Uint8Array;
  readonly sanitize: (kubeconfig: string) => ServerCredentials;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Pauses, in milliseconds, before a bind request is made again. A backend that makes two accounts at once fails one of
 * them with 500 (v0.8.2), and the person would have to start anew.
 */
const RETRY_PAUSES = [1000, 3000];

/**
 * Reads the offers and makes a bind request, for the kubeconfig only: what the backend proposes with it is left
 * alone. Safe to repeat, since the same identity always gets the same account.
 */
export async function fetchAccount(request: AccountRequest): Promise<AccountOutcome> {
  const { backend, token, connection, signal } = request;
  try {
    const offers = templatesToOffers([...(await backend.templates(token, signal))]);
    const [first] = offers;
    if (first === undefined) {
      return { kind: 'ended', reason: 'NoOffers', because: 'the provider offers no template' };
    }
    const identity = identityOf(request);
    const { kubeconfig } = await patiently(request, () =>
      backend.bind(token, { template: first.template, name: first.template, identity }, signal),
    );
    const credentials = request.sanitize(kubeconfig);
    if (credentials.namespace === undefined) {
      return refused('the kubeconfig that the provider gave names no namespace in its context');
    }
    return {
      kind: 'account',
      account: {
        source: 'handshake',
        credentials,
        contractNamespace: credentials.namespace,
        offers,
        obtainedAt: new Date(request.clock.now()).toISOString(),
      },
    };
  } catch (error) {
    return outcomeOf(error, connection);
  }
}

async function patiently(
  { clock, signal }: AccountRequest,
  bind: () => Promise<BindResult>,
): Promise<BindResult> {
  for (const pause of RETRY_PAUSES) {
    try {
      return await bind();
    } catch (error) {
      if (!(error instanceof BackendError && error.status === 500)) throw error;
      await clock.sleep(pause, signal).catch(() => {
        throw error;
      });
    }
  }
  return bind();
}

/** Who we are to this backend. Computed here, sent, and kept nowhere. */
function identityOf({ key, workspace, connection }: AccountRequest): string {
  const { url, clusterID, account } = connection.backend;
  return consumerIdentity(key, {
    clusterUid: workspace.uid,
    connectionName: connection.ref.name,
    origin: normalizeOrigin(url),
    clusterID,
    account,
  });
}

function outcomeOf(error: unknown, connection: LiveConnection): AccountOutcome {
  if (error instanceof KubeconfigError) {
    return refused(`the kubeconfig that the provider gave cannot be used: ${error.message}`);
  }
  if (error instanceof BackendError) {
    const because = untrustedText(error.message, 1500);
    // The token is fresh: one that is not accepted now belongs to a backend that restarted meanwhile.
    const passes = error.temporary || error.code === 'BACKEND_UNAUTHORIZED';
    return passes ? { kind: 'unavailable', because } : refused(because);
  }
  if (error instanceof KubeError) {
    const because = `${connection.backend.url} did not answer: ${untrustedText(error.message, 600)}`;
    return { kind: 'unavailable', because };
  }
  throw error;
}

function refused(because: string): AccountOutcome {
  return { kind: 'ended', reason: 'BackendRefused', because };
}
