import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { providerDocument } from './fake-backend.js';

/** A backend with the HTTP API of a handshake. */
export interface FakeHandshake {
  readonly origin: string;
  /** Identities of the bind requests, in order. */
  readonly identities: string[];
  /** `sid` of the tokens that it gives; undefined: that of the login. */
  sessionId: string | undefined;
  /** What the kubeconfigs that it gives name as server. */
  server: string;
  templates: object[];
  close(): Promise<void>;
}

export const COWBOYS_TEMPLATE = {
  metadata: { name: 'cowboys' },
  spec: {
    scope: 'Namespaced',
    resources: [{ group: 'wildwest.dev', resource: 'cowboys', versions: ['v1alpha1'] }],
    permissionClaims: [
      { resource: 'secrets', selector: { labelSelector: { matchLabels: { app: 'cowboy' } } } },
    ],
  },
};
export const SHERIFFS_TEMPLATE = {
  metadata: { name: 'sheriffs' },
  spec: {
    scope: 'Cluster',
    resources: [{ group: 'wildwest.dev', resource: 'sheriffs', versions: ['v1alpha1'] }],
  },
};

/** The kubeconfig of an account. */
export function providerKubeconfig(server: string, extra = ''): string {
  return `apiVersion: v1
kind: Config
current-context: default
clusters:
- name: default
  cluster: {server: "${server}"}
contexts:
- name: default
  context: {cluster: default, user: default, namespace: kube-bind-1}
users:
- name: default
  user: {token: provider-token${extra}}
`;
}

export async function startFakeHandshake(): Promise<FakeHandshake> {
  const identities: string[] = [];
  const server = createServer((request, response) => {
    void answer(request).then(({ body, location, status = 200 }) => {
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(location === undefined ? {} : { location }),
      });
      response.end(body === undefined ? '' : JSON.stringify(body));
    });
  });
  const answer = async (
    request: IncomingMessage,
  ): Promise<{ status?: number; body?: unknown; location?: string }> => {
    const url = new URL(request.url ?? '', fake.origin);
    switch (url.pathname) {
      case '/api/exports':
        return { body: JSON.parse(providerDocument('v0.8.2')(fake.origin)) as unknown };
      case '/api/authorize': {
        const target = new URL(url.searchParams.get('redirect_url') ?? '');
        const sid = fake.sessionId ?? url.searchParams.get('session_id') ?? '';
        const claims = Buffer.from(JSON.stringify({ sid })).toString('base64url');
        target.searchParams.set('access_token', `x.${claims}.y`);
        target.searchParams.set('token_type', 'Bearer');
        return { status: 302, location: target.href };
      }
      case '/api/templates':
        return { body: { items: fake.templates } };
      case '/api/bind': {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const body = JSON.parse(Buffer.concat(chunks).toString()) as {
          spec: { clusterIdentity: { identity: string } };
        };
        identities.push(body.spec.clusterIdentity.identity);
        return { body: bindingResponse(providerKubeconfig(fake.server)) };
      }
      default:
        return { status: 404, body: {} };
    }
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const fake: FakeHandshake = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    identities,
    sessionId: undefined,
    server: 'https://provider.invalid',
    templates: [COWBOYS_TEMPLATE, SHERIFFS_TEMPLATE],
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return fake;
}

/** The answer to a bind request. */
export function bindingResponse(kubeconfig: string): object {
  return {
    kind: 'BindingResponse',
    apiVersion: 'kube-bind.io/v1alpha2',
    kubeconfig: Buffer.from(kubeconfig).toString('base64'),
    requests: [{ metadata: { name: 'cowboys' }, spec: COWBOYS_TEMPLATE.spec }],
    providerNamespace: 'kube-bind-1',
  };
}
