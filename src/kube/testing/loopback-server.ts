/* eslint-disable no-restricted-imports -- listens for tests; opens no connection */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';

/** What arrived, body included. */
export interface RecordedRequest {
  readonly method: string;
  /** As it was on the wire. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (request: RecordedRequest, response: ServerResponse) => void;

/** A server on 127.0.0.1 that records what arrives. */
export interface LoopbackServer {
  readonly url: string;
  readonly port: number;
  readonly requests: RecordedRequest[];
  /** Connections that are open now, and that were ever opened. */
  readonly sockets: ReadonlySet<Socket>;
  readonly accepted: () => number;
  /** Answers from now on. */
  answer(answer: Answer): void;
  /** Resolves as soon as `condition` holds; looked at whenever something arrives or a connection closes. */
  until(condition: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export async function startServer(answer: Answer, tls?: TlsOptions): Promise<LoopbackServer> {
  const requests: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let accepted = 0;
  let current = answer;
  const changed = (): void => {
    for (const check of [...waiting]) check();
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const record = { method, url, headers, body: Buffer.concat(chunks).toString() };
      requests.push(record);
      current(record, response);
      changed();
    });
  };
  const server = tls === undefined ? createServer(onRequest) : createTlsServer(tls, onRequest);
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket: Socket) => {
    accepted++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      changed();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // `as`: a TCP server that listens has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    sockets,
    accepted: () => accepted,
    answer: (next) => {
      current = next;
    },
    until: (condition) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!condition()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, value: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

/** Answers with a Kubernetes Status. */
export function sendStatus(
  response: ServerResponse,
  code: number,
  reason: string,
  more: { readonly message?: string; readonly details?: object; readonly headers?: object } = {},
): void {
  const { message = reason, details, headers } = more;
  sendJson(
    response,
    code,
    { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details },
    headers,
  );
}
