import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LightMyRequestResponse } from 'fastify';
import type { Browser } from './testing/browser.js';
import { csrfOf, formAction, locationOf } from './testing/browser.js';
import { csrfToken } from './login-cookie.js';
import { expectReason } from '../api/testing/expect-reason.js';
import { status } from '../state/testing/memory-kube-client.js';
import {
  CHEESES,
  PROVIDER_TOKEN,
  bindAnswer,
  json,
  providerDocument,
  tokenFor,
  unreachable,
} from './testing/fake-backend.js';
import { bindingNames, claimMissing, stored } from './testing/fake-workspaces.js';
import {
  CONNECTION,
  EXTERNAL,
  PATH,
  STATE_NAME,
  VERIFIER,
  handshakeWorld,
} from './testing/handshake-world.js';
import type { HandshakeWorld } from './testing/handshake-world.js';

let world: HandshakeWorld;
beforeEach(async () => {
  world = await handshakeWorld();
});
afterEach(async () => world.close());

/** Opens the plugin's URL and follows to the consent page. */
async function openByPlugin(browser: Browser, extra = '') {
  const { url } = await world.publish(VERIFIER);
  const claimed = await browser.get(`${url}?verifier=${VERIFIER}${extra}`);
  expect(claimed.statusCode).toBe(303);
  expect(locationOf(claimed)).toBe(url.slice(EXTERNAL.length));
  return { url, consent: await browser.get(url) };
}

/** Presses Continue; gives what the backend would redirect to. */
async function continueTo(browser: Browser, consent: LightMyRequestResponse) {
  const sent = await browser.submit(consent);
  expect(sent.statusCode).toBe(303);
  const authorize = new URL(locationOf(sent));
  const redirect = new URL(authorize.searchParams.get('redirect_url') ?? '');
  const sessionId = authorize.searchParams.get('session_id') ?? '';
  return { authorize, redirect, sessionId, callback: callbackOf(redirect, tokenFor(sessionId)) };
}

function callbackOf(redirect: URL, token: string): string {
  const url = new URL(redirect);
  url.searchParams.set('access_token', token);
  url.searchParams.set('token_type', 'Bearer');
  url.searchParams.set('expires_in', '86400');
  return url.href;
}

async function loggedIn(browser: Browser, extra = '') {
  const { url, consent } = await openByPlugin(browser, extra);
  const { callback } = await continueTo(browser, consent);
  const done = await browser.get(callback);
  expect(done.statusCode).toBe(303);
  return { url, callback };
}
/** The reason that a login has ended with, for the connection's condition. */
const ending = async () => ({ reason: (await world.state()).login?.endedReason ?? '' });
const binds = () => world.backend.calls.filter(({ path }) => path === '/api/bind');

