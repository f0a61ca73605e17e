import type { Clock } from '../clock.js';
import type { ServerCredentials } from '../credentials.js';
import type { Dialler } from '../dialler/dialler.js';
import { parseServerUrl } from '../server-url.js';
import { createBearer, type Bearer } from './bearer.js';
import { Connections } from './connections.js';
import { impersonationHeaders } from './impersonation.js';

/** Limits of the connections of one client. */
export interface SessionOptions {
  readonly dialler: Dialler;
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly maxHeaderBytes: number;
  readonly clock: Clock;
}

/** Connections and identity that belong to one set of credentials. */
export interface Session {
  readonly origin: string;
  /** Path of `server`, verbatim, without a trailing slash. */
  readonly basePath: string;
  readonly bearer: Bearer;
  /** Sent with every request, beside what the bearer adds. */
  readonly identityHeaders: Readonly<Record<string, string | string[]>>;
  readonly connections: Connections;
}

/**
 * @param previous its connections are taken over where the sockets would be the same, so that a token that is
 * renewed every few minutes costs no new TLS connections
 * @throws KubeconfigError for a server that is no plain URL; AddressDeniedError for a proxy that is not allowed
 */
export function openSession(
  credentials: ServerCredentials,
  options: SessionOptions,
  previous?: Session,
): Session {
  const { origin, path } = parseServerUrl(credentials.server);
  const tls = {
    ca: credentials.ca,
    tlsServerName: credentials.tlsServerName,
    proxyUrl: credentials.proxyUrl,
    insecureSkipTlsVerify: credentials.insecureSkipTlsVerify,
    ...(credentials.auth.kind === 'certificate'
      ? { cert: credentials.auth.cert, key: credentials.auth.key }
      : {}),
  };
  const key = JSON.stringify([origin, tls]);
  return {
    origin,
    basePath: path,
    bearer: createBearer(credentials.auth, options.clock),
    identityHeaders: impersonationHeaders(credentials.impersonate),
    connections:
      previous?.connections.key === key
        ? previous.connections
        : new Connections(origin, key, {
            connect: options.dialler.connector({ ...tls, connectTimeoutMs: options.connectTimeoutMs }),
            maxHeaderSize: options.maxHeaderBytes,
            connections: options.connections,
          }),
  };
}
