import { createHash } from 'node:crypto';
import { get } from 'node:https';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { makeCertificates } from '../kube/testing/test-certificates.js';
import { EXTERNAL, VERIFIER, handshakeWorld } from './testing/handshake-world.js';
import type { HandshakeWorld } from './testing/handshake-world.js';

let world: HandshakeWorld;
beforeEach(async () => {
  world = await handshakeWorld();
});
afterEach(async () => world.close());

/** Asks over TLS, trusting one authority only. */
function healthOver(address: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = get(`${address}/healthz`, { ca, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
      answer.on('end', () => resolve(text));
    });
    asked.on('error', reject);
  });
}

const reopen = async (settings: Parameters<typeof handshakeWorld>[0]) => {
  await world.close();
  world = await handshakeWorld(settings);
};

describe('pages', () => {
  it('run nothing, are framed by nobody, kept nowhere and tell nobody where they were left', async () => {
    const { url } = await world.publish();
    const page = await world.browser().get(url);
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'strict-transport-security': 'max-age=15552000',
    });
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("form-action 'self';");
    expect(policy).not.toContain('unsafe');
    expect(policy).not.toContain('script-src');
  });

  it('carry exactly the style that their policy allows', async () => {
    const page = await world.browser().get('/nowhere');
    const style = /<style>([\s\S]*?)<\/style>/.exec(page.body)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(String(page.headers['content-security-policy'])).toContain(`style-src 'sha256-${hash}'`);
  });

  it('have a language, a title, one heading, and a label for each field', async () => {
    const { url } = await world.publish();
    const { body } = await world.browser().get(url);
    expect(body).toContain('<html lang="en">');
    expect(body).toMatch(/<title>[^<]+<\/title>/);
    expect(body.match(/<h1>/g)).toHaveLength(1);
    expect(body).toContain('<label for="code">');
    expect(body).toContain('name="viewport"');
  });

  it.each([
    ['an address without a page', 'GET', '/nowhere?access_token=abc', 404],
    ['a damaged address', 'GET', '/login/%E0%A4%A', 400],
    ['an endless address', 'GET', `/login/${'a'.repeat(5000)}`, 400],
    ['a stranger’s probe', 'GET', '/favicon.ico', 404],
  ] as const)('say no to %s', async (_name, method, url, status) => {
    const page = await world.server.inject({ method, url });
    expect(page.statusCode).toBe(status);
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.body).toContain('<h1>');
    expect(world.log()).not.toContain('access_token=abc');
  });

  it.each([
    ['JSON', 'application/json', '{"csrf":"x"}', 415],
    ['nothing in particular', 'text/plain', 'csrf=x', 415],
    ['too much', 'application/x-www-form-urlencoded', `csrf=${'x'.repeat(70_000)}`, 413],
    ['names that are no fields', 'application/x-www-form-urlencoded', '__proto__=1&constructor=2', 403],
  ])('take no %s for a form', async (_name, type, payload, status) => {
    const { url } = await world.publish();
    const page = await world.server.inject({
      method: 'POST',
      url: `${url.slice(EXTERNAL.length)}/code`,
      headers: { 'content-type': type },
      payload,
    });
    expect(page.statusCode).toBe(status);
    expect((await world.state()).login?.wrongCodes).toBe(0);
  });

  it('slow down who asks too often, each address for itself', async () => {
    const ask = (remoteAddress: string) =>
      world.server.inject({ method: 'GET', url: '/login/x', remoteAddress });
    let limited = 0;
    for (let i = 0; i < 250; i++) if ((await ask('192.0.2.1')).statusCode === 429) limited += 1;
    expect(limited).toBeGreaterThan(0);
    expect((await ask('192.0.2.2')).statusCode).toBe(404);
    const probe = await world.server.inject({ method: 'GET', url: '/healthz', remoteAddress: '192.0.2.1' });
    expect(probe.statusCode).toBe(200);
  });

  it('believe X-Forwarded-For only from trusted proxies', async () => {
    const limitedWith = async () => {
      for (let i = 0; i < 250; i++) {
        const headers = { 'x-forwarded-for': `198.51.100.${i % 200}` };
        const answer = await world.server.inject({
          method: 'GET',
          url: '/login/x',
          remoteAddress: '10.0.0.1',
          headers,
        });
        if (answer.statusCode === 429) return true;
      }
      return false;
    };
    expect(await limitedWith()).toBe(true);
    await reopen({ trustedProxies: ['10.0.0.0/8'] });
    expect(await limitedWith()).toBe(false);
  });
});

