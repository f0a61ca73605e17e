import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { JsonObject } from '../../../src/kube/json-value.js';
import type { KubeObject } from '../../../src/kube/object.js';
import { writesSince } from '../../harness/audit-log.js';
import { readBench } from '../../harness/bench.js';
import {
  startFaultProxy,
  type FaultProxy,
  type ProxiedRequest,
  type Verdict,
} from '../../harness/fault-proxy.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import { at, edit, manifest, marksOf, openScene, synced, writeStatus, type Scene } from './scene.js';

const OBJECTS = 40;
/** Much longer than the grace after which the suites' controllers ask whether an object is gone. */
const FAULT_MS = 6000;

const spec = (object: KubeObject | undefined) => (object?.['spec'] ?? {}) as JsonObject;
const status = (object: KubeObject) => object['status'] as JsonObject | undefined;
const words = (reason: string, code: number, details?: JsonObject) => ({
  status: code,
  body: {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason,
    code,
    message: reason,
    ...(details && { details }),
  },
});

/** What a workspace's server may say instead of what is there. */
const FAULTS: Readonly<Record<string, (request: ProxiedRequest, group: string) => Verdict>> = {
  '403 to everything': () => words('Forbidden', 403),
  '404 of a path that is not served': () => ({ status: 404, body: '404 page not found' }),
  '404 of an API that is gone': () => words('NotFound', 404, {}),
  '503 to everything': () => words('ServiceUnavailable', 503),
  'no answer, but a cut connection': () => 'drop',
  'an empty list, and watches that show nothing': ({ path, method }, group) => {
    if (method !== 'GET' || !/\/gadgets(\?|$)/.test(path)) return 'pass';
    if (path.includes('watch=')) return 'hold';
    const metadata = { resourceVersion: '1' };
    return { status: 200, body: { kind: 'GadgetList', apiVersion: `${group}/v1`, metadata, items: [] } };
  },
};

/** A workspace whose objects are not to be seen for a while, though nobody has deleted them. */
describe('objects that are not to be seen', () => {
  const bench = readBench();
  let proxy: FaultProxy;
  let scene: Scene;
  let first: KubeObject;

  beforeAll(async () => {
    proxy = await startFaultProxy(bench.consumers);
    scene = await openScene('absence', proxy);
    const { gadgets } = scene.api;
    const names = Array.from({ length: OBJECTS }, (_, index) => `seen-${index}`);
    await Promise.all(
      names.map((name) =>
        scene.workspace.create(gadgets, manifest(gadgets, name, { spec: { title: name } })),
      ),
    );
    for (const name of names) await synced(scene, gadgets, name);
    first = (await synced(scene, gadgets, 'seen-0')).copy;
  });

  afterAll(async () => {
    await scene.close();
    await proxy.close();
  });

  /** Requests about our objects through the export's virtual workspace. */
  const isAboutObjects = ({ path }: ProxiedRequest) =>
    path.includes('/services/apiexport/') && path.includes(`/${scene.api.group}/`);
  const uids = async () =>
    (await scene.provider.list(scene.api.gadgets)).items.map(({ metadata }) => metadata.uid).sort();
  const deletions = async (since: number) => {
    const account = `system:serviceaccount:${marksOf(first)['kube-bind.io/cluster-namespace'] ?? ''}:kube-binder`;
    const writes = await writesSince(bench.kubernetes.auditLog, since);
    return writes.filter(({ user, verb }) => user === account && verb.startsWith('delete'));
  };

  it.each(Object.entries(FAULTS))('keep their copies: %s', async (_name, fault) => {
    const { gadgets, group } = scene.api;
    const start = Date.now();
    const before = await uids();
    proxy.setRule((request) => (isAboutObjects(request) ? fault(request, group) : 'pass'));
    proxy.cutAll();
    // The provider goes on: it reports, and changes what is ours.
    let round = 0;
    await staysTrue(
      async () => {
        round += 1;
        await writeStatus(scene, gadgets, first, { start, round });
        if (round % 3 === 0)
          await edit(
            scene.provider,
            gadgets,
            { namespace: first.metadata.namespace, name: 'seen-1' },
            (each) => ({
              ...each,
              spec: { ...spec(each), injected: `by the provider ${round}` },
            }),
          );
        return true;
      },
      { what: 'the fault', ms: FAULT_MS, interval: 700 },
    );
    await edit(scene.workspace, gadgets, at('seen-2'), (each) => ({
      ...each,
      spec: { title: String(start) },
    }));
    proxy.setRule(() => 'pass');
    proxy.cutAll();
    await synced(scene, gadgets, 'seen-2', (each) => spec(each)['title'] === String(start));
    await synced(scene, gadgets, 'seen-0', (_, object) => status(object)?.['round'] === round);
    expect(await uids()).toEqual(before);
    expect(await deletions(start)).toEqual([]);
  });

  it('keep their copies when the controller is killed, and the workspace is much slower than the provider', async () => {
    const { gadgets } = scene.api;
    const start = Date.now();
    const before = await uids();
    await scene.controller().kill();
    const restart = await scene.stopController();
    await writeStatus(scene, gadgets, first, { while: 'down' });
    let listed = 0;
    const slowUntil = Date.now() + 15_000;
    proxy.setRule(async (request): Promise<Verdict> => {
      const isList =
        request.method === 'GET' && /\/gadgets(\?|$)/.test(request.path) && !request.path.includes('watch=');
      if (!isAboutObjects(request) || !isList) return 'pass';
      await new Promise((resolve) => setTimeout(resolve, slowUntil - Date.now()));
      listed ||= Date.now();
      return 'pass';
    });
    await restart();
    await waitFor(() => listed > 0, { what: 'the slow list', timeout: 60_000 });
    await synced(scene, gadgets, 'seen-0', (_, object) => status(object)?.['while'] === 'down');
    expect(Date.now() - listed).toBeLessThan(30_000);
    expect(await uids()).toEqual(before);
    expect(await deletions(start)).toEqual([]);
    proxy.setRule(() => 'pass');
  });
});
