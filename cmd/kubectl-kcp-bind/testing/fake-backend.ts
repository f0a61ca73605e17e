import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a provider's URL answers. */
export interface BackendAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly location?: string;
  readonly body: string | ((origin: string) => string);
}

export interface FakeBackend {
  readonly origin: string;
  readonly paths: readonly string[];
  close(): Promise<void>;
}

/** An HTTP server that gives one answer to everything. */
export async function startFakeBackend(answer: BackendAnswer = PROVIDER): Promise<FakeBackend> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    const origin = `http://${request.headers.host ?? ''}`;
    response.writeHead(answer.status ?? 200, {
      ...(answer.type === '' ? {} : { 'content-type': answer.type ?? 'application/json' }),
      ...(answer.location === undefined ? {} : { location: answer.location }),
    });
    response.end(typeof answer.body === 'string' ? answer.body : answer.body(origin));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The provider document of a backend, of the given version. */
export function providerDocument(version: string): (origin: string) => string {
  return (origin) =>
    JSON.stringify({
      kind: 'BindingProvider',
      apiVersion: 'v1alpha2',
      providerPrettyName: 'Wild West',
      version,
      authenticationMethods: [
        { method: 'OAuth2CodeGrant', oauth2CodeGrant: { authenticatedURL: `${origin}/api/authorize` } },
      ],
    });
}

const PROVIDER: BackendAnswer = { body: providerDocument('v0.8.2') };
