import { describe, expect, it } from '@jest/globals';
import type { ForeignResponse } from '../../kube/foreign-http.js';
import { BackendError } from '../errors.js';
import { recordedAnswer } from '../testing/recorded.js';
import { answer, replay, StubHttp } from '../testing/stub-http.js';
import { createBackendApi, type BackendApi } from './backend-api.js';

const JSON_TYPE = 'application/json';
const IDENTITY = 'identity-that-nobody-may-see-0123456789abcdef';
const TOKEN = 'token-that-nobody-may-see';
const REQUEST = { template: 'cowboys', name: 'cowboys', identity: IDENTITY, prettyName: 'root:w1' };

function backend(response: ForeignResponse, clusterID?: string): { http: StubHttp; api: BackendApi } {
  const http = new StubHttp(response);
  return { http, api: createBackendApi({ http, url: 'https://bind.example.com', clusterID }) };
}

async function refusal(work: Promise<unknown>): Promise<BackendError> {
  const error: unknown = await work.catch((reason: unknown) => reason);
  if (!(error instanceof BackendError)) throw new Error(`no BackendError: ${String(error)}`);
  return error;
}

describe('authorizeUrl', () => {
  const info = {
    prettyName: '',
    version: 'v0.8.2',
    authorizeEndpoint: 'https://bind.example.com/api/authorize?a=b',
  };

  it('completes the login address', () => {
    const { api } = backend(answer(200, '', ''), 'abc');
    const url = new URL(
      api.authorizeUrl(info, { redirectUrl: 'https://kb.example.com/callback?nonce=n', sessionId: 's' }),
    );
    expect(url.origin + url.pathname).toBe('https://bind.example.com/api/authorize');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      a: 'b',
      redirect_url: 'https://kb.example.com/callback?nonce=n',
      session_id: 's',
      client_type: 'cli',
      cluster_id: 'abc',
    });
  });

  it('leaves the cluster out where there is none', () => {
    const { api } = backend(answer(200, '', ''));
    expect(api.authorizeUrl(info, { redirectUrl: 'x', sessionId: 's' })).not.toContain('cluster_id');
  });
});

