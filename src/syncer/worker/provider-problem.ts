import type { BindingConditionType, ConditionState } from '../../api/conditions.js';
import { untrustedText } from '../../api/untrusted-text.js';
import {
  AddressDeniedError,
  ApiError,
  KubeconfigError,
  ProtocolError,
  TransportError,
} from '../../kube/errors.js';

/** How soon a failed pass is tried again: `soon` with the usual back-off, `slowly` where only a person can help. */
export type Retry = 'soon' | 'slowly';

/** What an error from the provider means for the binding. */
export interface ProviderProblem {
  readonly condition: Extract<BindingConditionType, 'Connected' | 'ExportReady'>;
  readonly state: ConditionState & { readonly status: 'False' };
  readonly retry: Retry;
}

/** The server's own words are kept this long. */
const MAX_QUOTE = 300;

/**
 * Reads an error of a request to the provider's API server. Pure.
 *
 * @param server URL of the provider, for the message
 */
export function providerProblem(error: unknown, server: string): ProviderProblem {
  if (error instanceof ApiError) return ofAnswer(error, server);
  if (error instanceof AddressDeniedError) {
    return unreachable('slowly', `The provider's address is not allowed: ${quote(error)}.`);
  }
  if (error instanceof KubeconfigError) {
    return unreachable(
      'slowly',
      `The kubeconfig for ${server} cannot be used: ${error.field}: ${quote(error)}. Put a corrected one into the Secret, or log in again.`,
    );
  }
  if (error instanceof TransportError && error.kind === 'tls') {
    return unreachable(
      'slowly',
      `TLS with the provider at ${server} failed: ${quote(error)}. Check the certificate authority in the kubeconfig.`,
    );
  }
  if (error instanceof TransportError) {
    return unreachable(
      'soon',
      `The provider at ${server} does not answer: ${quote(error)}. It is tried again; nothing is deleted meanwhile.`,
    );
  }
  if (error instanceof ProtocolError) {
    return unreachable(
      'slowly',
      `The provider at ${server} answers something that no Kubernetes API server answers: ${quote(error)}. Check the server URL in the kubeconfig.`,
    );
  }
  return unreachable(
    'soon',
    `An unexpected error came up while speaking with the provider at ${server}; it is tried again. The controller's log has the details.`,
  );
}

function ofAnswer(error: ApiError, server: string): ProviderProblem {
  if (error.status === 401) {
    return connected(
      'Unauthorized',
      'slowly',
      `The provider at ${server} does not accept the credentials any more (401). Log in again, or put a new kubeconfig into the Secret; it is then tried at once. Nothing is deleted meanwhile.`,
    );
  }
  if (error.status === 403) {
    return {
      condition: 'ExportReady',
      retry: 'slowly',
      state: {
        status: 'False',
        reason: 'ProviderForbidden',
        message: `The provider at ${server} forbids a request (403): ${quote(error)}. Ask the provider to restore the rights of this account; it is tried again by itself, and nothing is deleted meanwhile.`,
      },
    };
  }
  if (error.status === 404) {
    return {
      condition: 'ExportReady',
      retry: 'slowly',
      state: {
        status: 'False',
        reason: 'ExportNotFound',
        message: `The provider at ${server} does not serve what kube-bind needs (404): ${quote(error)}. Check that the kubeconfig belongs to a kube-bind provider, v0.8 or later.`,
      },
    };
  }
  return unreachable(
    'soon',
    `The provider at ${server} answers with an error (${String(error.status)}): ${quote(error)}. It is tried again.`,
  );
}

function unreachable(retry: Retry, message: string): ProviderProblem {
  return connected('ProviderUnreachable', retry, message);
}

function connected(
  reason: 'ProviderUnreachable' | 'Unauthorized',
  retry: Retry,
  message: string,
): ProviderProblem {
  return { condition: 'Connected', retry, state: { status: 'False', reason, message } };
}

function quote(error: Error): string {
  return untrustedText(error.message, MAX_QUOTE).replace(/\.$/, '');
}
