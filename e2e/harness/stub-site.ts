import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a site answers under one path, whatever is asked below it. */
export interface StubAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A web server that is no backend, or a strange one. */
export interface StubSite {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a site with one answer for each first segment of the path; 404 for others. Port 0 is any that is free. */
export async function startStubSite(
  answers: (url: string) => Readonly<Record<string, StubAnswer>>,
  port = 0,
): Promise<StubSite> {
  let pages: Readonly<Record<string, StubAnswer>> = {};
  const server = createServer((request, response) => {
    const segment = (request.url ?? '/').split(/[/?]/)[1] ?? '';
    const answer = Object.hasOwn(pages, segment) ? pages[segment] : undefined;
    response.writeHead(answer?.status ?? 404, answer?.headers);
    response.end(answer?.body);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  pages = answers(url);
  return {
    url,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
