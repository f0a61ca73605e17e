import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { WatchOptions } from '../client.js';
import { ProtocolError, TransportError } from '../errors.js';
import type { LogicalCluster } from '../object.js';
import { ManualClock, settle } from '../testing/manual-clock.js';
import { expired, ModelServer, refusal } from '../testing/model-server.js';
import type { StoreChange } from './object-store.js';
import { runReflector } from './reflector.js';
import type { ReflectorEvent, ReflectorOptions } from './reflector.js';
import { ResourceStore } from './store.js';
import { Wake } from './wake.js';

const GVR = { group: 'test', version: 'v1', resource: 'things' };

function rig(overrides: Partial<ReflectorOptions> = {}) {
  const clock = new ManualClock();
  const server = new ModelServer();
  const store = new ResourceStore();
  const stop = new AbortController();
  const events: ReflectorEvent[] = [];
  const changes: StoreChange[] = [];
  store.subscribe((change) => void changes.push(change));
  const start = (): Promise<void> =>
    runReflector({
      client: server.client(),
      gvr: GVR,
      sink: store.source('url', { kind: 'annotated' }),
      clock,
      random: () => 1,
      signal: stop.signal,
      onEvent: (event) => void events.push(event),
      ...overrides,
      limits: { pageSize: 2, backoff: { baseMs: 100, maxMs: 10_000 }, ...overrides.limits },
    });
  const names = (): string[] => [...store.all()].map(({ metadata }) => metadata.name).sort();
  const verbs = (): string[] => server.calls.splice(0).map(({ verb }) => verb);
  return { clock, server, store, stop, events, changes, start, names, verbs };
}

const at = (name: string, cluster = 'w1') => ({ cluster, namespace: 'default', name });

