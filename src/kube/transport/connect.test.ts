import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { GVR } from '../../api/gvr.js';
import type { ClientAuth, ServerCredentials } from '../credentials.js';
import { createDialler, createOpenDialler } from '../dialler/dialler.js';
import { ApiError, ProtocolError, TransportError } from '../errors.js';
import type { KubeObject } from '../object.js';
import { createSystemClock } from '../system-clock.js';
import { sendJson, sendStatus, startServer, type LoopbackServer } from '../testing/loopback-server.js';
import { ManualClock, settle } from '../testing/manual-clock.js';
import { connect, type ConnectOptions } from './connect.js';
import type { ReloadableClient } from './reloadable-client.js';

const SECRET: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'a', namespace: 'n', resourceVersion: '7' },
};
const TARGET = { namespace: 'n', name: 'a' };

let server: LoopbackServer;
const clients: ReloadableClient[] = [];

beforeEach(async () => {
  server = await startServer((_, response) => sendJson(response, 200, SECRET));
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await server.close();
});

function client(
  options: Partial<ConnectOptions> = {},
  credentials: Partial<ServerCredentials> = {},
): ReloadableClient {
  const made = connect(
    { server: server.url, auth: { kind: 'token', token: 'secret-1' }, ...credentials },
    {
      dialler: createOpenDialler(),
      userAgent: 'test/1',
      requestTimeoutMs: 5000,
      clock: createSystemClock(),
      random: () => 0,
      ...options,
    },
  );
  clients.push(made);
  return made;
}

/** The error, typed; fails the test when there is none. */
async function failure(promise: Promise<unknown>): Promise<ApiError | TransportError | ProtocolError> {
  return promise.then(
    () => {
      throw new Error('should have been rejected');
    },
    (error: unknown) => {
      if (error instanceof ApiError || error instanceof TransportError || error instanceof ProtocolError)
        return error;
      throw error;
    },
  );
}

describe('requests', () => {
  it.each([
    ['', ''],
    ['/', ''],
    ['/clusters/root:a:b', '/clusters/root:a:b'],
    ['/clusters/root:a:b/', '/clusters/root:a:b'],
    ['/services/apiexport/x/y/clusters/*', '/services/apiexport/x/y/clusters/*'],
  ])('join the base path %j verbatim', async (path, sent) => {
    const kube = client({}, { server: server.url + path });
    await kube.get(GVR.secrets, TARGET);
    await kube.replace(GVR.exports, { ...SECRET }, { subresource: 'status' });
    await kube.at('/clusters/c1').raw('GET', '/apis');
    expect(server.requests.map(({ url }) => url)).toEqual([
      `${sent}/api/v1/namespaces/n/secrets/a`,
      `${sent}/apis/kube-bind.io/v1alpha2/namespaces/n/apiserviceexports/a/status`,
      `${sent}/clusters/c1/apis`,
    ]);
    expect(kube.at('/clusters/c1').baseUrl).toBe(`${server.url}${sent}/clusters/c1`);
  });

  it('ask for plain JSON and say who they are', async () => {
    await client().get(GVR.secrets, TARGET);
    expect(server.requests[0]?.headers).toMatchObject({
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'test/1',
      authorization: 'Bearer secret-1',
      host: `127.0.0.1:${server.port}`,
    });
  });

  it.each([
    ['merge', 'application/merge-patch+json', 'fieldManager=m&dryRun=All'],
    ['json', 'application/json-patch+json', 'fieldManager=m&dryRun=All'],
    ['apply', 'application/apply-patch+yaml', 'fieldManager=m&force=true&dryRun=All'],
  ] as const)('send a %s patch as %s, subresources too', async (type, contentType, query) => {
    const options = { fieldManager: 'm', force: true, dryRun: true };
    await client().patch(GVR.exports, TARGET, type, { n: 9007199254740993n });
    await client().patch(GVR.exports, TARGET, type, {}, { ...options, subresource: 'status' });
    expect(server.requests.map(({ headers }) => headers['content-type'])).toEqual([contentType, contentType]);
    expect(server.requests[0]?.body).toBe('{"n":9007199254740993}');
    expect(server.requests[1]?.url).toMatch(new RegExp(`/a/status\\?${query}$`));
  });

  it('create in the namespace of the object', async () => {
    server.answer((_, response) => sendJson(response, 201, SECRET));
    await expect(client().create(GVR.secrets, SECRET)).resolves.toEqual(SECRET);
    expect(server.requests[0]).toMatchObject({ method: 'POST', url: '/api/v1/namespaces/n/secrets' });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(SECRET);
  });

  it('never replace without a resourceVersion', async () => {
    const object = { ...SECRET, metadata: { name: 'a' } };
    await expect(client().replace(GVR.secrets, object)).rejects.toThrow(/resourceVersion is missing/);
    expect(server.requests).toEqual([]);
  });

  it('delete with preconditions, and tell a terminating object from a deleted one', async () => {
    const kube = client();
    await expect(
      kube.delete(GVR.secrets, TARGET, { uid: 'u', propagationPolicy: 'Background' }),
    ).resolves.toEqual(SECRET);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: 'u' },
      propagationPolicy: 'Background',
    });
    server.answer((_, response) => sendJson(response, 200, { kind: 'Status', status: 'Success' }));
    await expect(kube.delete(GVR.secrets, TARGET)).resolves.toBeUndefined();
    expect(JSON.parse(server.requests[1]?.body ?? '')).toEqual({ kind: 'DeleteOptions', apiVersion: 'v1' });
  });

  it('list pages, and give items of built-in lists their kind', async () => {
    server.answer((_, response) =>
      sendJson(response, 200, {
        apiVersion: 'v1',
        kind: 'SecretList',
        metadata: { resourceVersion: '9', continue: 'more' },
        items: [{ metadata: { name: 'a' } }],
      }),
    );
    const page = await client().list(GVR.secrets, { labelSelector: 'a=b', limit: 1, continue: 'c+/=' });
    expect(page).toEqual({
      items: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }],
      resourceVersion: '9',
      continue: 'more',
    });
    expect(server.requests[0]?.url).toBe('/api/v1/secrets?labelSelector=a%3Db&limit=1&continue=c%2B%2F%3D');
  });

  it('take a list without items for an empty one', async () => {
    server.answer((_, response) =>
      sendJson(response, 200, {
        kind: 'SecretList',
        metadata: { resourceVersion: '9', continue: '' },
        items: null,
      }),
    );
    await expect(client().list(GVR.secrets)).resolves.toEqual({ items: [], resourceVersion: '9' });
  });

  it('share a few connections', async () => {
    const kube = client({ connections: 2 });
    await Promise.all(Array.from({ length: 20 }, () => kube.get(GVR.secrets, TARGET)));
    expect(server.accepted()).toBeLessThanOrEqual(2);
  });
});

