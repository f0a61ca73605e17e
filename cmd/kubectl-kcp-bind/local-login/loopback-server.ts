import { createServer } from 'node:http';

/** A GET that came to the listener. */
export interface LoopbackRequest {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** A page, or with `location` a redirect to another path of the listener. */
export interface LoopbackAnswer {
  readonly status: number;
  readonly html: string;
  readonly location?: string;
}

/** A listener that this machine alone can reach. */
export interface LoopbackServer {
  /** `http://127.0.0.1:port`: the address that is bound, since `localhost` may lead to another program. */
  readonly origin: string;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
/** A response of a provider's page stands in the URL. */
const MAX_HEADER_BYTES = 1024 * 1024 + 16 * 1024;
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  connection: 'close',
};

/**
 * Listens on the IPv4 loopback address. Other methods than GET (preflights) and requests under another name than the
 * listener's own are refused before `handle` sees them. Rejects with node's error (`code` EADDRINUSE).
 *
 * @param port 0: any that is free
 */
export async function serveLoopback(
  port: number,
  handle: (request: LoopbackRequest) => LoopbackAnswer,
): Promise<LoopbackServer> {
  let origin = '';
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    const url = URL.canParse(request.url ?? '', origin) ? new URL(request.url ?? '', origin) : undefined;
    const isOurs = request.method === 'GET' && `http://${request.headers.host ?? ''}` === origin;
    const answer: LoopbackAnswer =
      url === undefined || !isOurs
        ? { status: 405, html: 'Only the login comes here.' }
        : handle({ path: url.pathname, query: url.searchParams });
    response.writeHead(answer.status, {
      ...HEADERS,
      ...(answer.location === undefined ? {} : { location: answer.location }),
    });
    response.end(answer.html);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, resolve);
  });
  const address = server.address();
  origin = `http://${HOST}:${typeof address === 'object' && address !== null ? address.port : port}`;
  return {
    origin,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
