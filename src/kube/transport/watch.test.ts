import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { GVR } from '../../api/gvr.js';
import { isStatus } from '../errors.js';
import type { WatchOptions } from '../client.js';
import type { WatchEvent } from '../object.js';
import { createOpenDialler } from '../dialler/dialler.js';
import { createSystemClock } from '../system-clock.js';
import { sendStatus, startServer, type LoopbackServer } from '../testing/loopback-server.js';
import { ManualClock, settle } from '../testing/manual-clock.js';
import { connect, type ConnectOptions } from './connect.js';
import type { ReloadableClient } from './reloadable-client.js';

let server: LoopbackServer;
const clients: ReloadableClient[] = [];

beforeEach(async () => {
  server = await startServer((_, response) => response.end());
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await server.close();
});

function client(options: Partial<ConnectOptions> = {}): ReloadableClient {
  const made = connect(
    { server: server.url, auth: { kind: 'token', token: 't1' } },
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

/** Reads a watch to its end; `seen` fills as events arrive. */
function follow(
  kube: ReloadableClient,
  options: Partial<WatchOptions> = {},
): { seen: WatchEvent[]; end: Promise<unknown> } {
  const seen: WatchEvent[] = [];
  const read = async (): Promise<unknown> => {
    const signal = new AbortController().signal;
    const all = { resourceVersion: '5', serverTimeoutMs: 60_000, silenceMs: 10_000, signal, ...options };
    try {
      for await (const event of kube.watch(GVR.secrets, all)) seen.push(event);
      return 'ended';
    } catch (error) {
      return error;
    }
  };
  return { seen, end: read() };
}

function line(type: string, name: string): string {
  return `${JSON.stringify({ type, object: { apiVersion: 'v1', kind: 'Secret', metadata: { name } } })}\n`;
}

const BOOKMARK = `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } })}\n`;

describe('watch', () => {
  it('asks for bookmarks, a timeout and events after the version', async () => {
    await follow(client(), { namespace: 'n', labelSelector: 'a=b', serverTimeoutMs: 1500 }).end;
    expect(server.requests[0]?.url).toBe(
      '/api/v1/namespaces/n/secrets?watch=true&allowWatchBookmarks=true&timeoutSeconds=2&labelSelector=a%3Db&resourceVersion=5',
    );
  });

  it.each([
    ['chunked', false],
    ['with a length', true],
  ])('delivers all events of a stream that is closed at once, %s', async (_, length) => {
    const lines = Array.from({ length: 50 }, (__, i) =>
      line(i % 2 === 0 ? 'ADDED' : 'DELETED', `o${i}`),
    ).join('');
    server.answer((__, response) => {
      response.writeHead(200, length ? { 'content-length': Buffer.byteLength(lines) } : {});
      response.end(lines);
    });
    const { seen, end } = follow(client());
    expect(await end).toBe('ended');
    expect(seen).toHaveLength(50);
    expect(seen.at(-1)).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'o49' } } });
  });

  it('delivers all events that came before the connection broke', async () => {
    server.answer((_, response) => {
      response.write(Array.from({ length: 500 }, (__, i) => line('ADDED', `o${i}`)).join(''), () =>
        response.destroy(),
      );
    });
    const { seen, end } = follow(client());
    expect(await end).toMatchObject({ name: 'TransportError', kind: 'reset' });
    expect(seen).toHaveLength(500);
  });

  it('joins events that arrive in pieces, in the middle of a character too', async () => {
    const bytes = Buffer.from(`${line('ADDED', 'ä€😀')}\n${BOOKMARK}`);
    server.answer((_, response) => {
      const feed = (at: number): void => {
        if (at >= bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 1), () => setImmediate(feed, at + 1));
      };
      feed(0);
    });
    const { seen, end } = follow(client());
    expect(await end).toBe('ended');
    expect(seen).toMatchObject([{ object: { metadata: { name: 'ä€😀' } } }, { type: 'BOOKMARK' }]);
  });

  it('tells bookmarks, and the one that ends the initial events', async () => {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const last = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '10', annotations } } };
    server.answer((_, response) => response.end(`${BOOKMARK}${JSON.stringify(last)}\n`));
    const { seen, end } = follow(client());
    expect(await end).toBe('ended');
    expect(seen).toEqual([
      { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: false },
      { type: 'BOOKMARK', resourceVersion: '10', initialEventsEnd: true },
    ]);
  });

  it.each([
    ['as the answer', (r: ServerResponse) => sendStatus(r, 410, 'Expired')],
    [
      'in the stream',
      (r: ServerResponse) =>
        r.end(
          `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })}\n`,
        ),
    ],
  ])('fails with 410 when the version has expired, %s', async (_, answer) => {
    server.answer((__, response) => answer(response));
    const error = await follow(client()).end;
    expect(isStatus(error, 410)).toBe(true);
    expect(error).toMatchObject({ reason: 'Expired' });
  });

  it.each<[string, string, object]>([
    ['a truncated last line', line('ADDED', 'a').slice(0, -5), { name: 'TransportError', kind: 'reset' }],
    ['an HTML page', '<html>\n</html>\n', { name: 'ProtocolError' }],
    ['an event without an object', '{"type":"ADDED"}\n', { name: 'ProtocolError' }],
    ['an event that is null', 'null\n', { name: 'ProtocolError' }],
    ['an unknown type', '{"type":"NEW","object":{}}\n', { name: 'ProtocolError' }],
    ['an object without metadata', '{"type":"ADDED","object":{"kind":"A"}}\n', { name: 'ProtocolError' }],
    [
      'a bookmark without a version',
      '{"type":"BOOKMARK","object":{"metadata":{}}}\n',
      { name: 'ProtocolError' },
    ],
    ['an ERROR without a code', '{"type":"ERROR","object":{}}\n', { name: 'ApiError', status: 500 }],
    ['a deep event', `${'['.repeat(600)}\n`, { name: 'JsonTooDeepError' }],
  ])('fails, and frees the connection, on %s', async (_, body, expected) => {
    server.answer((__, response) => response.end(line('ADDED', 'first') + body));
    const { seen, end } = follow(client());
    expect(await end).toMatchObject(expected);
    expect(seen).toHaveLength(1);
    await server.until(() => server.sockets.size === 0);
  });

  it('leaves out an object that is too deep, and shows that it is gone', async () => {
    const event = (type: string, name: string, deep: object) =>
      `${JSON.stringify({ type, object: { apiVersion: 'v1', kind: 'Secret', metadata: { name }, ...deep } })}\n`;
    const deep = { data: Array.from({ length: 30 }).reduce<unknown>((inner) => [inner], 1) };
    const body = [event('ADDED', 'a', deep), event('ADDED', 'b', {}), event('DELETED', 'a', deep)].join('');
    server.answer((_, response) => response.end(body));
    const { seen, end } = follow(client({ budgets: { maxDepth: 20 } }));
    expect(await end).toBe('ended');
    expect(seen.map((one) => one.type !== 'BOOKMARK' && [one.type, one.object.metadata.name])).toEqual([
      ['ADDED', 'b'],
      ['DELETED', 'a'],
    ]);
  });

  it('refuses a compressed stream', async () => {
    server.answer((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'));
    expect(await follow(client()).end).toMatchObject({ name: 'ProtocolError' });
  });

  it('fails on a line above the limit before it is complete', async () => {
    server.answer((_, response) => response.write('x'.repeat(2000)));
    const error = await follow(client({ budgets: { maxLineBytes: 1000 } })).end;
    expect(error).toMatchObject({ name: 'ProtocolError', message: expect.stringContaining('1000 bytes') });
    await server.until(() => server.sockets.size === 0);
  });

  it('fails when the headers never come', async () => {
    const clock = new ManualClock();
    server.answer(() => undefined);
    const { end } = follow(client({ clock, requestTimeoutMs: 30_000 }), { silenceMs: 10_000 });
    await server.until(() => server.requests.length === 1);
    await clock.advance(10_000);
    expect(await end).toMatchObject({ kind: 'timeout' });
    await server.until(() => server.sockets.size === 0);
    expect(clock.pending).toBe(0);
  });

  it('counts only complete events as signs of life', async () => {
    const clock = new ManualClock();
    let write: (text: string) => void = () => undefined;
    server.answer((_, response) => {
      write = (text) => response.write(text);
      write(line('ADDED', 'a'));
    });
    const { seen, end } = follow(client({ clock }), { silenceMs: 10_000 });
    await until(() => seen.length === 1 && clock.nextIn === 10_000);
    await clock.advance(9000);
    write(BOOKMARK);
    await until(() => seen.length === 2 && clock.nextIn === 10_000);
    await clock.advance(6000);
    write('{');
    await until(() => clock.nextIn === 4000 && clock.pending === 2);
    await clock.advance(4000);
    expect(await end).toMatchObject({ kind: 'timeout' });
    await server.until(() => server.sockets.size === 0);
    expect(clock.pending).toBe(0);
  });

  it('fails on a stream of empty lines', async () => {
    const clock = new ManualClock();
    let write: (text: string) => void = () => undefined;
    server.answer((_, response) => {
      write = (text) => response.write(text);
      write('\n');
    });
    const { end } = follow(client({ clock }), { silenceMs: 10_000 });
    await until(() => clock.nextIn === 10_000);
    await clock.advance(6000);
    write('\n');
    await until(() => clock.nextIn === 4000);
    await clock.advance(4000);
    expect(await end).toMatchObject({ kind: 'timeout' });
  });

  it('does not take a slow consumer for a silent server', async () => {
    const clock = new ManualClock();
    server.answer((_, response) => response.write(line('ADDED', 'a') + line('ADDED', 'b')));
    const controller = new AbortController();
    const options = {
      resourceVersion: '5',
      serverTimeoutMs: 600_000,
      silenceMs: 10_000,
      signal: controller.signal,
    };
    const names: string[] = [];
    const read = async (): Promise<void> => {
      for await (const event of client({ clock }).watch(GVR.secrets, options)) {
        await clock.advance(60_000);
        if (event.type !== 'BOOKMARK') names.push(event.object.metadata.name);
        if (names.length === 2) break;
      }
    };
    await read();
    expect(names).toEqual(['a', 'b']);
    await server.until(() => server.sockets.size === 0);
    expect(clock.pending).toBe(0);
  });

  it('ends normally when the server forgets to end it', async () => {
    const clock = new ManualClock();
    let write: () => void = () => undefined;
    server.answer((_, response) => {
      write = () => response.write(BOOKMARK);
      write();
    });
    const { seen, end } = follow(client({ clock }), { serverTimeoutMs: 1000, silenceMs: 50_000 });
    await until(() => seen.length === 1 && clock.nextIn === 50_000);
    await clock.advance(30_000);
    write();
    await until(() => seen.length === 2 && clock.nextIn === 21_000);
    await clock.advance(21_000);
    expect(await end).toBe('ended');
    await server.until(() => server.sockets.size === 0);
  });

  it('ends at the signal and frees the connection', async () => {
    server.answer((_, response) => response.write(BOOKMARK));
    const controller = new AbortController();
    const { seen, end } = follow(client(), { signal: controller.signal });
    await until(() => seen.length === 1);
    controller.abort();
    expect(await end).toMatchObject({ kind: 'aborted' });
    await server.until(() => server.sockets.size === 0);
  });

  it('holds back a server that sends faster than the events are read', async () => {
    let sent = 0;
    server.answer((_, response) => {
      const text = line('ADDED', 'x'.repeat(50_000));
      const feed = (): void => {
        while (sent < 4000 && response.write(text)) sent++;
      };
      response.on('drain', feed);
      feed();
    });
    for await (const event of client().watch(GVR.secrets, {
      resourceVersion: '5',
      serverTimeoutMs: 60_000,
      silenceMs: 10_000,
      signal: new AbortController().signal,
    })) {
      expect(event.type).toBe('ADDED');
      let before = -1;
      // Until the buffers of both sides are full.
      while (before !== sent) {
        before = sent;
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      break;
    }
    expect(sent).toBeLessThan(2000);
  });

  it('does not starve requests, however many are open', async () => {
    server.answer((request, response) => {
      if (request.url.includes('watch=')) response.write(BOOKMARK);
      else response.end('{}');
    });
    const kube = client({ connections: 1 });
    const controller = new AbortController();
    const watches = Array.from({ length: 20 }, () => follow(kube, { signal: controller.signal }));
    await until(() => watches.every(({ seen }) => seen.length === 1));
    await expect(kube.raw('GET', '/apis')).resolves.toEqual({});
    controller.abort();
    await Promise.all(watches.map(({ end }) => end));
    await server.until(() => server.sockets.size === 1);
  });

  it('leaves nothing behind after many restarts', async () => {
    server.answer((_, response) => {
      if (server.requests.length % 2 === 0) response.end(BOOKMARK);
      else response.write(BOOKMARK, () => response.destroy());
    });
    const kube = client();
    for (let i = 0; i < 40; i++) await Promise.all(Array.from({ length: 5 }, () => follow(kube).end));
    await server.until(() => server.sockets.size === 0);
    expect(server.requests).toHaveLength(200);
  });

  it('waits when throttled, then opens', async () => {
    const clock = new ManualClock();
    server.answer((_, response) => {
      if (server.requests.length > 1) response.end(BOOKMARK);
      else response.writeHead(429, { 'retry-after': '20' }).end();
    });
    const { seen, end } = follow(client({ clock, requestTimeoutMs: 60_000 }), { silenceMs: 60_000 });
    await until(() => clock.nextIn === 20_000);
    await clock.advance(20_000);
    expect(await end).toBe('ended');
    expect(seen).toHaveLength(1);
  });
});

describe('a change of credentials', () => {
  it('ends open watches normally and uses the new token for the next', async () => {
    server.answer((_, response) => response.write(BOOKMARK));
    const kube = client();
    const first = follow(kube);
    await until(() => first.seen.length === 1);
    kube.setCredentials({ server: server.url, auth: { kind: 'token', token: 't2' } });
    expect(await first.end).toBe('ended');
    const second = follow(kube);
    await until(() => second.seen.length === 1);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer t1', 'Bearer t2']);
    await kube.close();
    expect(await second.end).toMatchObject({ kind: 'aborted' });
    await server.until(() => server.sockets.size === 0);
  });

  it('ends a watch that was being opened with the old ones', async () => {
    let open: () => void = () => undefined;
    server.answer((_, response) => {
      open = () => response.write(BOOKMARK);
    });
    const kube = client();
    const { seen, end } = follow(kube);
    await server.until(() => server.requests.length === 1);
    kube.setCredentials({ server: server.url, auth: { kind: 'token', token: 't2' } });
    open();
    expect(await end).toBe('ended');
    expect(seen.length).toBeLessThanOrEqual(1);
    await server.until(() => server.sockets.size === 0);
  });

  it('makes watches list again when it names another server', async () => {
    server.answer((_, response) => response.write(BOOKMARK));
    const kube = client();
    const { seen, end } = follow(kube);
    await until(() => seen.length === 1);
    kube.setCredentials({ server: `${server.url}/clusters/other`, auth: { kind: 'token', token: 't1' } });
    expect(isStatus(await end, 410)).toBe(true);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await settle();
}
