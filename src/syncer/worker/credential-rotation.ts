import { isDeepStrictEqual } from 'node:util';
import type { ServerCredentials } from '../../kube/credentials.js';

/**
 * Tells when the kubeconfig that a provider keeps in the contract namespace replaces the credentials in use.
 *
 * At first sight it does only for the same address: a user's own kubeconfig may reach the provider by another one
 * than the provider knows of itself. Later every change of the Secret counts.
 */
export class CredentialRotation {
  #ignored: ServerCredentials | undefined;
  #first = true;

  /**
   * @param stored what the provider's Secret says now; undefined: it says nothing
   * @returns credentials to change to, once the caller has checked that they lead to the same contract namespace
   */
  candidate(stored: ServerCredentials | undefined, inUse: ServerCredentials): ServerCredentials | undefined {
    if (stored === undefined) return undefined;
    const first = this.#first;
    this.#first = false;
    if (sameAccess(stored, inUse)) return undefined;
    if (first && stored.server !== inUse.server) this.#ignored = stored;
    return this.#ignored !== undefined && sameAccess(stored, this.#ignored) ? undefined : stored;
  }

  /** They lead elsewhere: not given again until the Secret changes. */
  refuse(credentials: ServerCredentials): void {
    this.#ignored = credentials;
  }
}

/** True where both reach the same address as the same account. */
export function sameAccess(a: ServerCredentials, b: ServerCredentials): boolean {
  return (
    a.server === b.server &&
    a.ca === b.ca &&
    a.tlsServerName === b.tlsServerName &&
    a.proxyUrl === b.proxyUrl &&
    isDeepStrictEqual(a.auth, b.auth)
  );
}