describe('cookies', () => {
  it('go only where they are needed, over TLS, out of reach of scripts', async () => {
    const { url } = await world.publish(VERIFIER);
    const claimed = await world.browser().get(`${url}?verifier=${VERIFIER}`);
    expect(claimed.cookies).toHaveLength(2);
    for (const cookie of claimed.cookies) {
      expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax' });
      expect(cookie.name).toMatch(/^__Secure-kube-bind-[0-9a-f]{20}$/);
      expect(cookie.path).toMatch(/^\/(login|callback)\/connection-/);
    }
  });

  it('are not marked as secure where the login pages are served without TLS', async () => {
    await reopen({ externalUrl: 'http://127.0.0.1:8080' });
    const { url } = await world.publish(VERIFIER);
    const claimed = await world.browser().get(`${url}?verifier=${VERIFIER}`);
    expect(claimed.cookies[0]).not.toHaveProperty('secure');
    expect(claimed.headers['strict-transport-security']).toBeUndefined();
  });
});

describe('behind a reverse proxy with a path prefix', () => {
  it.each([
    ['leaves', '/kube/bind'],
    ['strips', ''],
  ])('works where the proxy %s the prefix', async (_name, seen) => {
    await reopen({ externalUrl: 'https://example.com/kube/bind/' });
    const { url } = await world.publish(VERIFIER);
    const path = url.slice(EXTERNAL.length);
    const claimed = await world.server.inject({ method: 'GET', url: `${seen}${path}?verifier=${VERIFIER}` });
    expect(claimed.headers.location).toBe(`/kube/bind${path}`);
    expect(claimed.cookies[0]?.path).toBe(`/kube/bind${path}`);
    const cookie = `${claimed.cookies[0]?.name ?? ''}=${claimed.cookies[0]?.value ?? ''}`;
    const consent = await world.server.inject({ method: 'GET', url: `${seen}${path}`, headers: { cookie } });
    expect(consent.body).toContain(`action="/kube/bind${path}/continue"`);
  });

  it.each([
    'ftp://example.com',
    'https://user@example.com',
    'https://example.com/?x=1',
    'https://example.com/login',
    'https://example.com/a b',
    'https://example.com/callback/x',
  ])('does not start with %s', async (externalUrl) => {
    await expect(handshakeWorld({ externalUrl })).rejects.toThrow('--external-url');
  });
});

describe('operations', () => {
  it('say that the process lives, is ready, and how it fares', async () => {
    expect((await world.server.inject('/healthz')).body).toBe('ok');
    expect((await world.server.inject({ method: 'HEAD', url: '/readyz' })).statusCode).toBe(200);
    expect((await world.server.inject('/readyz')).json()).toEqual({ ready: true, checks: [], leader: true });
    const metrics = await world.server.inject('/metrics');
    expect(metrics.headers['content-type']).toContain('text/plain');
    expect(metrics.body).toContain('kcp_bind_handshake_requests_total{route="/healthz",status="200"} 1');
  });

  it('answer 503 with the reasons until ready', async () => {
    const checks = [{ name: 'stores', ok: false, message: 'bindings are not listed yet' }];
    await reopen({ ready: () => ({ ready: false, checks }), isLeader: () => false });
    const answer = await world.server.inject('/readyz');
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toEqual({ ready: false, checks, leader: false });
  });

  it('are there without logins, where no external URL is set', async () => {
    await reopen({ externalUrl: undefined });
    expect((await world.server.inject('/healthz')).statusCode).toBe(200);
    expect((await world.server.inject('/login/x')).statusCode).toBe(404);
  });

  it('name no tenant in metrics', async () => {
    const { url } = await world.publish(VERIFIER);
    await world.browser().get(`${url}?verifier=${VERIFIER}`);
    const { body } = await world.server.inject('/metrics');
    expect(body).toContain('kcp_bind_handshake_logins_total{outcome="claimed"} 1');
    expect(body).not.toMatch(/connection-|dairy|1abcdef/);
  });
});

describe('the listener', () => {
  it('ends TLS itself, and takes a renewed certificate', async () => {
    const [old, renewed] = [makeCertificates(['IP:127.0.0.1']), makeCertificates(['IP:127.0.0.1'])];
    await reopen({ tls: old.server });
    const address = await world.server.listen({ host: '127.0.0.1', port: 0 });
    expect(address).toMatch(/^https:/);
    expect(await healthOver(address, old.ca)).toBe('ok');
    world.server.renewTls(renewed.server);
    expect(await healthOver(address, renewed.ca)).toBe('ok');
    await expect(healthOver(address, old.ca)).rejects.toThrow();
  });

  it('listens, answers broken requests without quoting them, and closes twice', async () => {
    const address = await world.server.listen({ host: '127.0.0.1', port: 0 });
    const answer = await fetch(`${address}/healthz`);
    expect(answer.status).toBe(200);
    const reply = await new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(address).port), '127.0.0.1', () =>
        socket.write('GET /?token=x HTTP/1.1\r\nno header\r\n\r\n'),
      );
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.on('close', () => resolve(text));
    });
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(world.log()).not.toContain('token=x');
    await world.server.close();
    await world.server.close();
    await expect(fetch(`${address}/healthz`)).rejects.toThrow();
  });
});
