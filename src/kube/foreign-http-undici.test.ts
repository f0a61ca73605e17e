import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createDialler, createOpenDialler } from './dialler/dialler.js';
import { createForeignHttp, type ForeignHttpOptions } from './foreign-http-undici.js';
import type { ForeignHttp } from './foreign-http.js';
import { sendJson, startServer, type LoopbackServer } from './testing/loopback-server.js';
import { ManualClock } from './testing/manual-clock.js';
import { makeCertificates } from './testing/test-certificates.js';

let server: LoopbackServer;
let http: ForeignHttp;

function make(options: Partial<ForeignHttpOptions> = {}): ForeignHttp {
  return createForeignHttp({
    dialler: createOpenDialler(),
    userAgent: 'test/1',
    timeoutMs: 5000,
    maxBytes: 1000,
    ...options,
  });
}

beforeEach(async () => {
  server = await startServer((_, response) => sendJson(response, 200, { ok: true }, { 'X-Some': 'thing' }));
  http = make();
});

afterEach(async () => {
  await http.close();
  await server.close();
});

describe('createForeignHttp', () => {
  it('sends what it is given and nothing of its own but a name', async () => {
    const { status, headers, body } = await http.request({
      method: 'POST',
      url: `${server.url}/api/bind?a=b%20c`,
      headers: { authorization: 'Bearer x', 'content-type': 'application/json' },
      body: '{}',
    });
    expect({ status, some: headers['x-some'], body: Buffer.from(body).toString() }).toEqual({
      status: 200,
      some: 'thing',
      body: '{"ok":true}',
    });
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        url: '/api/bind?a=b%20c',
        body: '{}',
        headers: { authorization: 'Bearer x', 'user-agent': 'test/1', 'accept-encoding': 'identity' },
      },
    ]);
  });

  it('hands redirects and errors to the caller, and follows nothing', async () => {
    server.answer((_, response) => response.writeHead(302, { location: '/elsewhere' }).end());
    await expect(http.request({ method: 'GET', url: server.url })).resolves.toMatchObject({
      status: 302,
      headers: { location: '/elsewhere' },
    });
    expect(server.requests).toHaveLength(1);
  });

  it('leaves no connection behind', async () => {
    await http.request({ method: 'GET', url: server.url });
    await server.until(() => server.sockets.size === 0);
  });

  it('refuses addresses by policy, plain http included', async () => {
    http = make({
      dialler: createDialler({ allowHosts: [], allowCidrs: [], denyCidrs: [], allowProxy: false }),
    });
    await expect(http.request({ method: 'GET', url: server.url })).rejects.toMatchObject({
      code: 'KUBE_ADDRESS_DENIED',
    });
    expect(server.accepted()).toBe(0);
  });

  it.each(['ftp://h/', 'http://user:pass@h/', 'nonsense', ''])('refuses the URL %j', async (url) => {
    await expect(http.request({ method: 'GET', url })).rejects.toMatchObject({ code: 'KUBE_PROTOCOL' });
  });

  it('caps the body, by default and for one request', async () => {
    server.answer((_, response) => response.end('x'.repeat(1001)));
    await expect(http.request({ method: 'GET', url: server.url })).rejects.toMatchObject({
      code: 'KUBE_PROTOCOL',
    });
    await expect(http.request({ method: 'GET', url: server.url, maxBytes: 1001 })).resolves.toMatchObject({
      status: 200,
    });
  });

  it('refuses compressed answers', async () => {
    server.answer((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{}')),
    );
    await expect(http.request({ method: 'GET', url: server.url })).rejects.toMatchObject({
      code: 'KUBE_PROTOCOL',
    });
  });

  it('ends by time-out, by signal and by close', async () => {
    const clock = new ManualClock();
    http = make({ clock });
    server.answer(() => undefined);
    const late = http.request({ method: 'GET', url: server.url, timeoutMs: 100 });
    await server.until(() => server.requests.length === 1);
    const expectation = expect(late).rejects.toMatchObject({ kind: 'timeout' });
    await clock.advance(100);
    await expectation;
    const controller = new AbortController();
    const aborted = http.request({ method: 'GET', url: server.url, signal: controller.signal });
    await server.until(() => server.requests.length === 2);
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ kind: 'aborted' });
    const closed = http.request({ method: 'GET', url: server.url });
    await server.until(() => server.requests.length === 3);
    const closing = expect(closed).rejects.toMatchObject({ kind: 'aborted' });
    await http.close();
    await closing;
    await expect(http.request({ method: 'GET', url: server.url })).rejects.toMatchObject({ kind: 'aborted' });
    await server.until(() => server.sockets.size === 0);
    expect(clock.pending).toBe(0);
  });

  it('trusts the authority given for one request, and only there', async () => {
    const certificates = makeCertificates(['IP:127.0.0.1']);
    const secure = await startServer((_, response) => response.end('{}'), { ...certificates.server });
    const get = (ca?: string): Promise<unknown> =>
      http.request({ method: 'GET', url: secure.url, ...(ca === undefined ? {} : { ca }) });
    await expect(get(certificates.ca)).resolves.toMatchObject({ status: 200 });
    await expect(get()).rejects.toMatchObject({
      kind: 'tls',
      message: expect.stringContaining('certificate'),
    });
    await expect(get(certificates.otherCa)).rejects.toMatchObject({ kind: 'tls' });
    await expect(get('no PEM at all')).rejects.toMatchObject({ code: 'KUBE_TRANSPORT' });
    await secure.close();
  });
});
