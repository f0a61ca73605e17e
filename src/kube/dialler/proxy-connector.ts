import { isNativeError } from 'node:util/types';
import { Socket } from 'node:net';
import { Client, type buildConnector } from 'undici';
import { TransportError } from '../errors.js';

/** How a tunnel through a CONNECT proxy is made. */
export interface ProxyRoute {
  readonly proxyUrl: string;
  /** Opens the connection to the proxy itself. */
  readonly toProxy: buildConnector.connector;
  /** Starts TLS with the target on the open tunnel. */
  readonly overTunnel: buildConnector.connector;
  /** Milliseconds for the proxy's answer to CONNECT. */
  readonly timeoutMs: number;
}

/** Every connection asks the proxy for a tunnel of its own; the proxy resolves the target's name. */
export function createProxyConnector(route: ProxyRoute): buildConnector.connector {
  return (target, callback) => {
    openTunnel(route, target).then(
      (socket) => {
        if (target.protocol === 'https:') route.overTunnel({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: unknown) =>
        callback(isNativeError(error) ? error : new Error('proxy failed', { cause: error }), null),
    );
  };
}

async function openTunnel(route: ProxyRoute, target: buildConnector.Options): Promise<Socket> {
  const port = target.port === '' ? (target.protocol === 'https:' ? '443' : '80') : target.port;
  const host = target.hostname.includes(':') ? `[${target.hostname}]` : target.hostname;
  const client = new Client(route.proxyUrl, { connect: route.toProxy, headersTimeout: route.timeoutMs });
  try {
    const { statusCode, socket } = await client.connect({
      path: `${host}:${port}`,
      headers: { host: `${host}:${port}` },
      signal: AbortSignal.timeout(2 * route.timeoutMs),
    });
    if (statusCode === 200 && socket instanceof Socket) return socket;
    socket.on('error', () => undefined).destroy();
    throw new TransportError(`the proxy ${route.proxyUrl} answered ${statusCode} to CONNECT`, 'connect');
  } finally {
    // The tunnel is detached from the client by now; without one this ends the half-made connection.
    await client.destroy();
  }
}