describe('refusals', () => {
  it('become ApiErrors with the reason and the Status', async () => {
    server.answer((_, response) => sendStatus(response, 409, 'Conflict', { message: 'changed meanwhile' }));
    const error = await failure(client().get(GVR.secrets, TARGET));
    expect(error).toMatchObject({
      name: 'ApiError',
      status: 409,
      reason: 'Conflict',
      message: 'changed meanwhile',
    });
    expect(error).toMatchObject({ body: { kind: 'Status' } });
  });

  it('name the request where the body is no Status', async () => {
    server.answer((_, response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<html>'));
    const error = await failure(client().get(GVR.secrets, TARGET));
    expect(error).toMatchObject({ status: 502, reason: '', body: undefined });
    expect(error.message).toBe(`GET ${server.url}/api/v1/namespaces/n/secrets/a: the server answered 502`);
  });

  it('keep the HTTP status when the body is larger than any Status', async () => {
    server.answer((_, response) => response.writeHead(500).end('x'.repeat(300_000)));
    expect(await failure(client().get(GVR.secrets, TARGET))).toMatchObject({ status: 500 });
  });
});

describe('answers that break the rules', () => {
  it.each<[string, (response: ServerResponse) => void, RegExp]>([
    [
      'a redirect',
      (r) => r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      /redirects are not followed/,
    ],
    [
      'compression',
      (r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(SECRET))),
      /compressed/,
    ],
    ['HTML', (r) => r.writeHead(200).end('<html>'), /not valid JSON/],
    ['an object without a name', (r) => sendJson(r, 200, { ...SECRET, metadata: {} }), /metadata\.name/],
    [
      'a label that is no string',
      (r) => sendJson(r, 200, { ...SECRET, metadata: { name: 'a', labels: { a: 1 } } }),
      /metadata\.labels/,
    ],
    ['too large a body', (r) => r.end(`"${'x'.repeat(2000)}"`), /larger than the limit of 1000/],
    ['too deep a body', (r) => r.end('['.repeat(40)), /deeper than 30/],
    ['too large a header', (r) => r.writeHead(200, { x: 'y'.repeat(5000) }).end('{}'), /not proper HTTP/],
  ])('%s is a ProtocolError', async (_, answer, message) => {
    server.answer((_request, response) => answer(response));
    const budgets = { maxBodyBytes: 1000, maxDepth: 30, maxHeaderBytes: 4000 };
    const error = await failure(client({ budgets }).get(GVR.secrets, TARGET));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error.message).toMatch(message);
    expect(server.requests).toHaveLength(1);
  });

  it('free the connection of an endless body', async () => {
    let freed: Promise<void> | undefined;
    server.answer((_, response) => {
      freed = closed(response);
      response.writeHead(200);
      response.on('drain', () => response.write('x'.repeat(100_000)));
      response.write('x'.repeat(100_000));
    });
    await failure(client({ budgets: { maxBodyBytes: 1_000_000 } }).get(GVR.secrets, TARGET));
    await freed;
  });
});

