import { describe, expect, it } from '@jest/globals';
import type { KubeClient } from '../kube/client.js';
import { ApiError, TransportError } from '../kube/errors.js';
import type { LogicalCluster } from '../kube/object.js';
import { ManualClock } from '../kube/testing/manual-clock.js';
import { ModelServer, refusal } from '../kube/testing/model-server.js';
import type { Endpoint } from './endpoint-set.js';
import { WorkspaceRouter } from './workspace-router.js';

const W1 = 'w1' as LogicalCluster;

/** Shards by name; each is true where it serves the workspace, false where it denies, or an error. */
function rig(shards: Record<string, boolean | 'empty' | Error>, seen?: string) {
  const clock = new ManualClock();
  const probes: string[] = [];
  const list = (name: string) => async () => {
    probes.push(name);
    const answer = shards[name];
    if (answer instanceof Error) throw answer;
    if (answer === 'empty') return { items: [], resourceVersion: 'rv' };
    if (answer !== true) throw refusal(403);
    const model = new ModelServer();
    return { items: [model.put({ cluster: W1, name: 'our-binding' })], resourceVersion: 'rv' };
  };
  const endpoints = Object.keys(shards).map((name): Endpoint => {
    const client: KubeClient = {
      ...new ModelServer().client(name),
      list: list(name),
      at: (path) => ({ ...client, baseUrl: name + path }),
    };
    return {
      url: name,
      listed: true,
      client,
      connected: Promise.resolve(client),
      removed: new AbortController().signal,
    };
  });
  const router = new WorkspaceRouter({
    exportName: 'e',
    endpoints: () => endpoints,
    seenOn: () => seen,
    clock,
  });
  const where = (): Promise<string> => router.run(W1, async ({ baseUrl }) => baseUrl);
  return { clock, probes, router, where, endpoints, shards };
}

const objectNotFound = new ApiError({
  message: 'not found',
  status: 404,
  reason: 'NotFound',
  body: { details: { name: 'x' } },
});

describe('WorkspaceRouter', () => {
  it('uses the only URL without asking', async () => {
    const { where, router, probes } = rig({ a: false });
    expect(await where()).toBe('a/clusters/w1');
    const denied = refusal(403);
    await expect(router.run(W1, async () => Promise.reject(denied))).rejects.toBe(denied);
    expect(probes).toEqual([]);
  });

  it('uses the URL on which the workspace was seen', async () => {
    const { where, probes } = rig({ a: false, b: true }, 'b');
    expect(await where()).toBe('b/clusters/w1');
    expect(probes).toEqual([]);
  });

  it('looks for the URL that shows our APIBinding, once', async () => {
    const { where, probes } = rig({ a: false, b: 'empty', c: true });
    expect(await Promise.all([where(), where()])).toEqual(['c/clusters/w1', 'c/clusters/w1']);
    expect(await where()).toBe('c/clusters/w1');
    expect(probes.sort()).toEqual(['a', 'b', 'c']);
  });

  it('sends nothing to a URL that has not proven to serve the workspace', async () => {
    const { router } = rig({ a: 'empty', b: false });
    let used = 0;
    const attempt = router.run(W1, async () => void (used += 1));
    await expect(attempt).rejects.toMatchObject({ status: 404, reason: 'WorkspaceNotServed' });
    expect(used).toBe(0);
  });

  it('does not say "not served" while a shard gives no answer', async () => {
    const { where } = rig({ a: false, b: new TransportError('refused', 'connect') });
    await expect(where()).rejects.toMatchObject({ code: 'KUBE_TRANSPORT' });
  });

  it('finds a workspace although another shard gives no answer', async () => {
    const { where } = rig({ a: new TransportError('refused', 'connect'), b: true });
    expect(await where()).toBe('b/clusters/w1');
  });

  it.each([refusal(403), refusal(404)])('follows a workspace that has moved, after %s', async (error) => {
    const { router, shards, clock } = rig({ a: true, b: false });
    await router.run(W1, async () => undefined);
    Object.assign(shards, { a: false, b: true });
    await clock.advance(11_000);
    const used: string[] = [];
    const result = await router.run(W1, async ({ baseUrl }) => {
      used.push(baseUrl);
      if (baseUrl.startsWith('a')) throw error;
      return 'done';
    });
    expect([result, used]).toEqual(['done', ['a/clusters/w1', 'b/clusters/w1']]);
  });

  it.each([objectNotFound, refusal(500), refusal(409), new TransportError('x', 'timeout')])(
    'looks nowhere else after %s',
    async (error) => {
      const { router, probes, clock } = rig({ a: true, b: true });
      await router.run(W1, async () => undefined);
      await clock.advance(11_000);
      probes.length = 0;
      await expect(router.run(W1, async () => Promise.reject(error))).rejects.toBe(error);
      expect(probes).toEqual([]);
    },
  );

  it('gives the first answer where the workspace has not moved, and does not ask again at once', async () => {
    const { router, probes, clock } = rig({ a: true, b: false });
    const denied = refusal(403);
    await router.run(W1, async () => undefined);
    await clock.advance(11_000);
    probes.length = 0;
    for (let index = 0; index < 5; index += 1)
      await expect(router.run(W1, async () => Promise.reject(denied))).rejects.toBe(denied);
    expect(probes.sort()).toEqual(['a', 'b']);
  });

  it('forgets a URL that is gone', async () => {
    const { where, endpoints } = rig({ a: true, b: false, c: false });
    expect(await where()).toBe('a/clusters/w1');
    endpoints.shift();
    await expect(where()).rejects.toMatchObject({ reason: 'WorkspaceNotServed' });
  });

  it('says so where no URL is listed', async () => {
    await expect(rig({}).where()).rejects.toMatchObject({ status: 404, reason: 'WorkspaceNotServed' });
  });
});
