import type { KubeClient } from '../client.js';
import type { ServerCredentials } from '../credentials.js';
import { fencedClient } from '../fenced-client.js';

/** A client whose credentials can be renewed while it is in use. */
export interface ReloadableClient extends KubeClient {
  /**
   * New requests use the new credentials; requests that run keep theirs. Open watches end: normally, so that
   * they can be resumed at once, or with ApiError(410) when `server` differs, since resource versions of one
   * server mean nothing to another. Also takes effect for clients made with `at`. Throws KubeconfigError or
   * AddressDeniedError, and changes nothing, for credentials that cannot be used.
   */
  setCredentials(credentials: ServerCredentials): void;
}

/** The same client, fenced: see `fencedClient`. */
export function fencedReloadable(client: ReloadableClient, mayWrite: () => boolean): ReloadableClient {
  return Object.assign(fencedClient(client, mayWrite), {
    setCredentials: (credentials: ServerCredentials) => client.setCredentials(credentials),
  });
}
