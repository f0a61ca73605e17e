import { describe, expect, it } from '@jest/globals';
import type { ForeignResponse } from '../../kube/foreign-http.js';
import { BackendError } from '../errors.js';
import { recordedAnswer } from '../testing/recorded.js';
import { answer, replay, StubHttp } from '../testing/stub-http.js';
import { createBackendApi } from './backend-api.js';
import type { ProviderInfo } from './provider-info.js';

const URL = 'https://bind.example.com';
const JSON_TYPE = 'application/json';

function document(
  change: Record<string, unknown> = {},
  authenticatedURL = 'http://bind.example.com/api/authorize',
) {
  return {
    kind: 'BindingProvider',
    apiVersion: 'v1alpha2',
    providerPrettyName: 'BigCorp',
    version: 'v0.8.2',
    authenticationMethods: [{ method: 'OAuth2CodeGrant', oauth2CodeGrant: { authenticatedURL } }],
    ...change,
  };
}

async function ask(response: ForeignResponse, url = URL): Promise<ProviderInfo> {
  return createBackendApi({ http: new StubHttp(response), url }).provider();
}

async function fail(response: ForeignResponse, url = URL): Promise<BackendError> {
  const error: unknown = await ask(response, url).catch((reason: unknown) => reason);
  if (!(error instanceof BackendError)) throw new Error(`no BackendError: ${String(error)}`);
  return error;
}

describe('the provider document', () => {
  it('of a real backend is read', async () => {
    expect(await ask(replay(recordedAnswer('exports-v0.8.2')), 'http://127.0.0.1:26888')).toEqual({
      prettyName: 'BigCorp',
      version: 'v0.0.0',
      authorizeEndpoint: 'http://127.0.0.1:26888/api/authorize',
    });
  });

  it.each([
    ['v0.8.2', 'v1alpha2'],
    ['v0.8.2', 'kube-bind.io/v1alpha2'],
    ['0.8.0', 'v1alpha2'],
    ['v0.10.1', 'v1alpha2'],
    ['v0.0.0', 'v1alpha2'],
    ['v0.0.0-main+abc', 'v1alpha2'],
    ['v1.0.0', 'v1alpha2'],
  ])('of version %s in %s is accepted', async (version, apiVersion) => {
    expect(
      await ask(answer(200, `${JSON_TYPE}; charset=utf-8`, document({ version, apiVersion }))),
    ).toMatchObject({ version });
  });

  it.each([
    ['0.4.0', 'v1alpha2'],
    ['v0.7.9', 'v1alpha2'],
    ['v0.8.2', 'v1alpha1'],
    ['v0.8.2', undefined],
    ['latest', 'v1alpha2'],
    [undefined, 'v1alpha2'],
  ])('of version %s in %s is not supported', async (version, apiVersion) => {
    const error = await fail(answer(200, JSON_TYPE, document({ version, apiVersion })));
    expect(error.code).toBe('BACKEND_UNSUPPORTED');
    expect(error.message).toContain('v0.8');
    expect(error.message).toContain(`${URL}/api/exports`);
  });

  it('without a login that we speak names those that it has', async () => {
    const authenticationMethods = [{ method: 'Magic' }, 7, { method: 'OAuth2CodeGrant' }];
    const error = await fail(answer(200, JSON_TYPE, document({ authenticationMethods })));
    expect(error).toMatchObject({ code: 'BACKEND_UNSUPPORTED', message: expect.stringContaining('Magic') });
  });

  it.each<[string, ForeignResponse, string[]]>([
    ['a web page', answer(200, 'text/html', '<html>'), ['status 200', 'text/html']],
    [
      'a redirect to a login page',
      answer(302, '', '', { location: 'https://sso.example.com/' }),
      ['status 302', 'no content type', 'https://sso.example.com/'],
    ],
    ['a gateway that fails', answer(502, 'text/html', '<html>'), ['status 502', 'Try again later']],
    ['nothing', answer(200, JSON_TYPE, ''), ['status 200', JSON_TYPE]],
    ['an empty object', answer(200, JSON_TYPE, {}), ['status 200', 'no BindingProvider']],
    ['a list', answer(200, JSON_TYPE, []), ['status 200']],
    ['JSON that goes too deep', answer(200, JSON_TYPE, '['.repeat(1000)), ['status 200']],
    ['the document as text', answer(200, 'text/plain', document()), ['text/plain']],
    ['the document with another status', answer(500, JSON_TYPE, document()), ['status 500']],
    ['an error', answer(404, JSON_TYPE, { kind: 'Error' }), ['status 404']],
  ])('is not there: %s', async (_, response, texts) => {
    const error = await fail(response);
    expect(error.code).toBe('BACKEND_NOT_A_BACKEND');
    for (const text of [...texts, `${URL}/api/exports`, 'v0.8 or later'])
      expect(error.message).toContain(text);
  });

  it('cannot flood or forge a message', async () => {
    const long = 'x\u202e\n'.repeat(100_000);
    const { message } = await fail(answer(200, JSON_TYPE, document({ version: long, apiVersion: long })));
    expect(message.length).toBeLessThan(1600);
    expect(message).not.toMatch(/[\n\u202e]/);
    expect(
      (await ask(answer(200, JSON_TYPE, document({ providerPrettyName: long })))).prettyName,
    ).toHaveLength(256);
  });
});

