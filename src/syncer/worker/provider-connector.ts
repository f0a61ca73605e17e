import type { ServerCredentials } from '../../kube/credentials.js';
import type { ReloadableClient } from '../../kube/transport/reloadable-client.js';
import { pacedClient } from './paced-client.js';
import type { RenewableClient } from './provider-link.js';
import type { ServerPace } from './server-pace.js';

/**
 * Gives the way to make clients of providers that share what may be asked of one server. A client changes its bucket
 * with the server of its credentials.
 */
export function pacedConnector(
  connect: (credentials: ServerCredentials) => ReloadableClient,
  pace: ServerPace,
): (credentials: ServerCredentials) => RenewableClient {
  return (credentials) => {
    const client = connect(credentials);
    const closed = new AbortController();
    let share = pace.acquire(credentials.server);
    const paced = pacedClient(client, (signal) => share.bucket.take(signal ?? closed.signal));
    return Object.assign(paced, {
      setCredentials(next: ServerCredentials) {
        client.setCredentials(next);
        share.release();
        share = pace.acquire(next.server);
      },
      async close() {
        closed.abort();
        share.release();
        await client.close();
      },
    });
  };
}
