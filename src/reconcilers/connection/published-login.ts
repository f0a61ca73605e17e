import { parseLoginTarget } from '../../state/login/login-url.js';
import { sameHash, secretHash } from '../../state/login/secret-hash.js';
import { normalizeUserCode } from '../../state/login/user-code.js';
import type { Login } from '../../state/records.js';
import type { ConnectionStatus } from '../views.js';
import type { PublishedLogin } from './status.js';

/**
 * The URL and code in status, when they are those of the stored login. Anybody who may write status could have
 * put something else there, so both are compared with the hashes, and the URL's start with our own.
 */
export function publishedLogin(
  authentication: ConnectionStatus['authentication'],
  login: Login | undefined,
  expected: { readonly externalUrl: string | undefined; readonly stateName: string },
): PublishedLogin | undefined {
  const { url, userCode } = authentication ?? {};
  if (url === undefined || login === undefined || expected.externalUrl === undefined) return undefined;
  const prefix = `${expected.externalUrl.replace(/\/+$/, '')}/login/`;
  if (!url.startsWith(prefix)) return undefined;
  const target = parseLoginTarget(url.slice(prefix.length));
  if (target?.stateName !== expected.stateName || !sameHash(login.idHash, secretHash(target.id))) {
    return undefined;
  }
  if (login.userCodeHash === undefined) return userCode === undefined ? { url } : undefined;
  const fits =
    userCode !== undefined && sameHash(login.userCodeHash, secretHash(normalizeUserCode(userCode)));
  return fits ? { url, userCode } : undefined;
}
