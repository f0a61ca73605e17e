import { KubeconfigError, ProtocolError } from './errors.js';
import { basePath } from './paths.js';

/** A server's URL, taken apart. */
export interface ServerUrl {
  /** `https://host[:port]`, default ports left out. */
  readonly origin: string;
  /** As it was written, without a trailing slash; empty for none. */
  readonly path: string;
}

const MAX_SERVER_CHARS = 2048;

/**
 * Takes `http(s)://host[:port][/path]` apart. The path is not normalised: kcp's hold `:` and `*`.
 *
 * @param field where the URL stands, for the error
 * @throws KubeconfigError for user information, a query, a fragment, or anything else that is no plain URL
 */
export function parseServerUrl(server: string, field = 'server'): ServerUrl {
  const match = /^https?:\/\/[^/?#@\s\\]+(\/[^?#\s]*)?$/i.exec(server);
  if (match === null || server.length > MAX_SERVER_CHARS || !URL.canParse(server))
    throw new KubeconfigError(
      `${field} must be https://host[:port][/path], without user information, query or fragment`,
      field,
    );
  try {
    return { origin: new URL(server).origin, path: basePath(match[1] ?? '') };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw new KubeconfigError(`${field}: ${error.message}`, field);
  }
}