describe('the login address', () => {
  it.each([
    [URL, 'http://bind.example.com/api/authorize', `${URL}/api/authorize`],
    [URL, 'http://BIND.example.com:443/api/authorize?x=1', `${URL}/api/authorize?x=1`],
    [
      'https://bind.example.com:8443/',
      'http://bind.example.com:8443/api/authorize',
      'https://bind.example.com:8443/api/authorize',
    ],
    [`${URL}/api/exports`, 'http://bind.example.com/api/authorize', `${URL}/api/authorize`],
    [`${URL}/kb/`, 'http://bind.example.com/api/authorize', `${URL}/kb/api/authorize`],
    [`${URL}/kb`, 'http://bind.example.com/kb/api/authorize', `${URL}/kb/api/authorize`],
    ['http://[::1]:8080', 'http://[::1]:8080/api/authorize', 'http://[::1]:8080/api/authorize'],
    [URL, 'http://user:secret@bind.example.com/api/authorize', `${URL}/api/authorize`],
  ])('of %s at %s becomes %s', async (url, target, endpoint) => {
    const info = await ask(answer(200, JSON_TYPE, document({}, target)), url);
    expect(info.authorizeEndpoint).toBe(endpoint);
  });

  it.each([
    'https://evil.example.com/api/authorize',
    'http://bind.example.com:8080/api/authorize',
    'http://bind.example.com.evil.com/',
    'http://bind.example.com@evil.com/',
    'javascript:alert(1)',
    '//evil.com/',
    '/api/authorize',
    '',
  ])('at %s is refused', async (target) => {
    const error = await fail(answer(200, JSON_TYPE, document({}, target)));
    expect(error.code).toBe('BACKEND_FOREIGN_AUTHORIZE_URL');
    expect(error.message).toContain('bind.example.com');
  });
});

describe("a backend's URL", () => {
  it.each([
    '',
    'bind.example.com',
    'ftp://x.com',
    'https://u:p@x.com',
    'https://x.com?a=b',
    'https://x.com#f',
  ])('%p is refused before any request', (url) => {
    const http = new StubHttp(answer(200, JSON_TYPE, {}));
    expect(() => createBackendApi({ http, url })).toThrow(
      expect.objectContaining({ code: 'BACKEND_INVALID_URL' }),
    );
    expect(http.requests).toEqual([]);
  });

  it('leads to the document, with the authorities that were given', async () => {
    const http = new StubHttp(answer(200, JSON_TYPE, document()));
    await createBackendApi({ http, url: `${URL}/kb/api/exports/`, ca: 'PEM' }).provider();
    expect(http.last).toMatchObject({ method: 'GET', url: `${URL}/kb/api/exports`, ca: 'PEM' });
  });
});