/** What any user of a server can do to his own object; a list holds those of others too. */
describe('objects that are nested too deep', () => {
  const deep = { a: Array.from({ length: 20 }).reduce<unknown>((inner) => [inner], 1) };
  const object = (name: string, rest: object = {}) => ({ ...SECRET, metadata: { name }, ...rest });
  const inFields = object('b', { metadata: { name: 'b', managedFields: [{ fieldsV1: deep }] } });
  const budgets = { maxDepth: 12 };

  it('lose their managedFields alone, where these are too deep', async () => {
    server.answer((_, response) => sendJson(response, 200, inFields));
    expect(await client({ budgets }).get(GVR.secrets, TARGET)).toEqual(object('b'));
  });

  it('are refused as a whole where anything else is', async () => {
    server.answer((_, response) => sendJson(response, 200, object('a', { data: deep })));
    const error = await failure(client({ budgets }).get(GVR.secrets, TARGET));
    expect(error).toBeInstanceOf(ProtocolError);
    await expect(client({ budgets }).raw('GET', '/x')).rejects.toThrow(/too deep/);
  });

  it('hide none of the others in a list', async () => {
    const items = [object('a', { data: deep }), inFields, object('c')];
    server.answer((_, response) => sendJson(response, 200, { metadata: { resourceVersion: '1' }, items }));
    const list = await client({ budgets }).list(GVR.secrets);
    expect(list.items).toEqual([object('b'), object('c')]);
  });
});

describe('time', () => {
  it('ends a request whose headers never come, and frees its connection', async () => {
    let freed: Promise<void> | undefined;
    server.answer((_, response) => {
      freed = closed(response);
    });
    const clock = new ManualClock();
    const pending = failure(client({ clock, requestTimeoutMs: 1000 }).get(GVR.secrets, TARGET));
    await server.until(() => server.requests.length === 1);
    await clock.advance(1000);
    expect(await pending).toMatchObject({ kind: 'timeout' });
    await freed;
    expect(clock.pending).toBe(0);
  });

  it('ends a request whose body stalls', async () => {
    const clock = new ManualClock();
    server.answer((_, response) => response.writeHead(200).write('{'));
    const pending = failure(client({ clock }).get(GVR.secrets, TARGET, { timeoutMs: 1000 }));
    await server.until(() => server.requests.length === 1);
    await clock.advance(1000);
    expect(await pending).toMatchObject({ kind: 'timeout' });
  });

  it('counts the wait for a free connection', async () => {
    server.answer(() => undefined);
    const clock = new ManualClock();
    const kube = client({ clock, connections: 1 });
    const first = failure(kube.get(GVR.secrets, TARGET, { timeoutMs: 3000 }));
    const second = failure(kube.get(GVR.secrets, TARGET, { timeoutMs: 1000 }));
    await server.until(() => server.requests.length === 1);
    await clock.advance(1000);
    expect(await second).toMatchObject({ kind: 'timeout' });
    await clock.advance(2000);
    await first;
    expect(server.requests).toHaveLength(1);
  });

  it('ends with the caller’s signal, before and during the request', async () => {
    server.answer(() => undefined);
    const controller = new AbortController();
    const options = { signal: controller.signal };
    const pending = failure(client().get(GVR.secrets, TARGET, options));
    await server.until(() => server.requests.length === 1);
    controller.abort();
    expect(await pending).toMatchObject({ kind: 'aborted' });
    expect(await failure(client().get(GVR.secrets, TARGET, options))).toMatchObject({ kind: 'aborted' });
    expect(server.requests).toHaveLength(1);
  });

  it('ends everything with the client', async () => {
    server.answer(() => undefined);
    const kube = client();
    const pending = failure(kube.get(GVR.secrets, TARGET));
    await server.until(() => server.requests.length === 1);
    await Promise.all([kube.close(), kube.close()]);
    expect(await pending).toMatchObject({ kind: 'aborted' });
    expect(await failure(kube.get(GVR.secrets, TARGET))).toMatchObject({ kind: 'aborted' });
  });
});

