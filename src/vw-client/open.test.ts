import { describe, expect, it } from '@jest/globals';
import type { KubeClient } from '../kube/client.js';
import type { StoreChange } from '../kube/cache/object-store.js';
import type { LogicalCluster } from '../kube/object.js';
import { ManualClock, settle } from '../kube/testing/manual-clock.js';
import { ModelServer, refusal } from '../kube/testing/model-server.js';
import { openVirtualWorkspace } from './open.js';
import type { OpenVirtualWorkspaceOptions, VirtualWorkspaceEvent } from './open.js';

const THINGS = { group: 'test', version: 'v1', resource: 'things' };
const W1 = 'w1' as LogicalCluster;
const [A, B] = ['https://a.test/services/x', 'https://b.test/services/x'];

/** A client workspace with a slice, and one model server for each shard. */
function rig(overrides: Partial<OpenVirtualWorkspaceOptions> = {}) {
  const clock = new ManualClock();
  const slices = new ModelServer();
  const shards = new Map<string, ModelServer>();
  const closed: string[] = [];
  const paths: string[] = [];
  const events: VirtualWorkspaceEvent[] = [];
  const stop = new AbortController();
  const shard = (url: string): ModelServer => {
    const server = shards.get(url) ?? new ModelServer();
    shards.set(url, server);
    return server;
  };
  const connect = (url: string): KubeClient => ({
    ...shard(url).client(url),
    at: (path) => {
      paths.push(path);
      return shard(url).client(url + path);
    },
    close: async () => void closed.push(url),
  });
  const vw = openVirtualWorkspace({
    clientWorkspace: slices.client(),
    exportName: 'export',
    connect,
    clock,
    random: () => 1,
    signal: stop.signal,
    onEvent: (event) => void events.push(event),
    ...overrides,
  });
  const slice = { cluster: 'root', name: 'export' };
  const publish = async (...urls: string[]): Promise<void> => {
    slices.put(slice, { status: { endpoints: urls.map((url) => ({ url })) } });
    await settle();
  };
  const follow = () => {
    const store = vw.follow(THINGS);
    const changes: string[] = [];
    store.subscribe(({ type, key }: StoreChange) => void changes.push(`${type} ${key.cluster}/${key.name}`));
    return { store, changes, news: () => changes.splice(0) };
  };
  return { clock, slices, slice, shard, closed, paths, events, stop, vw, publish, follow };
}

const thing = (cluster: string, name: string) => ({ cluster, namespace: 'default', name });

