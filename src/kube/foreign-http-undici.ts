import { Client } from 'undici';
import type { Clock } from './clock.js';
import type { Dialler } from './dialler/dialler.js';
import { ProtocolError, TransportError } from './errors.js';
import type { ForeignHttp, ForeignResponse } from './foreign-http.js';
import { createSystemClock } from './system-clock.js';
import { openScope, whileScoped } from './transport/abort-scope.js';
import { asKubeError } from './transport/failure.js';
import { isCompressed, readAll, ResponseStream } from './transport/response-stream.js';

/** Limits and effects of requests to hosts that tenants named. */
export interface ForeignHttpOptions {
  readonly dialler: Dialler;
  readonly userAgent: string;
  /** Milliseconds for a whole request, where it does not say. Default 15 s. */
  readonly timeoutMs?: number | undefined;
  /** Bytes of a whole body, where the request does not say. Default 1 MiB. */
  readonly maxBytes?: number | undefined;
  readonly clock?: Clock | undefined;
}

type ForeignRequest = Parameters<ForeignHttp['request']>[0];

/**
 * Every request has a connection of its own, closed with it: such requests are rare, and tenants' hosts then
 * leave nothing behind and share nothing. Redirects come back as they are.
 */
export function createForeignHttp(options: ForeignHttpOptions): ForeignHttp {
  const clock = options.clock ?? createSystemClock();
  const active = new Set<Client>();
  let closed = false;

  const request = async (init: ForeignRequest): Promise<ForeignResponse> => {
    const url = parseUrl(init.url);
    const what = `${init.method} ${url.origin}${url.pathname}`;
    if (closed) throw new TransportError(`${what}: the client was closed`, 'aborted');
    const timeoutMs = init.timeoutMs ?? options.timeoutMs ?? 15_000;
    const connect = options.dialler.connector({ ca: init.ca, connectTimeoutMs: timeoutMs });
    const client = new Client(url.origin, { connect, pipelining: 1, maxHeaderSize: 32 * 1024 });
    active.add(client);
    const scope = openScope({ clock, timeoutMs, signal: init.signal, what });
    try {
      const stream = new ResponseStream(client, {
        method: init.method,
        path: url.pathname + url.search,
        headers: { 'user-agent': options.userAgent, ...init.headers, 'accept-encoding': 'identity' },
        body: init.body,
      });
      return await whileScoped(scope, stream, async () => {
        const head = await stream.head();
        if (isCompressed(head))
          throw new ProtocolError(`${what}: the answer is compressed, which was not asked for`);
        return { ...head, body: await readAll(stream, init.maxBytes ?? options.maxBytes ?? 1024 * 1024) };
      });
    } catch (error) {
      throw asKubeError(error, what);
    } finally {
      scope.dispose();
      active.delete(client);
      await client.destroy();
    }
  };
  return {
    request,
    close: async () => {
      closed = true;
      await Promise.all([...active].map((client) => client.destroy()));
    },
  };
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new ProtocolError(`${JSON.stringify(text)} is not an http or https URL without user information`);
  return url;
}