describe('a login from the plugin', () => {
  it('goes from the terminal’s address to an account and a binding', async () => {
    const browser = world.browser();
    const { url, consent } = await openByPlugin(browser);
    for (const shown of [
      '<h1>bind.example.com</h1>',
      PATH,
      'BigCorp',
      'dairy',
      'for the workspace',
      'well-known authorities',
    ]) {
      expect(consent.body).toContain(shown);
    }

    const { authorize, redirect, callback, sessionId } = await continueTo(browser, consent);
    expect(`${authorize.origin}${authorize.pathname}`).toBe('https://bind.example.com/api/authorize');
    expect(authorize.searchParams.get('client_type')).toBe('cli');
    expect(redirect.href.startsWith(`${EXTERNAL}/callback/${STATE_NAME}?`)).toBe(true);

    const done = await browser.get(callback);
    expect(done.statusCode).toBe(303);
    expect(locationOf(done)).toBe(url.slice(EXTERNAL.length));
    const { account, login } = await world.state();
    expect(login?.stage).toBe('finished');
    expect(account).toMatchObject({
      source: 'handshake',
      contractNamespace: 'kube-bind-3kk9zq',
      credentials: {
        server: 'https://provider.example.com:6443',
        auth: { kind: 'token', token: PROVIDER_TOKEN },
      },
      offers: [{ template: 'cheeses' }, { template: 'milks' }],
    });
    expect(binds()).toHaveLength(1);
    expect(binds()[0]?.authorization).toBe(`Bearer ${tokenFor(sessionId)}`);
    expect(bindingNames(world.workspace)).toEqual([]);

    const catalogue = await browser.get(url);
    expect(catalogue.body).toContain('those labelled app=cheese');
    expect(catalogue.body).toContain('those that objects of cheeses.dairy.example.com name in spec.recipe');
    const chosen = await browser.submit(catalogue, { offer: 'cheeses', claim: 'cheeses/secrets/' });
    expect(chosen.statusCode).toBe(303);
    expect(stored(world.workspace, 'kubebindbindings', 'cheeses')['spec']).toEqual({
      connection: 'dairy',
      template: 'cheeses',
      permissionClaims: [
        { group: '', resource: 'secrets', state: 'Accepted' },
        { group: '', resource: 'configmaps', state: 'Rejected' },
      ],
    });
    const progress = await browser.get(locationOf(chosen));
    expect(progress.body).toContain('http-equiv="refresh"');
    expect(progress.body).toContain('cheeses');
  });

  it('leaves no secret in log, state, page or address', async () => {
    const browser = world.browser();
    const { url, callback } = await loggedIn(browser);
    const token = new URL(callback).searchParams.get('access_token') ?? '';
    const nonce = new URL(callback).searchParams.get('nonce') ?? '';
    const id = url.split('.').at(-1) ?? '';
    const page = (await browser.get(url)).body;
    const clientWorkspace = JSON.stringify(
      [...world.clientWorkspace.objects.values()].map((object) => decoded(object['data'])),
    );
    const cookie = browser.cookies[0]?.value ?? '';
    const identity = /"identity":"([^"]+)"/.exec(JSON.stringify(binds()[0]?.body))?.[1] ?? '';
    for (const secret of [token, VERIFIER, nonce, cookie, identity]) {
      expect(secret.length).toBeGreaterThan(8);
      expect(world.log()).not.toContain(secret);
      expect(clientWorkspace).not.toContain(secret);
      expect(page).not.toContain(secret);
      expect(url).not.toContain(secret);
    }
    expect(world.log()).not.toContain(id);
    expect(clientWorkspace).not.toContain(id);
    expect(world.log()).not.toContain(PROVIDER_TOKEN);
    expect(JSON.stringify([...world.workspace.objects.values()])).not.toContain(PROVIDER_TOKEN);
  });

  it('is finished by another process after a restart', async () => {
    const browser = world.browser();
    const { consent } = await openByPlugin(browser);
    const { callback } = await continueTo(browser, consent);
    const later = browser.moveTo(await world.restart());
    expect((await later.get(callback)).statusCode).toBe(303);
    expect((await world.state()).login?.stage).toBe('finished');
  });

  it('sends no catalogue where the terminal picks', async () => {
    const browser = world.browser();
    const { url } = await loggedIn(browser, '&pick=terminal');
    expect((await browser.get(url)).body).toContain('return to your terminal');
  });

  it('opens the address again in the same browser without harm', async () => {
    const browser = world.browser();
    const { url } = await openByPlugin(browser);
    const again = await browser.get(`${url}?verifier=${VERIFIER}`);
    expect(again.statusCode).toBe(303);
    expect((await browser.get(locationOf(again))).statusCode).toBe(200);
  });
});

describe('a login without the plugin', () => {
  it('asks for the code and warns on the page', async () => {
    const { url, userCode } = await world.publish();
    const browser = world.browser();
    const asked = await browser.get(url);
    expect(asked.body).toContain('Type the code');
    expect(asked.body).not.toContain(userCode);
    expect(asked.body).not.toContain(PATH);
    const typed = await browser.submit(asked, { code: userCode.toLowerCase() });
    expect(typed.statusCode).toBe(303);
    const consent = await browser.get(url);
    expect(consent.body).toContain('Anybody who may read the connection could have opened it');
    const { callback } = await continueTo(browser, consent);
    await browser.get(callback);
    expect((await world.state()).login?.stage).toBe('finished');
  });

  it('ends after five wrong codes, counted across restarts', async () => {
    const { url, userCode } = await world.publish();
    let browser = world.browser();
    for (let left = 4; left >= 0; left--) {
      const page = await browser.get(url);
      const wrong = await browser.submit(page, { code: 'BBBB-BBBB' });
      expect(wrong.statusCode).toBe(left > 0 ? 403 : 410);
      if (left > 0) expect(wrong.body).toContain(`Tries left: ${left}`);
      browser = browser.moveTo(await world.restart());
    }
    const ended = await browser.get(url);
    expect(ended.statusCode).toBe(410);
    await browser.post(`${url}/code`, { csrf: csrfOf(ended), code: userCode });
    expect((await world.state()).login).toMatchObject({ stage: 'ended', endedReason: 'LoginEnded' });
  });

  it('gives the claiming browser another cookie than the one it came with', async () => {
    const { url, userCode } = await world.publish();
    const browser = world.browser();
    const asked = await browser.get(url);
    const before = browser.cookies[0]?.value;
    await browser.submit(asked, { code: userCode });
    expect(browser.cookies[0]?.value).not.toBe(before);
  });
});