describe('openVirtualWorkspace', () => {
  it('waits while nobody is bound, and serves a workspace soon after it binds (E01)', async () => {
    const { clock, slices, vw, publish, follow, shard, paths } = rig();
    slices.always.list = () => refusal(404);
    const { store, news } = follow();
    await clock.advance(120_000);
    slices.always.list = () => undefined;
    await publish();
    await clock.advance(60_000);
    expect(vw.urls).toEqual([]);
    expect(store.synced).toBe(false);
    // kcp lists the URL before it serves the resource.
    shard(A).always.list = () => refusal(404);
    shard(A).put(thing('w1', 'a'));
    await publish(A);
    await clock.advance(20_000);
    expect(store.synced).toBe(false);
    shard(A).always.list = () => undefined;
    await clock.advance(5000);
    expect(store.synced).toBe(true);
    expect(news()).toEqual(['set w1/a']);
    expect(new Set(paths)).toEqual(new Set(['/clusters/*']));
    await vw.close();
  });

  it('keeps asking for a resource that is not served, at most every 5 s at first and every 30 s later', async () => {
    const { clock, vw, publish, follow, shard } = rig();
    follow();
    shard(A).always.list = () => refusal(403);
    await publish(A);
    await clock.advance(60_000);
    expect(shard(A).calls.length).toBeGreaterThan(12);
    await clock.advance(600_000);
    shard(A).calls.length = 0;
    await clock.advance(300_000);
    expect(shard(A).calls.length).toBeGreaterThanOrEqual(9);
    expect(shard(A).calls.length).toBeLessThanOrEqual(11);
    await vw.close();
  });

  it('asks at once when the slice changes', async () => {
    const { clock, vw, publish, follow, shard } = rig();
    const { store } = follow();
    shard(A).always.list = () => refusal(404);
    await publish(A);
    await clock.advance(1_000_000);
    shard(A).always.list = () => undefined;
    await publish(A);
    expect(store.synced).toBe(true);
    await vw.close();
  });

  it('follows URLs that come and go, and tells (E02)', async () => {
    const { clock, vw, publish, follow, shard, closed } = rig({ lingerMs: 1000 });
    const seen: (readonly string[])[] = [];
    vw.onUrls((urls) => void seen.push(urls));
    const { store, news } = follow();
    shard(A).put(thing('w1', 'a'));
    shard(B).put(thing('w2', 'a'));
    await publish(A);
    await publish(A, B);
    await publish(B, A);
    expect(news()).toEqual(['set w1/a', 'set w2/a']);
    await publish(B);
    await clock.advance(999);
    expect(closed).toEqual([]);
    await clock.advance(1);
    expect(closed).toEqual([A]);
    expect(shard(A).watches).toBe(0);
    shard(B).put(thing('w2', 'b'));
    await settle();
    expect(news()).toEqual(['set w2/b']);
    expect(store.size).toBe(3);
    expect(seen).toEqual([[A], [A, B], [B]]);
    await vw.close();
    expect(closed).toEqual([A, B]);
  });

  it.each([
    ['an empty list', async ({ publish }: ReturnType<typeof rig>) => publish()],
    ['a deleted slice', async ({ slices, slice }: ReturnType<typeof rig>) => slices.remove(slice)],
    [
      'a slice that may not be read',
      async ({ slices }: ReturnType<typeof rig>) => void (slices.always.list = () => refusal(403)),
    ],
  ])('takes nothing away for %s, and goes on when the slice is back (E02)', async (_, trouble) => {
    const bench = rig({ lingerMs: 1000 });
    const { clock, slices, vw, publish, follow, shard } = bench;
    const { store, news } = follow();
    shard(A).put(thing('w1', 'a'));
    await publish(A);
    await trouble(bench);
    slices.compact();
    slices.cut();
    await clock.advance(3_600_000);
    expect(store.get({ cluster: W1, namespace: 'default', name: 'a' })).toBeDefined();
    slices.always.list = () => undefined;
    await publish(A);
    shard(A).put(thing('w1', 'b'));
    await clock.advance(30_000);
    expect(news()).toEqual(['set w1/a', 'set w1/b']);
    expect(store.synced).toBe(true);
    await vw.close();
  });

  it('does not lose a workspace that moves from one URL to another (E02)', async () => {
    const { clock, vw, publish, follow, shard } = rig({ lingerMs: 1000 });
    const { store, news } = follow();
    shard(A).put(thing('w1', 'a'));
    await publish(A);
    news();
    await publish(B);
    await clock.advance(2000);
    expect(news()).toEqual([]);
    const moved = shard(B).put(thing('w1', 'a'), { moved: 'yes' });
    await settle();
    expect(news()).toEqual(['set w1/a']);
    expect(store.get({ cluster: W1, namespace: 'default', name: 'a' })).toBe(moved);
    await vw.close();
  });

  it('sees the last deletions of a workspace that was the last one to unbind', async () => {
    const { clock, vw, publish, follow, shard } = rig({ lingerMs: 1000 });
    const { store, news } = follow();
    shard(A).put(thing('w1', 'a'));
    await publish(A);
    await publish();
    shard(A).remove(thing('w1', 'a'));
    await settle();
    expect(news()).toEqual(['set w1/a', 'missing w1/a']);
    await clock.advance(2000);
    expect(store.size).toBe(0);
    await vw.close();
  });

  it('lets one shard that fails hold up no other (E09)', async () => {
    const { clock, vw, publish, follow, shard } = rig();
    const { store } = follow();
    shard(A).always.list = () => refusal(500);
    shard(B).put(thing('w2', 'a'));
    await publish(A, B);
    expect(store.size).toBe(1);
    expect(store.synced).toBe(false);
    await clock.advance(600_000);
    shard(B).put(thing('w2', 'b'));
    await settle();
    expect(store.size).toBe(2);
    await vw.close();
  });

  it('refuses and counts objects that name no workspace', async () => {
    const { vw, publish, follow, shard, events } = rig();
    const { store } = follow();
    shard(A).put(thing('root:org:w1', 'a'));
    shard(A).put(thing('w1', 'a'));
    await publish(A);
    expect(store.size).toBe(1);
    expect(events).toContainEqual({
      type: 'refused',
      gvr: THINGS,
      refusal: { reason: 'InvalidCluster', source: A },
    });
    await vw.close();
  });

  it('gives one store for a resource, another for another selector', async () => {
    const { vw, publish, shard } = rig();
    const store = vw.follow(THINGS);
    await publish(A);
    expect(vw.follow({ ...THINGS })).toBe(store);
    const labelled = vw.follow(THINGS, { labelSelector: 'a=b' });
    expect(labelled).not.toBe(store);
    await settle();
    expect(labelled.synced).toBe(true);
    expect(shard(A).calls.map(({ options }) => options.labelSelector)).toEqual([
      undefined,
      undefined,
      'a=b',
      'a=b',
    ]);
    await vw.close();
  });

  it('tries again where no client could be made for a URL', async () => {
    const model = new ModelServer();
    let attempts = 0;
    const { clock, vw, publish, follow, events } = rig({
      connect: (url) => {
        attempts += 1;
        if (attempts < 3) throw new Error('no credentials for this shard yet');
        return model.client(url);
      },
    });
    const { store } = follow();
    await publish(A);
    expect(events).toContainEqual(expect.objectContaining({ type: 'connect-failed', url: A }));
    expect(store.synced).toBe(false);
    await clock.advance(2000);
    expect(store.synced).toBe(true);
    await vw.close();
  });

  it('keeps going when listeners throw', async () => {
    const { vw, publish, follow, shard } = rig({
      onEvent: () => {
        throw new Error('broken log');
      },
    });
    const { store } = follow();
    vw.onUrls(() => {
      throw new Error('broken');
    });
    store.subscribe(() => {
      throw new Error('broken');
    });
    shard(A).put(thing('w1', 'a'));
    await publish(A);
    shard(A).put(thing('w1', 'b'));
    await settle();
    expect(store.size).toBe(2);
    await vw.close();
  });

  it('closes with the signal and leaves nothing running', async () => {
    const { clock, slices, vw, publish, follow, shard, stop, closed } = rig();
    follow();
    shard(A).put(thing('w1', 'a'));
    await publish(A, B);
    await publish(A);
    stop.abort();
    await vw.close();
    await vw.close();
    expect([slices.watches, shard(A).watches, shard(B).watches, clock.pending]).toEqual([0, 0, 0, 0]);
    expect(closed.sort()).toEqual([A, B]);
  });

  it('does nothing at all where the signal has come before', async () => {
    const stop = new AbortController();
    stop.abort();
    const { slices, vw } = rig({ signal: stop.signal });
    await vw.close();
    expect(slices.calls).toEqual([]);
  });

  it.each(['root:org:w1', '*', '', '../x', 'UPPER', 'a/b'])('gives no client for %p', async (name) => {
    const { vw } = rig();
    expect(() => vw.workspace(name as LogicalCluster)).toThrow(TypeError);
    await vw.close();
  });
});