describe('runReflector', () => {
  it('lists page by page, then watches from the version of the list', async () => {
    const { server, stop, start, names, store, changes } = rig();
    for (const name of ['a', 'b', 'c']) server.put(at(name));
    const run = start();
    await settle();
    expect(store.synced).toBe(true);
    expect(server.calls.map(({ verb }) => verb)).toEqual(['list', 'list', 'watch']);
    server.put(at('d'));
    server.remove(at('a'));
    await settle();
    expect(names()).toEqual(['b', 'c', 'd']);
    expect(changes.at(-1)).toMatchObject({ type: 'missing', key: { name: 'a' } });
    stop.abort();
    await run;
    expect(server.watches).toBe(0);
  });

  it('asks for a jittered end of each watch, and resumes from the last bookmark without a new list', async () => {
    const { clock, server, stop, start, verbs, events } = rig({ random: () => 0.5 });
    const run = start();
    await settle();
    expect((server.calls[1]?.options as WatchOptions).serverTimeoutMs).toBe(450_000);
    server.put(at('a'));
    server.bookmark();
    await settle();
    server.compact();
    await clock.advance(60_000);
    verbs();
    server.cut();
    await settle();
    expect(server.calls.map(({ options }) => (options as WatchOptions).resourceVersion)).toEqual(['rv-2']);
    expect(verbs()).toEqual(['watch']);
    expect(events.map(({ type }) => type)).toEqual(['listed', 'reconnect']);
    stop.abort();
    await run;
  });

  it('resumes from the last event, so that none is seen twice', async () => {
    const { clock, server, stop, start, changes, verbs } = rig();
    const run = start();
    await settle();
    server.put(at('a'));
    server.put(at('a'));
    await clock.advance(60_000);
    verbs();
    server.cut();
    await settle();
    expect(server.calls.map(({ options }) => (options as WatchOptions).resourceVersion)).toEqual(['rv-3']);
    expect(changes).toHaveLength(2);
    stop.abort();
    await run;
  });

  it('watches from the version of the first page: a later page may know more than the first', async () => {
    const server = new ModelServer();
    const pages = ['rv-5', 'rv-6'].map((resourceVersion, index) => ({
      items: [],
      resourceVersion,
      ...(index === 0 ? { continue: 'more' } : {}),
    }));
    const client = {
      ...server.client(),
      list: async () => pages.shift() ?? { items: [], resourceVersion: '' },
    };
    const { stop, start } = rig({ client });
    const run = start();
    await settle();
    expect(server.calls).toMatchObject([{ verb: 'watch', options: { resourceVersion: 'rv-5' } }]);
    stop.abort();
    await run;
  });

  it('sees every event that was sent before the stream ended (D04)', async () => {
    const { server, stop, start, names } = rig();
    const run = start();
    await settle();
    for (let index = 10; index < 60; index += 1) server.put(at(`o${String(index)}`));
    server.remove(at('o10'));
    server.cut();
    await settle();
    expect(names()).toHaveLength(49);
    stop.abort();
    await run;
  });

  it.each([
    ['at connect', (server: ModelServer) => server.cut()],
    ['in the stream', (server: ModelServer) => server.cut(expired())],
  ])('lists anew after 410 %s and notices what went meanwhile (D02)', async (_, cut) => {
    const { clock, server, stop, start, names, changes, events } = rig();
    server.put(at('stays'));
    server.put(at('goes'));
    const run = start();
    await clock.advance(60_000);
    server.cut(new TransportError('reset', 'reset'));
    await settle();
    server.remove(at('goes'));
    server.put(at('comes'));
    server.compact();
    cut(server);
    await clock.advance(60_000);
    expect(names()).toEqual(['comes', 'stays']);
    expect(changes.filter(({ type }) => type === 'missing').map(({ key }) => key.name)).toEqual(['goes']);
    expect(events).toContainEqual({ type: 'relist', cause: 'expired' });
    stop.abort();
    await run;
  });

  it('slows down when the version of each list answers 410 at once (D02)', async () => {
    const { clock, server, stop, start, store, names } = rig();
    server.put(at('a'));
    server.always.watch = expired;
    const run = start();
    await clock.advance(600_000);
    // 100, 200, ... 6400 ms, then one every 10 s.
    const lists = server.calls.filter(({ verb }) => verb === 'list').length;
    expect(lists).toBeGreaterThan(40);
    expect(lists).toBeLessThan(75);
    expect(store.synced).toBe(true);
    server.always.watch = () => undefined;
    server.put(at('b'));
    await clock.advance(10_000);
    expect(names()).toEqual(['a', 'b']);
    stop.abort();
    await run;
  });

  it('begins the list again when its continue token expired, with larger pages', async () => {
    const { clock, server, stop, start, names, store } = rig();
    for (const name of ['a', 'b', 'c', 'd', 'e']) server.put(at(name));
    let lists = 0;
    server.always.list = () => ((lists += 1) === 2 ? expired() : undefined);
    const run = start();
    await settle();
    expect(store.synced).toBe(false);
    await clock.advance(100);
    expect(names()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(server.calls.map(({ options }) => ('limit' in options ? options.limit : 'watch'))).toEqual([
      2,
      2,
      4,
      4,
      'watch',
    ]);
    stop.abort();
    await run;
  });

  it.each([
    ['the list', (server: ModelServer) => server.listFaults.push(refusal(429, 20_000))],
    ['the watch', (server: ModelServer) => server.watchFaults.push(refusal(429, 20_000))],
  ])('waits as long as a 429 of %s says, and spreads the return (D11)', async (_, fault) => {
    const { clock, server, stop, start, verbs, names } = rig({ random: () => 0.3 });
    fault(server);
    const run = start();
    await settle();
    verbs();
    server.put(at('a'));
    await clock.advance(20_029);
    expect(verbs()).toEqual([]);
    await clock.advance(1);
    expect(verbs().length).toBeGreaterThan(0);
    await settle();
    expect(names()).toEqual(['a']);
    stop.abort();
    await run;
  });

  it('survives everything that a watch can end with (D06)', async () => {
    const { clock, server, stop, start, names, events } = rig();
    const run = start();
    await settle();
    const faults = [new ProtocolError('HTML'), refusal(500), new TransportError('x', 'tls'), refusal(401)];
    for (const [index, fault] of faults.entries()) {
      server.put(at(`o${String(index)}`));
      server.cut(fault);
      await clock.advance(20_000);
    }
    expect(names()).toEqual(['o0', 'o1', 'o2', 'o3']);
    expect(events.filter(({ type }) => type === 'error')).toHaveLength(4);
    stop.abort();
    await run;
  });

  it.each([
    [true, 'after an ERROR in the stream', () => refusal(500), ['list', 'watch'], { size: 1, color: 'red' }],
    [true, 'not after a broken connection', () => new TransportError('x', 'reset'), ['watch'], { size: 1 }],
    [false, 'not where schemas stay', () => refusal(500), ['watch'], { size: 1 }],
  ])(
    'shows what a changed schema has hidden in the same version (%s: %s)',
    async (...[schemaMayChange, , error, expected, spec]) => {
      const store = new ResourceStore({ schemaMayChange });
      const sink = store.source('shaped', { kind: 'annotated' });
      const { clock, server, stop, start, verbs } = rig({ sink, schemaMayChange });
      const { metadata } = server.put(at('a'), { spec: { size: 1 } });
      const run = start();
      await clock.advance(10_000);
      verbs();
      for (const [key, object] of server.objects)
        server.objects.set(key, { ...object, spec: { size: 1, color: 'red' } });
      server.cut(error());
      await clock.advance(1000);
      expect(verbs()).toEqual(expected);
      expect([...store.all()]).toMatchObject([{ metadata, spec }]);
      expect([...store.all()][0]?.['spec']).toEqual(spec);
      stop.abort();
      await run;
    },
  );

  it('tells that it can watch again after failures, without a list and before anything happens', async () => {
    const { clock, server, stop, start, events, verbs } = rig();
    const run = start();
    await settle();
    verbs();
    server.always.watch = () => refusal(500);
    server.cut(new TransportError('x', 'reset'));
    await clock.advance(1000);
    expect(events.map(({ type }) => type)).not.toContain('recovered');
    server.always = {};
    await clock.advance(10_000);
    expect(new Set(verbs())).toEqual(new Set(['watch']));
    expect(events.filter(({ type }) => type === 'recovered')).toHaveLength(1);
    expect(events.at(-1)).toEqual({ type: 'recovered' });
    await clock.advance(60_000);
    server.cut();
    await settle();
    expect(events.filter(({ type }) => type === 'recovered')).toHaveLength(1);
    stop.abort();
    await run;
  });

  it('does not take a watch that is accepted and broken off at once for one', async () => {
    const { clock, server, stop, start, events } = rig();
    const run = start();
    await settle();
    for (let round = 0; round < 5; round += 1) {
      server.cut(new TransportError('x', 'reset'));
      await clock.advance(4000);
    }
    expect(events.map(({ type }) => type)).not.toContain('recovered');
    await clock.advance(60_000);
    expect(events.filter(({ type }) => type === 'recovered')).toHaveLength(1);
    stop.abort();
    await run;
  });

  it('counts watches that are never answered as failures in a row, and waits longer each time', async () => {
    const clock = new ManualClock();
    const unanswered = {
      ...new ModelServer().client(),
      watch: async function* () {
        await new Promise<void>((resolve) => clock.after(30_000, resolve));
        yield* [];
        throw new TransportError('no answer', 'timeout');
      },
    };
    const { stop, start, events } = rig({ client: unanswered, clock });
    const run = start();
    await settle();
    await clock.advance(200_000);
    const failures = events.filter(({ type }) => type === 'error');
    expect(failures.slice(0, 4)).toMatchObject([
      { failures: 1, retryInMs: 100 },
      { failures: 2, retryInMs: 200 },
      { failures: 3, retryInMs: 400 },
      { failures: 4, retryInMs: 800 },
    ]);
    stop.abort();
    await run;
  });

  it('ends a watch that falls silent although its connection stands (D01)', async () => {
    const { clock, server, stop, start, events, names } = rig();
    const run = start();
    await settle();
    await clock.advance(100_000);
    server.bookmark();
    await clock.advance(100_000);
    expect(events.filter(({ type }) => type === 'error')).toEqual([]);
    await clock.advance(15_100);
    expect(events.filter(({ type }) => type === 'error')).toMatchObject([
      { phase: 'watch', error: { kind: 'timeout' } },
    ]);
    server.put(at('a'));
    await settle();
    expect(names()).toEqual(['a']);
    stop.abort();
    await run;
  });

  it('ends with the signal even where the client below hangs and hears nothing', async () => {
    const hanging = {
      ...new ModelServer().client(),
      watch: () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise<never>(() => undefined),
          return: () => new Promise<never>(() => undefined),
        }),
      }),
    };
    const { clock, stop, start } = rig({ client: hanging });
    const run = start();
    await settle();
    stop.abort();
    await run;
    expect(clock.pending).toBe(0);
  });

  it('lists anew when the sink threw, and tells', async () => {
    const server = new ModelServer();
    const shown: string[] = [];
    let broken = true;
    const { clock, stop, start, events } = rig({
      client: server.client(),
      sink: {
        begin: () => undefined,
        page: (items) => void shown.push(...items.map(({ metadata }) => metadata.name)),
        commit: () => undefined,
        apply: () => {
          if (broken) throw new Error('full');
        },
      },
    });
    const run = start();
    await settle();
    server.put(at('a'));
    await settle();
    expect(events.slice(1)).toMatchObject([
      { type: 'error', phase: 'sink', error: { message: 'full' } },
      { type: 'relist', cause: 'sink' },
    ]);
    broken = false;
    await clock.advance(1000);
    expect(shown).toEqual(['a']);
    stop.abort();
    await run;
  });

  it('goes on when the listener for events throws', async () => {
    const { server, stop, start, names } = rig({
      onEvent: () => {
        throw new Error('broken metric');
      },
    });
    const run = start();
    await settle();
    server.put(at('a'));
    await settle();
    expect(names()).toEqual(['a']);
    stop.abort();
    await run;
  });

  it('tries again at once when woken', async () => {
    const wake = new Wake();
    const { clock, server, stop, start, store } = rig({ wake });
    for (let index = 0; index < 8; index += 1) server.listFaults.push(refusal(404));
    const run = start();
    await clock.advance(13_000);
    expect(server.listFaults).toHaveLength(0);
    expect(store.synced).toBe(false);
    wake.wake();
    await settle();
    expect(store.synced).toBe(true);
    stop.abort();
    await run;
  });

  it('does not miss a wake that comes while an attempt is still under way', async () => {
    const wake = new Wake();
    const { server, stop, start, store } = rig({ wake });
    let lists = 0;
    server.always.list = () => {
      lists += 1;
      if (lists > 1) return undefined;
      wake.wake();
      return refusal(404);
    };
    const run = start();
    await settle();
    expect(store.synced).toBe(true);
    stop.abort();
    await run;
  });

  it.each([
    ['without end', { maxPages: 3 }, { pages: 'other' }],
    ['with the same page again and again', {}, { pages: 'same' }],
  ])('does not follow a list %s', async (_, limits, { pages }) => {
    let calls = 0;
    const client = {
      ...new ModelServer().client(),
      list: async () => ({
        items: [],
        resourceVersion: 'rv',
        continue: pages === 'same' ? 'x' : String((calls += 1)),
      }),
    };
    const { stop, start, events } = rig({ client, limits });
    const run = start();
    await settle();
    expect(events).toMatchObject([{ type: 'error', phase: 'list', error: { code: 'KUBE_PROTOCOL' } }]);
    stop.abort();
    await run;
  });

  it('makes the store equal to the server after any history, and never takes for missing what is there', async () => {
    const target = fc.record({
      cluster: fc.constantFrom('w1', 'w2'),
      name: fc.constantFrom('a', 'b', 'c', 'd'),
    });
    const fault = fc.constantFrom(
      'reset' as const,
      '500' as const,
      '404' as const,
      '429' as const,
      '410' as const,
    );
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), target }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('remove' as const), target }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.nat(20_000) }) },
      {
        arbitrary: fc.record({
          do: fc.constantFrom('cut-watch' as const, 'fail-list' as const, 'fail-watch' as const),
          fault,
        }),
        weight: 3,
      },
      {
        arbitrary: fc.record({
          do: fc.constantFrom('end' as const, 'compact' as const, 'bookmark' as const),
        }),
        weight: 4,
      },
      { arbitrary: fc.record({ do: fc.constant('yield' as const), times: fc.nat(6) }), weight: 4 },
    );
    const errors = {
      reset: () => new TransportError('x', 'reset'),
      '500': () => refusal(500),
      '404': () => refusal(404),
      '429': () => refusal(429, 1000),
      '410': expired,
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }),
        fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
        async (steps, dice) => {
          const { clock, server, store, stop, start } = rig({ random: () => dice.next().value as number });
          const wrong: StoreChange[] = [];
          store.subscribe((change) => {
            const { cluster, name } = change.key;
            const there = server.objects.get(`${cluster}|default/${name}`);
            if (change.type === 'missing' && there?.metadata.uid === change.previous.metadata.uid)
              wrong.push(change);
          });
          server.put(at('a'));
          const run = start();
          for (const each of steps) {
            if (each.do === 'put') server.put({ namespace: 'default', ...each.target });
            else if (each.do === 'remove') server.remove({ namespace: 'default', ...each.target });
            else if (each.do === 'advance') await clock.advance(each.ms);
            else if (each.do === 'yield')
              for (let index = 0; index < each.times; index += 1) await Promise.resolve();
            else if (each.do === 'cut-watch') server.cut(errors[each.fault]());
            else if (each.do === 'fail-list') server.listFaults.push(errors[each.fault]());
            else if (each.do === 'fail-watch') server.watchFaults.push(errors[each.fault]());
            else if (each.do === 'end') server.cut();
            else server[each.do]();
          }
          // At most sixty faults are left, each of which costs one back-off.
          await clock.advance(61 * 12_000);
          const versions = [...store.all()].map(({ metadata }) => metadata.resourceVersion).sort();
          expect(versions).toEqual(
            [...server.objects.values()].map(({ metadata }) => metadata.resourceVersion).sort(),
          );
          expect(store.get({ cluster: 'w1' as LogicalCluster, namespace: 'default', name: 'a' })).toEqual(
            server.objects.get('w1|default/a'),
          );
          expect(wrong).toEqual([]);
          stop.abort();
          await run;
          expect(clock.pending).toBe(0);
          expect(server.watches).toBe(0);
        },
      ),
      { numRuns: 120 },
    );
  });
});
