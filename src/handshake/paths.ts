import { NONCE_PARAMETER } from '../backend/http/callback.js';
import type { LoginTarget } from '../state/login/login-url.js';
import type { ExternalUrl } from './external-url.js';

/** Path of a login's page as browsers see it. */
export function loginPath(external: ExternalUrl, { stateName, id }: LoginTarget): string {
  return `${external.prefix}/login/${stateName}.${id}`;
}

/** Where a backend sends the browser back to; the nonce ties its answer to one redirect. */
export function callbackUrl(external: ExternalUrl, stateName: string, nonce: string): string {
  return `${external.url}/callback/${stateName}?${NONCE_PARAMETER}=${nonce}`;
}
