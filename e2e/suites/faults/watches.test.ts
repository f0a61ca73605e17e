import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import type { ReflectorLimits } from '../../../src/kube/cache/reflector.js';
import type { KubeClient } from '../../../src/kube/client.js';
import { readBench } from '../../harness/bench.js';
import { startFaultProxy, type FaultProxy, type Rule, type Verdict } from '../../harness/fault-proxy.js';
import { clientFor } from '../../harness/kube-client.js';
import { kubectl } from '../../harness/kubectl.js';
import { ownUsage } from '../../harness/process-usage.js';
import { isListOf, isWatch, RequestLog } from '../../harness/request-log.js';
import { waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';
import { CONFIG_MAPS, followConfigMaps, type Followed } from './followed.js';

/** Short, so that nothing waits for what takes minutes by default; `src/config` and `src/kube` test the defaults. */
const QUICK: Partial<ReflectorLimits> = {
  silenceMs: 3000,
  stableMs: 200,
  backoff: { baseMs: 50, maxMs: 2000 },
};
const isList = isListOf(CONFIG_MAPS.resource);

/** What the program's watches are made of, against a real API server, with a proxy between them that fails. */
describe('a watch of a real API server', () => {
  const { kubernetes } = readBench();
  let proxy: FaultProxy;
  let requests: RequestLog;
  let admin: KubeClient;
  let rule: Rule = () => 'pass';
  let namespace: string;
  const running: Followed[] = [];

  beforeAll(async () => {
    proxy = await startFaultProxy(kubernetes);
    requests = new RequestLog(proxy, (request) => rule(request));
    admin = await clientFor(kubernetes.kubeconfig);
  });

  beforeEach(async () => {
    rule = () => 'pass';
    namespace = uniqueName('watches');
    await kubectl(kubernetes.kubeconfig, ['create', 'namespace', namespace]);
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((each) => each.stop()));
    await kubectl(kubernetes.kubeconfig, ['delete', 'namespace', namespace, '--wait=false']);
  });

  afterAll(async () => {
    await admin.close();
    await proxy.close();
  });

  it('is found to be half-open, opened again, and shows what was missed without a new list (D01)', async () => {
    const followed = await follow();
    proxy.freeze(isWatch);
    await create('late');
    const start = Date.now();
    await followed.shows('set late');
    expect(Date.now() - start).toBeLessThan(6000);
    expect(followed.lists()).toBe(1);
  });

  it.each<[form: string, verdict: Verdict]>([
    ['as the answer', { status: 410, body: expired() }],
    ['in the stream', { status: 200, body: `${JSON.stringify({ type: 'ERROR', object: expired() })}\n` }],
  ])(
    'that answers 410 %s shows deletions after one complete list, and none before (D02, D03)',
    async (_, gone) => {
      const names = Array.from({ length: 10 }, (_each, index) => `gone-${index}`);
      await Promise.all([...names, 'stays'].map(create));
      const followed = await follow();
      // How much was told when a list began. Half of each is delivered, but for the third.
      const toldBefore: number[] = [];
      rule = (request): Verdict => {
        if (isWatch(request)) return toldBefore.length < 3 ? gone : 'pass';
        if (!isList(request)) return 'pass';
        toldBefore.push(followed.changes.length);
        return toldBefore.length < 3 ? { cutAfter: 100 } : 'pass';
      };
      proxy.freeze(isWatch);
      await Promise.all(names.map(remove));
      proxy.cut(isWatch);
      await waitFor(() => followed.changes.length === 10, { what: 'all deletions' });
      expect(toldBefore).toEqual([0, 0, 0]);
      expect([...followed.changes].sort()).toEqual(names.map((name) => `missing ${name}`));
      expect(followed.lists()).toBe(2);
      await create('after');
      await followed.shows('set after');
      expect(followed.lists()).toBe(2);
    },
  );

  it('whose server ends it each second loses no event, and is not listed again (D04)', async () => {
    const followed = await follow({ watchMinMs: 1000, watchMaxMs: 1000, stableMs: 100 });
    const names: string[] = [];
    while (followed.reconnects() < 3) {
      const name = `brief-${names.length}`;
      names.push(name);
      await create(name);
      await remove(name);
    }
    await followed.shows(`missing ${names.at(-1) ?? ''}`);
    expect(followed.changes).toEqual(names.flatMap((name) => [`set ${name}`, `missing ${name}`]));
    expect(followed.lists()).toBe(1);
  });

  it('comes back spread out and ever more slowly, with twenty others of the same server (D11)', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => follow()));
    const outage = Date.now();
    rule = () => 'drop';
    proxy.cutAll();
    await waitFor(() => Date.now() > outage + 10_000, { what: 'the outage to last' });
    const tries = requests.since(outage, isWatch).map(({ at }) => at - outage);
    // 50 ms, doubled up to 2 s, half of it on average: about a dozen in ten seconds, each with one try more on a
    // new connection.
    expect(tries.length / all.length).toBeLessThan(40);
    const late = tries.filter((ms) => ms > 5000);
    expect(late.length).toBeGreaterThan(0);
    for (let ms = 5000; ms < 10_000; ms += 100)
      expect(late.filter((at) => at >= ms && at < ms + 100).length).toBeLessThan(all.length);
    rule = () => 'pass';
    await create('after');
    await Promise.all(all.map((each) => each.shows('set after')));
    expect(all.map((each) => each.lists())).toEqual(all.map(() => 1));
  });

  it('leaves no descriptor and no memory behind in a thousand reconnects (D07)', async () => {
    const quick = { stableMs: 1, backoff: { baseMs: 5, maxMs: 50 } };
    const all = await Promise.all(Array.from({ length: 10 }, () => follow(quick)));
    // Without the log of requests, which would be what grows.
    proxy.setRule(() => 'pass');
    const opened = () => all.reduce((sum, each) => sum + each.opened(), 0);
    const round = async (): Promise<void> => {
      const wanted = opened() + all.length;
      proxy.cut(isWatch);
      await waitFor(() => opened() >= wanted, { what: 'all watches to be open again', interval: 5 });
    };
    for (let i = 0; i < 20; i += 1) await round();
    const before = ownUsage();
    for (let i = 0; i < 100; i += 1) await round();
    // Sockets that were cut last need a moment to be gone, here as well as in the figure from before.
    const settled = () => ownUsage().descriptors - before.descriptors <= 10;
    await waitFor(settled, { what: 'no more descriptors than before', timeout: 10_000 });
    expect(opened()).toBeGreaterThanOrEqual(1200);
    expect(ownUsage().heapMiB - before.heapMiB).toBeLessThan(5);
    await create('after');
    await Promise.all(all.map((each) => each.shows('set after')));
  });

  async function follow(limits: Partial<ReflectorLimits> = {}): Promise<Followed> {
    const client = await clientFor(kubernetes.kubeconfig, proxy.address);
    const followed = followConfigMaps(client, namespace, { ...QUICK, ...limits });
    running.push(followed);
    await followed.watching();
    return followed;
  }

  async function create(name: string): Promise<void> {
    await admin.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } });
  }

  async function remove(name: string): Promise<void> {
    await admin.delete(CONFIG_MAPS, { name, namespace });
  }
});

function expired(): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    reason: 'Expired',
    code: 410,
    message: 'too old resource version',
  };
}
