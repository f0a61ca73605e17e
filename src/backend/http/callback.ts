import { untrustedText } from '../../api/untrusted-text.js';

/** Query parameter of our redirect URL that ties a callback to its login. */
export const NONCE_PARAMETER = 'nonce';

const MAX_TOKEN = 16 * 1024;

/** A login that succeeded, as far as the query says: compare nonce and session before using the token. */
export interface CallbackToken {
  readonly kind: 'token';
  readonly token: string;
  /** What the backend claims; in practice its session ends after an hour. */
  readonly expiresInSeconds?: number;
  readonly nonce?: string;
  readonly clusterID?: string;
  /** The token's `sid`, unverified. It must be the session id of the login, or the token is somebody else's. */
  readonly sessionId?: string;
}

/** A login that failed. Both texts come from the query: escape them. */
export interface CallbackFailure {
  readonly kind: 'failure';
  /** An OAuth error code such as `access_denied`, or `invalid_callback` where the query makes no sense. */
  readonly error: string;
  readonly description: string;
  readonly nonce?: string;
}

/**
 * Reads the query with which a backend sends the browser back. Values may be anything: a parameter that comes twice
 * (an array, for most parsers) counts as missing.
 */
export function parseCallback(query: Readonly<Record<string, unknown>>): CallbackToken | CallbackFailure {
  const nonce = text(query, NONCE_PARAMETER, 256);
  const tied = nonce === undefined ? {} : { nonce };
  if (Object.hasOwn(query, 'error')) {
    const error = untrustedText(query['error'], 100);
    const description = untrustedText(query['error_description'], 500);
    return { kind: 'failure', error: error === '' ? 'unknown_error' : error, description, ...tied };
  }
  const token = text(query, 'access_token', MAX_TOKEN);
  // It goes into a header, where other characters would end or split it.
  if (token === undefined || !/^[A-Za-z0-9._~+/=-]+$/.test(token))
    return failure('the backend sent no token that can be used', tied);
  const type = text(query, 'token_type', 100) ?? 'Bearer';
  if (type.toLowerCase() !== 'bearer')
    return failure('the backend sent a token that is no Bearer token', tied);
  const seconds = Number(text(query, 'expires_in', 20) ?? NaN);
  const clusterID = text(query, 'cluster_id', 256);
  const sessionId = sessionOf(token);
  return {
    kind: 'token',
    token,
    ...tied,
    ...(Number.isSafeInteger(seconds) && seconds > 0 ? { expiresInSeconds: seconds } : {}),
    ...(clusterID === undefined ? {} : { clusterID }),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}

function failure(description: string, tied: { nonce?: string }): CallbackFailure {
  return { kind: 'failure', error: 'invalid_callback', description, ...tied };
}

function text(query: Readonly<Record<string, unknown>>, name: string, maxLength: number): string | undefined {
  const value = Object.hasOwn(query, name) ? query[name] : undefined;
  return typeof value === 'string' && value !== '' && value.length <= maxLength ? value : undefined;
}

function sessionOf(token: string): string | undefined {
  const payload = token.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    if (typeof claims !== 'object' || claims === null || !('sid' in claims)) return undefined;
    return typeof claims.sid === 'string' ? claims.sid.slice(0, 256) : undefined;
  } catch {
    return undefined;
  }
}
