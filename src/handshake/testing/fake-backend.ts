import { createBackendApi } from '../../backend/http/backend-api.js';
import type { BackendApi } from '../../backend/http/backend-api.js';
import { TransportError } from '../../kube/errors.js';
import type { ForeignHttp, ForeignResponse } from '../../kube/foreign-http.js';
import type { BackendSpec } from '../live-connection.js';

/** What was said to the backend. */
interface BackendCall {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Record<string, unknown> | undefined;
}

/** A backend v0.8.2 in as many answers as the handshake needs; the shapes are those of a running one. */
export interface FakeBackend {
  readonly api: (spec: BackendSpec) => BackendApi;
  readonly calls: BackendCall[];
  /** Replaces an answer, by path. */
  answer(path: string, answer: ForeignResponse | Error | (() => Promise<ForeignResponse>)): void;
  /** Templates of the next list. */
  offer(...templates: readonly object[]): void;
}

/** Shaped like the backend's own tokens; nobody checks the signature. */
export function tokenFor(sessionId: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ sub: 'user', iss: 'idp', sid: sessionId })}.c2lnbmF0dXJl`;
}

export const CHEESES = {
  apiVersion: 'kube-bind.io/v1alpha2',
  kind: 'APIServiceExportTemplate',
  metadata: { name: 'cheeses' },
  spec: {
    description: 'Cheeses from the farm',
    scope: 'Namespaced',
    resources: [{ group: 'dairy.example.com', resource: 'cheeses', versions: ['v1'] }],
    permissionClaims: [
      { resource: 'secrets', selector: { labelSelector: { matchLabels: { app: 'cheese' } } } },
      {
        group: '',
        resource: 'configmaps',
        selector: {
          namedResources: [{ name: 'recipe' }],
          references: [
            { group: 'dairy.example.com', resource: 'cheeses', jsonPath: { name: 'spec.recipe' } },
          ],
        },
      },
    ],
  },
};

const MILKS = {
  apiVersion: 'kube-bind.io/v1alpha2',
  kind: 'APIServiceExportTemplate',
  metadata: { name: 'milks' },
  spec: {
    scope: 'Cluster',
    resources: [{ group: 'dairy.example.com', resource: 'milks', versions: ['v1'] }],
  },
};

const NAMESPACE = 'kube-bind-3kk9zq';
export const PROVIDER_TOKEN = 'service-account-token-of-the-consumer';

const KUBECONFIG = `apiVersion: v1
kind: Config
clusters:
- name: default
  cluster:
    server: https://provider.example.com:6443
contexts:
- name: default
  context: {cluster: default, user: default, namespace: ${NAMESPACE}}
current-context: default
users:
- name: default
  user: {token: ${PROVIDER_TOKEN}}
`;

export function fakeBackend(): FakeBackend {
  const calls: BackendCall[] = [];
  const answers = new Map<string, ForeignResponse | Error | (() => Promise<ForeignResponse>)>();
  let templates: readonly object[] = [CHEESES, MILKS];

  const usual = (url: URL): ForeignResponse => {
    switch (url.pathname.split('/api/')[1] ?? '') {
      case 'exports':
        return json(200, providerDocument(url));
      case 'templates':
        return json(200, { metadata: { continue: 'continue-not-supported' }, items: templates });
      case 'bind':
        return json(200, bindAnswer());
      default:
        return json(404, {
          kind: 'Error',
          apiVersion: 'kube-bind.io/v1alpha2',
          message: 'not found',
          code: 'RESOURCE_NOT_FOUND',
        });
    }
  };
  const http: ForeignHttp = {
    async request({ method, url: address, headers, body }) {
      const url = new URL(address);
      calls.push({
        method,
        path: url.pathname,
        authorization: headers?.['authorization'],
        body: body === undefined ? undefined : (JSON.parse(body) as Record<string, unknown>),
      });
      const answer = answers.get(url.pathname);
      if (answer instanceof Error) throw answer;
      if (typeof answer === 'function') return answer();
      return answer ?? usual(url);
    },
    close: async () => undefined,
  };
  return {
    calls,
    api: ({ url, clusterID, caBundle }) => createBackendApi({ http, url, clusterID, ca: caBundle }),
    answer: (path, answer) => answers.set(path, answer),
    offer: (...items) => {
      templates = items;
    },
  };
}

export function json(status: number, body: object): ForeignResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(body)) };
}

/** The backend writes http:// whatever it is reached by. */
export function providerDocument(url: URL, authenticatedURL = `http://${url.host}/api/authorize`) {
  return {
    kind: 'BindingProvider',
    apiVersion: 'v1alpha2',
    providerPrettyName: 'BigCorp',
    version: 'v0.8.2',
    authenticationMethods: [{ method: 'OAuth2CodeGrant', oauth2CodeGrant: { authenticatedURL } }],
  };
}

export function bindAnswer(kubeconfig = KUBECONFIG) {
  return {
    kind: 'BindingResponse',
    apiVersion: 'kube-bind.io/v1alpha2',
    authentication: { oauth2CodeGrant: { sid: 's', id: 'idp/user' } },
    kubeconfig: Buffer.from(kubeconfig).toString('base64'),
    requests: [
      {
        kind: 'APIServiceExportRequest',
        apiVersion: 'kube-bind.io/v1alpha2',
        metadata: { name: 'cheeses' },
        spec: {
          resources: [{ group: 'dairy.example.com', resource: 'cheeses', versions: ['v1'] }],
          schemaUpdatePolicy: 'Never',
        },
        status: {},
      },
    ],
    providerNamespace: NAMESPACE,
  };
}

export function unreachable(): Error {
  return new TransportError('connect ECONNREFUSED', 'connect');
}