describe('templates and collections', () => {
  it('are read from recorded answers', async () => {
    const { http, api } = backend(replay(recordedAnswer('templates-v0.8.2')), 'abc');
    const templates = await api.templates(TOKEN);
    expect(templates).toMatchObject([{ metadata: { name: 'cowboys' } }, { metadata: { name: 'sheriffs' } }]);
    expect(http.last).toMatchObject({
      method: 'GET',
      url: 'https://bind.example.com/api/templates?cluster_id=abc',
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const collections = backend(replay(recordedAnswer('collections-v0.8.2')));
    expect(await collections.api.collections(TOKEN)).toMatchObject([{ metadata: { name: 'all' } }]);
    expect(collections.http.last.url).toBe('https://bind.example.com/api/collections');
  });

  it.each([{}, { items: null }, { items: 'x' }])('are none in %p', async (body) => {
    expect(await backend(answer(200, JSON_TYPE, body)).api.templates(TOKEN)).toEqual([]);
  });

  it('are not taken from a web page', async () => {
    const error = await refusal(backend(answer(200, 'text/html', '{"items":[]}')).api.templates(TOKEN));
    expect(error.code).toBe('BACKEND_INVALID_ANSWER');
    expect(error.message).toContain('text/html');
  });
});

describe('bind', () => {
  it('gives the kubeconfig and the proposed requests of a recorded answer', async () => {
    const { http, api } = backend(replay(recordedAnswer('bind-v0.8.2')), 'abc');
    const result = await api.bind(TOKEN, REQUEST);
    expect(result.kubeconfig).toContain('token: recorded-token');
    expect(result.kubeconfig).toContain(`namespace: ${result.providerNamespace}`);
    expect(result.requests).toEqual([
      {
        name: 'cowboys',
        spec: {
          resources: [{ group: 'wildwest.dev', resource: 'cowboys', versions: ['v1alpha1'] }],
          permissionClaims: [
            { resource: 'secrets', selector: { labelSelector: { matchLabels: { app: 'cowboy' } } } },
          ],
          schemaUpdatePolicy: 'Never',
        },
      },
    ]);
    expect(http.last.url).toBe('https://bind.example.com/api/bind?cluster_id=abc');
    expect(JSON.parse(http.last.body ?? '')).toEqual({
      apiVersion: 'kube-bind.io/v1alpha2',
      kind: 'BindableResourcesRequest',
      metadata: { name: 'cowboys' },
      spec: {
        templateRef: { name: 'cowboys' },
        clusterIdentity: { identity: IDENTITY, prettyName: 'root:w1' },
      },
    });
  });

  it.each([
    ['another kind', { kind: 'Error' }],
    ['no kubeconfig', { kubeconfig: undefined }],
    ['a kubeconfig that is no base64', { kubeconfig: '{}' }],
    ['an empty kubeconfig', { kubeconfig: '' }],
    ['a kubeconfig that is too large', { kubeconfig: Buffer.alloc(70_000, 'x').toString('base64') }],
    ['too many requests', { requests: Array.from({ length: 33 }, () => ({ spec: {} })) }],
  ])('refuses %s without quoting it', async (_, change) => {
    const body = { ...(recordedAnswer('bind-v0.8.2').body as object), ...change };
    const error = await refusal(backend(answer(200, JSON_TYPE, body)).api.bind(TOKEN, REQUEST));
    expect(error.code).toBe('BACKEND_INVALID_ANSWER');
    expect(error.message.length).toBeLessThan(300);
  });

  it('checks the status, whatever the body looks like', async () => {
    const { body } = recordedAnswer('bind-v0.8.2');
    const error = await refusal(backend(answer(500, JSON_TYPE, body)).api.bind(TOKEN, REQUEST));
    expect(error).toMatchObject({ code: 'BACKEND_REFUSED', status: 500, temporary: true });
  });
});

describe('refusals', () => {
  it('of recorded answers are told apart', async () => {
    const unauthorized = await refusal(
      backend(replay(recordedAnswer('unauthorized-v0.8.2'))).api.templates(TOKEN),
    );
    expect(unauthorized).toMatchObject({ code: 'BACKEND_UNAUTHORIZED', status: 401, temporary: false });
    expect(unauthorized.message).toContain('Log in again');
    const unknown = await refusal(
      backend(replay(recordedAnswer('unknown-cluster-v0.8.2'))).api.templates(TOKEN),
    );
    expect(unknown).toMatchObject({ code: 'BACKEND_REFUSED', message: expect.stringContaining('clusterID') });
  });

  it.each([
    [403, 'BACKEND_FORBIDDEN'],
    [404, 'BACKEND_NOT_FOUND'],
    [400, 'BACKEND_REFUSED'],
    [302, 'BACKEND_REFUSED'],
    [429, 'BACKEND_REFUSED'],
  ])('with status %d are %s', async (status, code) => {
    const error = await refusal(backend(answer(status, 'text/plain', 'no')).api.bind(TOKEN, REQUEST));
    expect(error).toMatchObject({ code, status, temporary: status === 429 });
    expect(error.message).toContain('https://bind.example.com/api/bind');
    expect(error.message).toContain('bind template cowboys');
  });

  it("pass the backend's words on, cut, without what is secret", async () => {
    const message = `no ${IDENTITY} and ${TOKEN}\n${'x'.repeat(100_000)}`;
    const error = await refusal(backend(answer(403, JSON_TYPE, { message })).api.bind(TOKEN, REQUEST));
    expect(error.message).toContain('no [hidden] and [hidden] xxx');
    expect(error.message).not.toContain(IDENTITY);
    expect(error.message.length).toBeLessThan(700);
  });
});
