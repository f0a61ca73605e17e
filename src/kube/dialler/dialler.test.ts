import { createServer, type Server } from 'node:http';
import { connect as connectTcp, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'undici';
import { startServer, type LoopbackServer } from '../testing/loopback-server.js';
import { makeCertificates, type TestCertificates } from '../testing/test-certificates.js';
import { createDialler, createOpenDialler, type ConnectorOptions, type Dialler } from './dialler.js';
import type { DialPolicy } from './policy.js';
import type { Resolver } from './resolver.js';

const STRICT: DialPolicy = { allowHosts: [], allowCidrs: [], denyCidrs: [], allowProxy: false };
const LOOPBACK: DialPolicy = { ...STRICT, allowCidrs: ['127.0.0.0/8'] };

let certificates: TestCertificates;
const cleanup: (() => Promise<unknown>)[] = [];

beforeAll(() => {
  certificates = makeCertificates(['DNS:kube.test', 'IP:127.0.0.1']);
});

afterEach(async () => {
  for (const close of cleanup.splice(0).reverse()) await close();
});

async function server(tls = true): Promise<LoopbackServer> {
  const { cert, key } = certificates.server;
  const started = await startServer(
    (_, response) => response.end('hello'),
    tls ? { cert, key, ca: certificates.ca, requestCert: true, rejectUnauthorized: false } : undefined,
  );
  cleanup.push(() => started.close());
  return started;
}

/** GETs `/` of the origin through a connector of the dialler. */
async function get(
  dialler: Dialler,
  origin: string,
  options: Partial<ConnectorOptions> = {},
): Promise<string> {
  const connect = dialler.connector({ connectTimeoutMs: 2000, ...options });
  const client = new Client(origin, { connect });
  cleanup.push(() => client.destroy());
  const { body } = await client.request({ method: 'GET', path: '/' });
  return body.text();
}

const resolvesTo =
  (...addresses: string[]): Resolver =>
  (_, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

describe('createDialler', () => {
  it('refuses literal addresses before it connects', async () => {
    const { url, port, accepted } = await server(false);
    for (const origin of [
      url,
      `http://[::ffff:127.0.0.1]:${port}`,
      `http://2130706433:${port}`,
      `http://0x7f.1:${port}`,
    ])
      await expect(get(createDialler(STRICT), origin)).rejects.toMatchObject({ code: 'KUBE_ADDRESS_DENIED' });
    expect(accepted()).toBe(0);
  });

  it('refuses a name that resolves to an address it may not dial', async () => {
    const { port, accepted } = await server();
    const dialler = createDialler(STRICT, resolvesTo('127.0.0.1'));
    const denied = get(dialler, `https://kube.test:${port}`, { ca: certificates.ca });
    await expect(denied).rejects.toThrow(/kube\.test \(127\.0\.0\.1\) is a loopback address/);
    expect(accepted()).toBe(0);
  });

  it('dials the addresses that it has checked, and no other answer of the resolver', async () => {
    const { port } = await server();
    let lookups = 0;
    const rebinding: Resolver = (host, callback) => {
      lookups++;
      resolvesTo(lookups === 1 ? '127.0.0.1' : '127.0.0.9')(host, callback);
    };
    const dialler = createDialler({ ...STRICT, allowCidrs: ['127.0.0.1/32'] }, rebinding);
    await expect(get(dialler, `https://kube.test:${port}`, { ca: certificates.ca })).resolves.toBe('hello');
    expect(lookups).toBe(1);
    await expect(get(dialler, `https://kube.test:${port}`, { ca: certificates.ca })).rejects.toMatchObject({
      code: 'KUBE_ADDRESS_DENIED',
    });
  });

  it('uses only the permitted ones of several addresses', async () => {
    const { port } = await server();
    const policy = { ...STRICT, allowCidrs: ['127.0.0.1'] };
    const dialler = createDialler(policy, resolvesTo('10.0.0.1', '::1', '127.0.0.1'));
    await expect(get(dialler, `https://kube.test:${port}`, { ca: certificates.ca })).resolves.toBe('hello');
  });

  it('keeps the host name for SNI and verification', async () => {
    const { port } = await server();
    const dialler = createDialler(LOOPBACK, resolvesTo('127.0.0.1'));
    const ca = certificates.ca;
    await expect(get(dialler, `https://kube.test:${port}`, { ca })).resolves.toBe('hello');
    await expect(get(dialler, `https://other.test:${port}`, { ca })).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    await expect(
      get(dialler, `https://other.test:${port}`, { ca, tlsServerName: 'kube.test' }),
    ).resolves.toBe('hello');
  });

  it('passes on that a name does not resolve, or to nothing', async () => {
    const failing: Resolver = (_, callback) =>
      callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []);
    await expect(get(createDialler(STRICT, failing), 'https://a.test')).rejects.toMatchObject({
      code: 'ENOTFOUND',
    });
    await expect(get(createDialler(STRICT, resolvesTo()), 'https://a.test')).rejects.toThrow(
      /has no address/,
    );
  });

  it('refuses a proxy, and unverified TLS, that it was not told to allow', () => {
    const dialler = createDialler(LOOPBACK);
    expect(() => dialler.connector({ connectTimeoutMs: 1, proxyUrl: 'http://127.0.0.1:1' })).toThrow(
      /--allow-proxy/,
    );
    expect(() => dialler.connector({ connectTimeoutMs: 1, insecureSkipTlsVerify: true })).toThrow(
      /never allowed/,
    );
  });
});

describe('through a proxy', () => {
  /** A CONNECT proxy that leads every target to `port` on loopback. */
  async function proxy(port: number, status = '200 OK'): Promise<{ url: string; targets: string[] }> {
    const targets: string[] = [];
    const sockets = new Set<Socket>();
    const listener: Server = createServer();
    listener.on('connect', (request, socket: Socket) => {
      targets.push(request.url ?? '');
      sockets.add(socket.on('error', () => undefined));
      socket.write(`HTTP/1.1 ${status}\r\n\r\n`);
      if (!status.startsWith('200')) return;
      const upstream = connectTcp(port, '127.0.0.1').on('error', () => undefined);
      sockets.add(upstream);
      socket.pipe(upstream).pipe(socket);
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    cleanup.push(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    });
    return { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`, targets };
  }

  it.each([
    ['the open dialler', () => createOpenDialler()],
    [
      'a policy that allows proxies',
      () => createDialler({ ...LOOPBACK, allowProxy: true }, resolvesTo('10.0.0.1')),
    ],
  ])('%s reaches a target by name, verified against its own authority', async (_, make) => {
    const { port } = await server();
    const { url, targets } = await proxy(port);
    const ca = certificates.ca;
    await expect(get(make(), 'https://kube.test', { ca, proxyUrl: url })).resolves.toBe('hello');
    expect(targets).toEqual(['kube.test:443']);
    await expect(
      get(make(), 'https://kube.test', { ca: certificates.otherCa, proxyUrl: url }),
    ).rejects.toMatchObject({ code: expect.stringMatching(/CERT|SIGNATURE/) });
  });

  it('the proxy’s own address is what the policy checks', async () => {
    const { port } = await server();
    const { url, targets } = await proxy(port);
    const dialler = createDialler({ ...STRICT, allowProxy: true });
    await expect(get(dialler, 'https://kube.test', { proxyUrl: url })).rejects.toMatchObject({
      code: 'KUBE_ADDRESS_DENIED',
    });
    expect(targets).toEqual([]);
  });

  it('a refusal of the proxy is an error that names it', async () => {
    const { port } = await server();
    const { url } = await proxy(port, '403 Forbidden');
    await expect(get(createOpenDialler(), 'https://kube.test', { proxyUrl: url })).rejects.toThrow(
      `the proxy ${url} answered 403 to CONNECT`,
    );
  });
});
