import { localBackend } from '../account/secret-connection.js';
import { printable } from '../output/printable.js';
import type { Connection } from '../typed-objects.js';
import { ok, warning, type Check } from './check.js';

/** Which handshake fits, as far as the connections tell. */
export type HandshakeFit = 'controller' | 'local' | 'unknown';

/** The controller serves no login pages, and says so at a connection. */
export function hasNoLoginPages(connection: Connection): boolean {
  return (connection.status?.conditions ?? []).some(
    ({ type, status, reason }) =>
      type === 'Authenticated' && status === 'False' && reason === 'HandshakeUnavailable',
  );
}

/** @param reachable whether the login page of a connection answers this machine; undefined where it was not asked */
export function checkHandshake(
  connections: readonly Connection[],
  reachable: (url: string) => boolean | undefined,
): { readonly fit: HandshakeFit; readonly check: Check } {
  const withBackend = connections.filter(({ spec }) => spec.backend !== undefined);
  if (withBackend.some(hasNoLoginPages)) {
    return {
      fit: 'local',
      check: warning(
        'handshake',
        'the controller publishes no login pages',
        'use --handshake=local (`kubectl kcp bind URL` falls back to it by itself)',
      ),
    };
  }
  const page = withBackend.map(({ status }) => status?.authentication?.url).find((url) => url !== undefined);
  if (page !== undefined) {
    const host = printable(URL.canParse(page) ? new URL(page).host : page, 200);
    if (reachable(page) === false) {
      return {
        fit: 'local',
        check: warning(
          'handshake',
          `the controller's login page is on ${host}, which this machine does not reach`,
          'use --handshake=local, or open the page in a browser that reaches it',
        ),
      };
    }
    return { fit: 'controller', check: ok('handshake', `controller: its login page is on ${host}`) };
  }
  if (withBackend.some(({ status }) => status?.phase === 'Connected')) {
    return { fit: 'controller', check: ok('handshake', 'controller: a login has succeeded with it') };
  }
  if (connections.some((connection) => localBackend(connection) !== undefined)) {
    return { fit: 'local', check: ok('handshake', 'local: a connection was made with it') };
  }
  return {
    fit: 'unknown',
    check: ok(
      'handshake',
      'controller, as far as can be known before the first connection; `kubectl kcp bind URL` falls back to local where it publishes no login page',
    ),
  };
}