describe('nobody else', () => {
  it('gets on with the address alone', async () => {
    const { url } = await world.publish(VERIFIER);
    const page = await world.browser().get(url);
    expect(page.statusCode).toBe(403);
    expect(page.body).toContain('from your terminal');
    expect(page.body).not.toContain(PATH);
  });

  it('gets on with a wrong verifier, or the challenge', async () => {
    const { url } = await world.publish(VERIFIER);
    const challenge = (await world.state()).login?.challenge ?? '';
    for (const verifier of ['wrong', '', challenge]) {
      expect((await world.browser().get(`${url}?verifier=${verifier}`)).statusCode).toBe(403);
    }
    expect((await world.state()).login?.stage).toBe('awaited');
  });

  it('gets on with the right verifier after somebody used it', async () => {
    const { url } = await openByPlugin(world.browser());
    const second = world.browser();
    const answer = await second.get(`${url}?verifier=${VERIFIER}`);
    expect(answer.statusCode).toBe(303);
    const page = await second.get(url);
    expect(page.statusCode).toBe(403);
    expect(page.body).toContain('another browser');
  });

  it('finishes a login with a callback of his own (A03)', async () => {
    const browser = world.browser();
    const { consent } = await openByPlugin(browser);
    const { redirect, callback } = await continueTo(browser, consent);
    const stranger = world.browser();
    const wrongNonce = new URL(callback);
    wrongNonce.searchParams.set('nonce', 'A'.repeat(43));
    const noNonce = new URL(callback);
    noNonce.searchParams.delete('nonce');
    const foreignToken = callbackOf(redirect, tokenFor('session-of-somebody-else'));

    expect((await stranger.get(callback)).statusCode).toBe(403);
    expect((await browser.get(wrongNonce.href)).statusCode).toBe(400);
    expect((await browser.get(noNonce.href)).statusCode).toBe(400);
    expect((await browser.get(foreignToken)).statusCode).toBe(400);
    expect((await browser.get(`${wrongNonce.pathname}?nonce=x&error=access_denied`)).statusCode).toBe(400);
    expect(binds()).toEqual([]);
    expect((await world.state()).login?.stage).toBe('redirected');

    expect((await browser.get(callback)).statusCode).toBe(303);
    const { account } = await world.state();
    world.backend.answer('/api/bind', json(200, bindAnswer('something else')));
    expect((await browser.get(callback)).statusCode).toBe(303);
    expect((await world.state()).account).toEqual(account);
    expect(binds()).toHaveLength(1);
  });

  it('learns more than that it is done after the login', async () => {
    const { url } = await loggedIn(world.browser());
    const page = await world.browser().get(url);
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('The login is finished');
    expect(page.body).not.toContain('cheeses');
    expect((await world.browser().get(`${url}/progress`)).statusCode).toBe(403);
  });

  it.each([
    ['another state', () => `/login/connection-00000000000000000000.${'A'.repeat(22)}`],
    ['another id', () => `/login/${STATE_NAME}.${'A'.repeat(22)}`],
    ['no id', () => `/login/${STATE_NAME}`],
    ['the installation key', () => `/login/kube-bind-installation.${'A'.repeat(22)}`],
    ['a path', () => `/login/${encodeURIComponent(`../${STATE_NAME}`)}.${'A'.repeat(22)}`],
  ])('finds out anything by asking for %s', async (_name, path) => {
    await world.publish(VERIFIER);
    const page = await world.browser().get(path());
    expect(page.statusCode).toBe(404);
    expect(page.body).toContain('not valid');
  });

  it('sends a form from elsewhere', async () => {
    const { url, userCode } = await world.publish();
    const browser = world.browser();
    const asked = await browser.get(url);
    const csrf = csrfOf(asked);
    const attempts = [
      () => world.browser().post(`${url}/code`, { csrf, code: userCode }),
      () => browser.post(`${url}/code`, { code: userCode }),
      () => browser.post(`${url}/code`, { csrf: 'x', code: userCode }),
      () => browser.post(`${url}/code`, { csrf: [csrf, csrf], code: userCode }),
      () => browser.post(`${url}/code`, { csrf, code: userCode }, { 'sec-fetch-site': 'cross-site' }),
      () => browser.post(`${url}/code`, { csrf, code: userCode }, { 'sec-fetch-site': 'same-site' }),
    ];
    for (const attempt of attempts) expect((await attempt()).statusCode).toBe(403);
    expect((await world.state()).login).toMatchObject({ stage: 'awaited', wrongCodes: 0 });
  });

  it('picks from the offers of somebody else’s login', async () => {
    const { url } = await loggedIn(world.browser());
    const forged = `${url.split('.').at(-1) ?? ''}.${'A'.repeat(43)}`;
    const cookie = `__Secure-kube-bind-${STATE_NAME.replace('connection-', '')}=${forged}`;
    const form = { csrf: csrfToken(forged), offer: 'cheeses' };
    expect((await world.browser().post(`${url}/offers`, form, { cookie })).statusCode).toBe(403);
    expect((await world.browser().get(`${url}/progress`, { cookie })).statusCode).toBe(403);
    expect((await world.browser().get(url, { cookie })).body).toContain('The login is finished');
    expect(bindingNames(world.workspace)).toEqual([]);
  });

  it('plants the cookie that a login is claimed with', async () => {
    const { url, id } = await world.publish(VERIFIER);
    const planted = `${id}.${'A'.repeat(43)}`;
    const name = `__Secure-kube-bind-${STATE_NAME.replace('connection-', '')}`;
    const victim = world.browser();
    await victim.get(`${url}?verifier=${VERIFIER}`, { cookie: `${name}=${planted}` });
    expect(victim.cookies[0]?.value).not.toBe(planted);
    const answer = await world.browser().get(url, { cookie: `${name}=${planted}` });
    expect(answer.statusCode).toBe(403);
  });

  it('goes on with a cookie that he made up', async () => {
    const { consent } = await openByPlugin(world.browser());
    const [, id = ''] = /\.([\w-]{22})\/continue/.exec(formAction(consent)) ?? [];
    const forged = `${id}.${'A'.repeat(43)}`;
    const name = `__Secure-kube-bind-${STATE_NAME.replace('connection-', '')}`;
    const answer = await world
      .browser()
      .post(formAction(consent), { csrf: csrfToken(forged) }, { cookie: `${name}=${forged}` });
    expect(answer.statusCode).toBe(403);
    expect(answer.body).toContain('another browser');
    expect(world.backend.calls).toEqual([]);
  });

  it.each(['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH'] as const)(
    'uses up anything by %s',
    async (method) => {
      const { url } = await world.publish(VERIFIER);
      const before = await world.state();
      const answer = await world.server.inject({
        method,
        url: `${url.slice(EXTERNAL.length)}?verifier=${VERIFIER}`,
      });
      expect(answer.statusCode).toBeGreaterThanOrEqual(400);
      expect(await world.state()).toEqual(before);
      const browser = world.browser();
      const { consent } = await openByPlugin(browser);
      const { callback } = await continueTo(browser, consent);
      const redirected = await world.state();
      const { cookie } = { cookie: browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ') };
      await world.server.inject({ method, url: callback.slice(EXTERNAL.length), headers: { cookie } });
      expect(await world.state()).toEqual(redirected);
    },
  );
});

describe('a callback', () => {
  it('binds once, also when it comes twice at once', async () => {
    const browser = world.browser();
    const { consent } = await openByPlugin(browser);
    const { callback } = await continueTo(browser, consent);
    const answers = await Promise.all([browser.get(callback), browser.get(callback)]);
    expect(binds()).toHaveLength(1);
    expect(answers.filter(({ statusCode }) => statusCode === 303).length).toBeGreaterThanOrEqual(1);
    expect((await world.state()).login?.stage).toBe('finished');
  });

  it('shows a refusal of the login escaped, and ends the login (A13)', async () => {
    const browser = world.browser();
    const { consent } = await openByPlugin(browser);
    const { redirect } = await continueTo(browser, consent);
    redirect.searchParams.set('error', 'access_denied');
    redirect.searchParams.set('error_description', 'x<script>alert(1)</script>');
    const page = await browser.get(redirect.href);
    expect(page.statusCode).toBe(403);
    expect(page.body).toContain('x&lt;script&gt;');
    expect(page.body).not.toContain('<script');
    expectReason('connection/Authenticated/LoginRefused', await ending());
    expect((await world.state()).login).toMatchObject({
      stage: 'ended',
      endedBecause: 'access_denied: x<script>alert(1)</script>',
    });
    expect((await world.state()).account).toBeUndefined();
  });

  it('ends the login where the provider offers nothing', async () => {
    world.backend.offer();
    const browser = world.browser();
    const { consent } = await openByPlugin(browser);
    const { callback } = await continueTo(browser, consent);
    expect((await browser.get(callback)).body).toContain('offers nothing');
    expect((await world.state()).login?.stage).toBe('ended');
    expectReason('connection/Authenticated/NoOffers', await ending());
    expect(binds()).toEqual([]);
  });

  it('refuses a kubeconfig that would run programs', async () => {
    const bad = `apiVersion: v1
kind: Config
clusters: [{name: d, cluster: {server: "https://p"}}]
contexts: [{name: d, context: {cluster: d, user: d, namespace: n}}]
current-context: d
users: [{name: d, user: {exec: {command: sh}}}]
`;
    world.backend.answer('/api/bind', json(200, bindAnswer(bad)));
    const browser = world.browser();
    const { consent } = await openByPlugin(browser);
    const { callback } = await continueTo(browser, consent);
    expect((await browser.get(callback)).body).toContain('exec');
    expect((await world.state()).login?.stage).toBe('ended');
    expectReason('connection/Authenticated/BackendRefused', await ending());
    expect((await world.state()).account).toBeUndefined();
  });

  it('can be made again after the backend failed in between', async () => {
    const browser = world.browser();
    const { url, consent } = await openByPlugin(browser);
    const first = await continueTo(browser, consent);
    world.backend.answer('/api/bind', unreachable());
    const failed = await browser.get(first.callback);
    expect(failed.statusCode).toBe(502);
    expect(failed.body).not.toContain(new URL(first.callback).searchParams.get('access_token'));
    expect((await browser.get(first.callback)).statusCode).toBe(303);
    expect(binds()).toHaveLength(1);

    world.backend.answer('/api/bind', json(200, bindAnswer()));
    const second = await continueTo(browser, await browser.get(url));
    expect((await browser.get(second.callback)).statusCode).toBe(303);
    expect((await world.state()).login?.stage).toBe('finished');
    const identities = new Set(binds().map(({ body }) => JSON.stringify(body?.['spec'])));
    expect(identities.size).toBe(1);
  });

  it.each([
    [2, 303, 3],
    [3, 502, 3],
  ])('asks again by itself when the backend fails %d times: %d after %d requests', async (...row) => {
    const [failures, status, requests] = row;
    const browser = world.browser();
    const { consent } = await openByPlugin(browser);
    const { callback } = await continueTo(browser, consent);
    // Backend v0.8.2 while it makes the account of somebody else.
    const failure = { kind: 'Error', message: 'Failed to handle cluster resources', code: 'INTERNAL_ERROR' };
    world.backend.answer('/api/bind', async () =>
      binds().length > failures ? json(200, bindAnswer()) : json(500, failure),
    );
    let answer: LightMyRequestResponse | undefined;
    void browser.get(callback).then((value) => (answer = value));
    while (answer === undefined) await world.clock.advance(500);
    expect(answer.statusCode).toBe(status);
    expect(binds()).toHaveLength(requests);
    expect(new Set(binds().map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  it('stores nothing for a login that was sent to the backend again meanwhile', async () => {
    const browser = world.browser();
    const { url, consent } = await openByPlugin(browser);
    const first = await continueTo(browser, consent);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    world.backend.answer('/api/bind', async () => {
      await held;
      return json(200, bindAnswer());
    });
    const slow = browser.get(first.callback);
    while (binds().length === 0) await new Promise((resolve) => setImmediate(resolve));
    await continueTo(browser, await browser.get(url));
    release();
    expect((await slow).statusCode).toBe(409);
    expect((await world.state()).account).toBeUndefined();
  });

  it('does not end a login that was sent to the backend again meanwhile', async () => {
    const browser = world.browser();
    const { url, consent } = await openByPlugin(browser);
    const first = await continueTo(browser, consent);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    world.backend.answer('/api/bind', async () => {
      await held;
      return json(403, { kind: 'Error', message: 'not you', code: 'AUTHORIZATION_FAILED' });
    });
    const slow = browser.get(first.callback);
    while (binds().length === 0) await new Promise((resolve) => setImmediate(resolve));
    const second = await continueTo(browser, await browser.get(url));
    release();
    expect((await slow).statusCode).toBe(502);
    expect((await world.state()).login?.stage).toBe('redirected');
    world.backend.answer('/api/bind', json(200, bindAnswer()));
    await browser.get(second.callback);
    expect((await world.state()).login?.stage).toBe('finished');
  });

  it('keeps what workers found out when a login is made again', async () => {
    await loggedIn(world.browser());
    const state = await world.states.read(CONNECTION);
    const account = { ...state.value.account!, contractNamespaceUid: 'uid-of-namespace' };
    await world.states.write({ ...state, value: { ...state.value, account } });
    await loggedIn(world.browser());
    expect((await world.state()).account?.contractNamespaceUid).toBe('uid-of-namespace');
  });
});

describe('the live connection', () => {
  const unlessLive = async (spoil: () => void, expected: number) => {
    const browser = world.browser();
    const { url, consent } = await openByPlugin(browser);
    const { callback } = await continueTo(browser, consent);
    spoil();
    expect((await browser.get(url)).statusCode).toBe(expected);
    expect((await browser.submit(consent)).statusCode).toBe(expected);
    expect((await browser.get(callback)).statusCode).toBe(expected);
    expect(binds()).toEqual([]);
    expect((await world.state()).account).toBeUndefined();
  };

  it('must still be there', () =>
    unlessLive(() => world.workspace.objects.delete('kubebindconnections /dairy'), 410));
  it('must be the same object', () => unlessLive(() => (world.connection().metadata.uid = 'another'), 410));
  it('must not be on its way out', () =>
    unlessLive(() => (world.connection().metadata.deletionTimestamp = '2026-01-01T00:00:00Z'), 409));
  it('must not ask for another login', () =>
    unlessLive(
      () => Object.assign(world.connection()['spec'] as object, { login: { challenge: 'B'.repeat(43) } }),
      409,
    ));
  it('must be in a workspace that may be shown', () =>
    unlessLive(() => world.workspace.objects.delete('logicalclusters /cluster'), 409));
  it('must be readable', () => unlessLive(() => world.workspace.fail('get', claimMissing()), 503));

  it('is not brought back when its state was removed meanwhile', async () => {
    const browser = world.browser();
    const { consent } = await openByPlugin(browser);
    const { callback } = await continueTo(browser, consent);
    world.backend.answer('/api/bind', async () => {
      await world.states.remove(CONNECTION);
      return json(200, bindAnswer());
    });
    expect((await browser.get(callback)).statusCode).toBe(410);
    expect([...world.clientWorkspace.objects.keys()].join()).not.toContain('connection-');
  });
});

describe('the backend', () => {
  it.each([
    ['another host', 'http://evil.example.com/api/authorize'],
    ['another port', 'http://bind.example.com:8443/api/authorize'],
    ['a host behind user info', 'http://bind.example.com@evil.example.com/api/authorize'],
  ])('may not send people to %s', async (_name, authenticatedURL) => {
    const browser = world.browser();
    const { consent } = await openByPlugin(browser);
    const document = providerDocument(new URL('https://bind.example.com'), authenticatedURL);
    world.backend.answer('/api/exports', json(200, document));
    const answer = await browser.submit(consent);
    expect(answer.statusCode).toBe(502);
    expect(answer.headers.location).toBeUndefined();
    expect((await world.state()).login?.stage).toBe('claimed');
  });

  it('is not believed by the page itself either', async () => {
    await world.close();
    world = await handshakeWorld({
      backendApi: () => ({
        ...unusedBackend,
        provider: async () => ({ prettyName: '', version: 'v0.8.2', authorizeEndpoint: '' }),
        authorizeUrl: () => 'https://evil.example.com/api/authorize',
      }),
    });
    const browser = world.browser();
    const { consent } = await openByPlugin(browser);
    const answer = await browser.submit(consent);
    expect(answer.statusCode).toBe(502);
    expect(answer.headers.location).toBeUndefined();
  });

  it('may be away for a while', async () => {
    const browser = world.browser();
    const { url, consent } = await openByPlugin(browser);
    world.backend.answer('/api/exports', unreachable());
    const answer = await browser.submit(consent);
    expect(answer.statusCode).toBe(502);
    expect(answer.body).toContain(`href="${url.slice(EXTERNAL.length)}"`);
  });

  it('is sent people over plain HTTP only with a warning, and the form may lead there', async () => {
    await world.close();
    world = await handshakeWorld({ backendUrl: 'http://127.0.0.1:8080' });
    const { consent } = await openByPlugin(world.browser());
    expect(consent.body).toContain('Not encrypted');
    expect(consent.headers['content-security-policy']).toContain("form-action 'self' https: http:");
  });
});

describe('a login that is over', () => {
  it('says so and starts another at the press of a button', async () => {
    const { url } = await world.publish();
    await world.clock.advance(10 * 60_000);
    const browser = world.browser();
    const over = await browser.get(url);
    expect(over.statusCode).toBe(410);
    expect(over.body).toContain('expired');
    expect(formAction(over)).toBe(`${url.slice(EXTERNAL.length)}/restart`);
    const pressed = browser.submit(over);
    let next = '';
    while (next === '') {
      await world.clock.advance(500);
      const { login } = await world.state();
      if (login?.restartRequestedAt !== undefined) ({ url: next } = await world.publish());
    }
    await world.clock.advance(500);
    const answer = await pressed;
    expect(answer.statusCode).toBe(303);
    expect(locationOf(answer)).toBe(next.slice(EXTERNAL.length));
    expect((await browser.get(next)).body).toContain('Type the code');
  });

  it('says where the next one will appear when that takes long', async () => {
    const { url } = await world.publish();
    await world.clock.advance(10 * 60_000);
    const browser = world.browser();
    const pressed = browser.submit(await browser.get(url));
    let answer: LightMyRequestResponse | undefined;
    void pressed.then((value) => (answer = value));
    while (answer === undefined) await world.clock.advance(500);
    expect(answer.statusCode).toBe(202);
    expect(answer.body).toContain('.status.authentication.url');
  });

  it('does not follow an address in status that names another login', async () => {
    const { url } = await world.publish();
    await world.clock.advance(10 * 60_000);
    const browser = world.browser();
    const pressed = browser.submit(await browser.get(url));
    let answer: LightMyRequestResponse | undefined;
    void pressed.then((value) => (answer = value));
    while ((await world.state()).login?.restartRequestedAt === undefined) await world.clock.advance(1);
    await world.publish();
    const elsewhere = `https://evil.example.com/login/${STATE_NAME}.${'A'.repeat(22)}`;
    world.connection()['status'] = { authentication: { url: elsewhere } };
    while (answer === undefined) await world.clock.advance(500);
    expect(answer.statusCode).toBe(202);
  });

  it.each([
    ['the verifier', async (url: string) => world.browser().get(`${url}?verifier=${VERIFIER}`)],
    ['the address', async (url: string) => world.browser().get(url)],
  ])('takes %s no more', async (_name, visit) => {
    const { url } = await world.publish(VERIFIER);
    await world.clock.advance(10 * 60_000);
    expect((await visit(url)).statusCode).toBe(410);
    expect((await world.state()).login?.stage).toBe('awaited');
  });

  it('takes no callback', async () => {
    const browser = world.browser();
    const { consent } = await openByPlugin(browser);
    const { callback } = await continueTo(browser, consent);
    await world.clock.advance(10 * 60_000);
    expect((await browser.get(callback)).statusCode).toBe(410);
    expect(binds()).toEqual([]);
  });
});

describe('the catalogue', () => {
  it('adds an offer once, however often the button is pressed', async () => {
    const browser = world.browser();
    const { url } = await loggedIn(browser);
    const catalogue = await browser.get(url);
    await browser.submit(catalogue, { offer: ['cheeses', 'milks'] });
    const before = world.workspace.objects.size;
    const again = await browser.submit(catalogue, { offer: ['cheeses', 'milks'], claim: 'cheeses/secrets/' });
    expect(again.statusCode).toBe(303);
    expect(locationOf(again)).not.toContain('clash');
    expect(world.workspace.objects.size).toBe(before);
    expect((await browser.get(url)).body).toContain('nothing more to choose');
  });

  it('adds nothing that was not offered, and no claim that the offer does not make', async () => {
    const browser = world.browser();
    const { url } = await loggedIn(browser);
    const catalogue = await browser.get(url);
    const none = await browser.submit(catalogue, { offer: ['wines', '__proto__', '../x'] });
    expect(none.statusCode).toBe(400);
    expect(bindingNames(world.workspace)).toEqual([]);
    await browser.submit(catalogue, { offer: 'milks', claim: ['milks/secrets/', 'cheeses/secrets/'] });
    expect(stored(world.workspace, 'kubebindbindings', 'milks')['spec']).toEqual({
      connection: 'dairy',
      template: 'milks',
    });
  });

  it('does not touch a binding of that name for something else', async () => {
    await world.workspace.client.create(
      { group: 'kcp.kube-bind.io', version: 'v1alpha1', resource: 'kubebindbindings' },
      {
        apiVersion: 'kcp.kube-bind.io/v1alpha1',
        kind: 'KubeBindBinding',
        metadata: { name: 'cheeses' },
        spec: { connection: 'other', template: 'cheeses' },
      },
    );
    const browser = world.browser();
    const { url } = await loggedIn(browser);
    const chosen = await browser.submit(await browser.get(url), { offer: 'cheeses' });
    expect(locationOf(chosen)).toContain('clash=cheeses');
    expect((await browser.get(locationOf(chosen))).body).toContain('exists already for something else');
    expect(stored(world.workspace, 'kubebindbindings', 'cheeses')['spec']).toMatchObject({
      connection: 'other',
    });
  });

  it('shows what admission says when it refuses a binding', async () => {
    const browser = world.browser();
    const { url } = await loggedIn(browser);
    const catalogue = await browser.get(url);
    world.workspace.fail('create', status(422, 'Invalid', 'spec.template: <too long>'));
    const refused = await browser.submit(catalogue, { offer: 'milks' });
    expect(refused.statusCode).toBe(409);
    expect(refused.body).toContain('spec.template: &lt;too long&gt;');
    world.workspace.fail('create', status(500, 'InternalError', 'etcd'));
    expect((await browser.submit(catalogue, { offer: 'milks' })).statusCode).toBe(503);
  });

  it('is closed an hour after the login', async () => {
    const browser = world.browser();
    const { url } = await loggedIn(browser);
    const catalogue = await browser.get(url);
    await world.clock.advance(60 * 60_000);
    expect((await browser.submit(catalogue, { offer: 'cheeses' })).statusCode).toBe(410);
    expect(bindingNames(world.workspace)).toEqual([]);
  });

  it('follows bindings until they are ready', async () => {
    const browser = world.browser();
    const { url } = await loggedIn(browser);
    const chosen = await browser.submit(await browser.get(url), { offer: 'milks' });
    const binding = stored(world.workspace, 'kubebindbindings', 'milks');
    binding['status'] = {
      phase: 'Degraded',
      conditions: [{ type: 'Ready', status: 'False', message: 'ask <b>them</b>' }],
    };
    const waiting = await browser.get(locationOf(chosen));
    expect(waiting.body).toContain('ask &lt;b&gt;them&lt;/b&gt;');
    binding['status'] = { phase: 'Ready', conditions: [{ type: 'Ready', status: 'True', message: '' }] };
    const ready = await browser.get(locationOf(chosen));
    expect(ready.body).toContain('All is set up');
    expect(ready.body).not.toContain('http-equiv');
  });

  it('escapes all that the provider wrote', async () => {
    const evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>\u202Egnp.exe';
    world.backend.offer({
      ...CHEESES,
      spec: {
        ...CHEESES.spec,
        description: evil,
        permissionClaims: [
          {
            resource: 'secrets',
            selector: {
              labelSelector: { matchLabels: { [evil]: evil } },
              namedResources: [{ name: evil }],
              references: [{ resource: evil, jsonPath: { name: evil } }],
            },
          },
        ],
      },
    });
    const browser = world.browser();
    const { url } = await loggedIn(browser);
    const catalogue = (await browser.get(url)).body;
    const other = world.browser();
    const { url: again } = await openByPlugin(other);
    world.connection()['status'] = { provider: { prettyName: evil } };
    const pages = [catalogue, (await other.get(again)).body];
    for (const body of pages) {
      expect(body).toContain('&lt;script&gt;');
      expect(body).not.toMatch(/<script|<img|\u202e/);
    }
  });
});

const unused = () => Promise.reject(new Error('not in this test'));
const unusedBackend = { templates: unused, collections: unused, bind: unused };

function decoded(data: unknown): string {
  return Object.values(data as Record<string, string>)
    .map((value) => Buffer.from(value, 'base64').toString())
    .join('\n');
}