describe('the network', () => {
  it('says where a connection failed', async () => {
    const gone = client();
    await server.close();
    expect(await failure(gone.get(GVR.secrets, TARGET))).toMatchObject({ kind: 'connect' });
  });

  it('repeats a read, and only a read, once when a connection breaks before the answer', async () => {
    let broken = 0;
    server.answer((_, response) => {
      if (broken++ === 0) response.destroy();
      else sendJson(response, 200, SECRET);
    });
    const kube = client();
    await expect(kube.get(GVR.secrets, TARGET)).resolves.toEqual(SECRET);
    broken = 0;
    expect(await failure(kube.create(GVR.secrets, SECRET))).toMatchObject({ kind: 'reset' });
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST']);
  });
});

describe('throttling', () => {
  it('waits as long as it is told, with jitter, and then succeeds', async () => {
    const clock = new ManualClock();
    server.answer((_, response) => {
      if (server.requests.length > 1) sendJson(response, 200, SECRET);
      else response.writeHead(429, { 'retry-after': '20' }).end('Too many requests');
    });
    const pending = client({ clock, requestTimeoutMs: 60_000, random: () => 0.5 }).create(
      GVR.secrets,
      SECRET,
    );
    await waitFor(() => clock.nextIn === 22_500);
    await clock.advance(22_499);
    expect(server.requests).toHaveLength(1);
    await clock.advance(1);
    await expect(pending).resolves.toEqual(SECRET);
    expect(clock.pending).toBe(0);
  });

  it('gives up after maxRetries', async () => {
    server.answer((_, response) => response.writeHead(503, { 'retry-after': '0' }).end());
    expect(await failure(client({ maxRetries: 2 }).get(GVR.secrets, TARGET))).toMatchObject({ status: 503 });
    expect(server.requests).toHaveLength(3);
  });

  it('does not begin a wait that is longer than the request may last', async () => {
    server.answer((_, response) => response.writeHead(429, { 'retry-after': '20' }).end());
    expect(await failure(client().get(GVR.secrets, TARGET))).toMatchObject({
      status: 429,
      retryAfterMs: 20_000,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('stops waiting with the caller’s signal', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    server.answer((_, response) => response.writeHead(429, { 'retry-after': '2' }).end());
    const pending = failure(client({ clock }).get(GVR.secrets, TARGET, { signal: controller.signal }));
    await waitFor(() => clock.nextIn === 2000);
    controller.abort();
    expect(await pending).toMatchObject({ kind: 'aborted' });
    expect(clock.pending).toBe(0);
  });

  it('hands a storage that never becomes ready to the caller at once', async () => {
    server.answer((_, response) =>
      sendStatus(response, 429, 'TooManyRequests', {
        message: 'storage is (re)initializing',
        details: { retryAfterSeconds: 1 },
        headers: { 'retry-after': '1' },
      }),
    );
    expect(await failure(client().get(GVR.secrets, TARGET))).toMatchObject({
      status: 429,
      retryAfterMs: 1000,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('spaces requests out to qps', async () => {
    const clock = new ManualClock();
    const kube = client({ clock, qps: 2, requestTimeoutMs: 60_000 });
    const all = Array.from({ length: 6 }, () => kube.at('/x').get(GVR.secrets, TARGET));
    await server.until(() => server.requests.length === 4);
    await clock.advance(499);
    expect(server.requests).toHaveLength(4);
    await clock.advance(1);
    await server.until(() => server.requests.length === 5);
    await clock.advance(500);
    await Promise.all(all);
  });
});

describe('credentials', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kube-token-'));
  const path = join(directory, 'token');
  afterAll(() => rmSync(directory, { recursive: true }));
  const fileAuth: ClientAuth = { kind: 'tokenFile', path };
  const accepting = (token: string): void =>
    server.answer((request, response) =>
      request.headers.authorization === `Bearer ${token}`
        ? sendJson(response, 200, SECRET)
        : sendStatus(response, 401, 'Unauthorized'),
    );

  it('follow a token file: within a second, and at once after a 401', async () => {
    const clock = new ManualClock();
    writeFileSync(path, 'old\n');
    const kube = client({ clock }, { auth: fileAuth });
    accepting('old');
    await kube.get(GVR.secrets, TARGET);
    writeFileSync(path, 'newer');
    accepting('newer');
    await Promise.all([kube.get(GVR.secrets, TARGET), kube.get(GVR.secrets, TARGET)]);
    writeFileSync(path, 'newest!');
    await clock.advance(1000);
    await kube.get(GVR.secrets, TARGET).catch(() => undefined);
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer newest!');
  });

  it('are not tried again when a 401 brings no other token', async () => {
    writeFileSync(path, 'wrong');
    accepting('right');
    for (const auth of [fileAuth, { kind: 'token', token: 'wrong' } as const])
      expect(await failure(client({}, { auth }).get(GVR.secrets, TARGET))).toMatchObject({ status: 401 });
    expect(server.requests).toHaveLength(2);
  });

  it('keep the last token while the file is empty or gone', async () => {
    const clock = new ManualClock();
    writeFileSync(path, 'kept');
    const kube = client({ clock }, { auth: fileAuth });
    accepting('kept');
    await kube.get(GVR.secrets, TARGET);
    writeFileSync(path, '');
    await clock.advance(1000);
    await kube.get(GVR.secrets, TARGET);
    rmSync(path);
    await clock.advance(1000);
    await kube.get(GVR.secrets, TARGET);
  });

  it('name the token file that cannot be read', async () => {
    const kube = client({}, { auth: { kind: 'tokenFile', path: join(directory, 'none') } });
    await expect(kube.get(GVR.secrets, TARGET)).rejects.toMatchObject({ code: 'KUBECONFIG_INVALID' });
  });

  it('are swapped for new requests, without a new connection for a new token', async () => {
    const kube = client({ connections: 1 });
    const below = kube.at('/clusters/c1');
    await kube.get(GVR.secrets, TARGET);
    kube.setCredentials({ server: server.url, auth: { kind: 'token', token: 'secret-2' } });
    await below.get(GVR.secrets, TARGET);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer secret-1',
      'Bearer secret-2',
    ]);
    expect(server.accepted()).toBe(1);
  });

  it('are swapped for another server while a request to the old one finishes', async () => {
    const other = await startServer((_, response) => sendJson(response, 200, SECRET));
    let finish: () => void = () => undefined;
    server.answer((_, response) => {
      finish = () => sendJson(response, 200, SECRET);
    });
    const kube = client();
    const old = kube.get(GVR.secrets, TARGET);
    await server.until(() => server.requests.length === 1);
    kube.setCredentials({ server: `${other.url}/clusters/x`, auth: { kind: 'none' } });
    await kube.get(GVR.secrets, TARGET);
    expect(other.requests[0]?.url).toBe('/clusters/x/api/v1/namespaces/n/secrets/a');
    expect(other.requests[0]?.headers.authorization).toBeUndefined();
    finish();
    await expect(old).resolves.toEqual(SECRET);
    await server.until(() => server.sockets.size === 0);
    await kube.close();
    await other.close();
  });

  it('that cannot be used change nothing', async () => {
    const kube = client();
    expect(() => kube.setCredentials({ server: 'ftp://x', auth: { kind: 'none' } })).toThrow(/https:/);
    await kube.get(GVR.secrets, TARGET);
    expect(server.requests).toHaveLength(1);
  });

  it('never speak plain http to a host that no admin has named', async () => {
    const dialler = createDialler(
      { allowHosts: [], allowCidrs: [], denyCidrs: [], allowProxy: false },
      (_, callback) => callback(null, [{ address: '93.184.215.14', family: 4 }]),
    );
    const kube = client({ dialler }, { server: 'http://public.test' });
    await expect(kube.get(GVR.secrets, TARGET)).rejects.toMatchObject({ code: 'KUBE_ADDRESS_DENIED' });
  });
});

/** Resolves when the connection under an unfinished answer is closed. */
function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.on('close', resolve));
}

/** For conditions that no event of the server announces. */
async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await settle();
}
