import { readFile } from 'node:fs/promises';
import { createServer, request as httpsRequest, Agent } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Socket } from 'node:net';

import type { KcpAccess } from './kcp.js';

/** A request on its way to the server behind the proxy. */
export interface ProxiedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Whole body of anything but GET; empty for GET. */
  readonly body: string;
  /** The bearer token, for telling clients apart. */
  readonly token: string;
}

/**
 * What to do with a request.
 * - `pass`: hand it on
 * - `drop`: cut the connection; the server never sees it
 * - `swallow`: hand it on, throw the answer away and cut the connection
 * - `hold`: neither answer nor cut, as when packets vanish
 * - `cutAfter`: hand it on, and cut the connection after so many bytes of the answer's body
 * - `write`: an answer that the test writes, as a hostile server would; the connection's end is the answer's
 * - an answer of the proxy's own
 */
export type Verdict =
  | 'pass'
  | 'drop'
  | 'swallow'
  | 'hold'
  | { readonly cutAfter: number }
  | { readonly write: (outgoing: ServerResponse) => void }
  | { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> };

/** Decides on each request; may wait, for a delay. */
export type Rule = (request: ProxiedRequest) => Verdict | Promise<Verdict>;

/** A TLS proxy in front of a kcp or Kubernetes, with its own certificate, that does what its rule says. */
export interface FaultProxy {
  /** `https://127.0.0.1:port`. */
  readonly address: string;
  setRule(rule: Rule): void;
  /** Called after a `swallow`ed request was answered by the server. */
  onSwallowed(listener: (request: ProxiedRequest) => void): void;
  /** Cuts every open connection, watches included. */
  cutAll(): void;
  /** Cuts the answers under way, watches among them, of the requests that match. */
  cut(match: (request: ProxiedRequest) => boolean): void;
  /** Delivers no more of the answers under way that match, and says nothing: as when packets vanish. */
  freeze(match: (request: ProxiedRequest) => boolean): void;
  close(): Promise<void>;
}

export async function startFaultProxy(kcp: Pick<KcpAccess, 'dir' | 'address' | 'ca'>): Promise<FaultProxy> {
  const [key, cert] = await Promise.all([
    readFile(`${kcp.dir}/apiserver.key`),
    readFile(`${kcp.dir}/apiserver.crt`),
  ]);
  const upstream = new URL(kcp.address);
  const agent = new Agent({ keepAlive: true, ca: kcp.ca, maxSockets: 500 });
  const sockets = new Set<Socket>();
  const underWay = new Set<{ readonly seen: ProxiedRequest; cut(): void; freeze(): void }>();
  let rule: Rule = () => 'pass';
  let swallowed: (request: ProxiedRequest) => void = () => undefined;

  const server = createServer({ key, cert }, (incoming, outgoing) => {
    void handle(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const seen: ProxiedRequest = {
      method: incoming.method ?? 'GET',
      path: incoming.url ?? '/',
      body: body.toString(),
      token: (incoming.headers.authorization ?? '').replace(/^Bearer /, ''),
    };
    const verdict = await rule(seen);
    if (verdict === 'hold') return;
    if (verdict === 'drop') {
      incoming.socket.destroy();
      return;
    }
    if (typeof verdict === 'object' && 'write' in verdict) {
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.flushHeaders();
      verdict.write(outgoing);
      return;
    }
    if (typeof verdict === 'object' && 'status' in verdict) {
      outgoing.writeHead(verdict.status, { 'content-type': 'application/json', ...verdict.headers });
      outgoing.end(typeof verdict.body === 'string' ? verdict.body : JSON.stringify(verdict.body));
      return;
    }
    const cutAfter = typeof verdict === 'object' ? verdict.cutAfter : undefined;
    forward(incoming, outgoing, { body, seen, swallow: verdict === 'swallow', cutAfter });
  }

  function forward(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    what: {
      readonly body: Buffer;
      readonly seen: ProxiedRequest;
      readonly swallow: boolean;
      readonly cutAfter: number | undefined;
    },
  ): void {
    const headers = { ...incoming.headers, host: upstream.host };
    const onward = httpsRequest(
      {
        agent,
        host: upstream.hostname,
        port: upstream.port,
        method: what.seen.method,
        path: what.seen.path,
        headers,
      },
      (answer) => {
        if (what.swallow) {
          answer.resume();
          answer.on('end', () => {
            swallowed(what.seen);
            incoming.socket.destroy();
          });
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        // A watch is open when its headers are there, long before its first event.
        outgoing.flushHeaders();
        let room = what.cutAfter ?? Number.POSITIVE_INFINITY;
        if (what.cutAfter === undefined) answer.pipe(outgoing);
        else
          answer.on('data', (chunk: Buffer) => {
            outgoing.write(chunk.subarray(0, room), () => room <= 0 && incoming.socket.destroy());
            room -= chunk.length;
          });
        answer.on('error', () => incoming.socket.destroy());
        const open = {
          seen: what.seen,
          cut: () => incoming.socket.destroy(),
          // Read on, so that nothing piles up at the server.
          freeze: () => answer.unpipe(outgoing).resume(),
        };
        underWay.add(open);
        outgoing.on('close', () => underWay.delete(open));
      },
    );
    onward.on('error', () => incoming.socket.destroy());
    outgoing.on('close', () => onward.destroy());
    onward.end(what.body);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: `https://127.0.0.1:${port}`,
    setRule: (next) => {
      rule = next;
    },
    onSwallowed: (listener) => {
      swallowed = listener;
    },
    cutAll,
    cut: (match) => {
      for (const open of underWay) if (match(open.seen)) open.cut();
    },
    freeze: (match) => {
      for (const open of underWay) if (match(open.seen)) open.freeze();
    },
    close: async () => {
      cutAll();
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A kcp as seen through the proxy: the same data, another address. */
export function behindProxy(kcp: KcpAccess, proxy: FaultProxy): KcpAccess {
  return { ...kcp, address: proxy.address };
}
