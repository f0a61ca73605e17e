import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';

import type { ObjectStore } from '../../../src/kube/cache/object-store.js';
import type { KubeClient } from '../../../src/kube/client.js';
import { createOpenDialler } from '../../../src/kube/dialler/dialler.js';
import { isObjectNotFound } from '../../../src/kube/errors.js';
import type { KubeObject, LogicalCluster } from '../../../src/kube/object.js';
import { createSystemClock } from '../../../src/kube/system-clock.js';
import { connect } from '../../../src/kube/transport/connect.js';
import { openVirtualWorkspace } from '../../../src/vw-client/open.js';
import type { VirtualWorkspace } from '../../../src/vw-client/virtual-workspace.js';
import { readBench } from '../../harness/bench.js';
import { apply, kubectl } from '../../harness/kubectl.js';
import { waitFor } from '../../harness/wait-for.js';
import { createWorkspace, uniqueName, type Workspace } from '../../harness/workspaces.js';

const GROUP = 'vw.example.test';
const TOYS = { group: GROUP, version: 'v1', resource: 'toys' };
const EXPORT = 'toys';
const target = { namespace: 'default', name: 'a' };

const { consumers } = readBench();
const clock = createSystemClock();
const clients: KubeClient[] = [];
const stop = new AbortController();

function clientFor(server: string): KubeClient {
  const client = connect(
    { server, ca: consumers.ca, auth: { kind: 'token', token: consumers.adminToken } },
    { dialler: createOpenDialler(), userAgent: 'e2e', requestTimeoutMs: 30_000, clock, random: Math.random },
  );
  clients.push(client);
  return client;
}

const toy = (name: string, spec: KubeObject['spec']) =>
  stringify({ apiVersion: `${GROUP}/v1`, kind: 'Toy', metadata: { name, namespace: 'default' }, spec });

async function offerToys(owner: Workspace): Promise<void> {
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = `v1.toys.${GROUP}`;
  await apply(
    owner.kubeconfig,
    stringify({
      apiVersion: 'apis.kcp.io/v1alpha1',
      kind: 'APIResourceSchema',
      metadata: { name: schema },
      spec: {
        group: GROUP,
        names: { kind: 'Toy', listKind: 'ToyList', plural: 'toys', singular: 'toy' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: { type: 'object', properties: { spec: anything, status: anything } },
          },
        ],
      },
    }),
  );
  await apply(
    owner.kubeconfig,
    stringify({
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIExport',
      metadata: { name: EXPORT },
      spec: { resources: [{ group: GROUP, name: 'toys', schema, storage: { crd: {} } }] },
    }),
  );
}

async function bindToys(owner: Workspace, consumer: Workspace): Promise<void> {
  const binding = stringify({
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name: EXPORT },
    spec: { reference: { export: { path: owner.path, name: EXPORT } } },
  });
  await waitFor(() => apply(consumer.kubeconfig, binding), { what: 'the export to be bound' });
}

describe('the virtual workspace of an APIExport', () => {
  let owner: Workspace;
  let first: Workspace;
  let second: Workspace;
  let vw: VirtualWorkspace;
  let store: ObjectStore;
  const missing: string[] = [];
  const workspace = (of: Workspace) => vw.workspace(of.cluster as LogicalCluster);
  const specs = (of: Workspace) =>
    [...store.inCluster(of.cluster as LogicalCluster)].map((object) => object['spec']);

  beforeAll(async () => {
    [owner, first, second] = await Promise.all([
      createWorkspace(consumers, 'root', uniqueName('vw-owner')),
      createWorkspace(consumers, 'root', uniqueName('vw-first')),
      createWorkspace(consumers, 'root', uniqueName('vw-second')),
    ]);
    await offerToys(owner);
    vw = openVirtualWorkspace({
      clientWorkspace: clientFor(`${consumers.address}/clusters/${owner.path}`),
      exportName: EXPORT,
      connect: clientFor,
      clock,
      random: Math.random,
      signal: stop.signal,
    });
    store = vw.follow(TOYS);
    store.subscribe(({ type, key }) => {
      if (type === 'missing') missing.push(`${key.cluster}/${key.name}`);
    });
  });

  afterAll(async () => {
    stop.abort();
    await vw.close();
    await Promise.all(clients.map((client) => client.close()));
  });

  it('is alive and empty while nobody is bound (E01)', async () => {
    await waitFor(() => kubectl(owner.kubeconfig, ['get', 'apiexportendpointslice', EXPORT]), {
      what: 'the slice',
    });
    expect(vw.urls).toEqual([]);
    expect(store.synced).toBe(false);
    const denied: unknown = await workspace(first)
      .get(TOYS, target)
      .catch((error: unknown) => error);
    expect(denied).toMatchObject({ status: 404, reason: 'WorkspaceNotServed' });
    expect(isObjectNotFound(denied)).toBe(false);
  });

  it('shows the objects of two workspaces, each under its own cluster, soon after they bind (E01, E03)', async () => {
    await Promise.all([bindToys(owner, first), bindToys(owner, second)]);
    await store.whenSynced(AbortSignal.timeout(30_000));
    for (const [of, x] of [
      [first, 1],
      [second, 2],
    ] as const)
      await waitFor(() => apply(of.kubeconfig, toy('a', { x })), { what: 'toys to be served' });
    await waitFor(() => store.size === 2, { what: 'both toys', timeout: 30_000 });
    expect([specs(first), specs(second)]).toEqual([[{ x: 1 }], [{ x: 2 }]]);
  });

  it('answers 409 to patches and PUTs that were made for another state or another object', async () => {
    const { metadata, ...rest } = await workspace(first).get(TOYS, target);
    const guard = { uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion };
    const changed = await workspace(first).mergePatch(TOYS, target, guard, { spec: { y: 1 } });
    expect(changed['spec']).toEqual({ x: 1, y: 1 });
    const add = [{ op: 'add', path: '/spec/z', value: 1 }];
    for (const wrong of [guard, { uid: 'another' }]) {
      const attempts = [
        workspace(first).mergePatch(TOYS, target, wrong, { spec: { y: 2 } }),
        workspace(first).jsonPatch(TOYS, target, wrong, add),
      ];
      for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ status: 409 });
    }
    await expect(
      workspace(first).replaceStatus(TOYS, { ...rest, metadata, status: {} }),
    ).rejects.toMatchObject({
      status: 409,
    });
    await expect(workspace(first).delete(TOYS, target, { uid: 'another' })).rejects.toMatchObject({
      status: 409,
    });
    const fresh = { uid: guard.uid, resourceVersion: changed.metadata.resourceVersion };
    const patched = await workspace(first).jsonPatch(TOYS, target, fresh, add);
    expect(patched['spec']).toEqual({ x: 1, y: 1, z: 1 });
    const invalid = workspace(first).jsonPatch(TOYS, target, { uid: guard.uid }, [
      { op: 'replace', path: '/spec', value: 'text' },
    ]);
    await expect(invalid).rejects.toMatchObject({ status: 422 });
  });

  it('replaces the whole status and nothing else', async () => {
    const before = await workspace(first).get(TOYS, target);
    const filled = await workspace(first).replaceStatus(TOYS, { ...before, status: { a: 1, list: [1] } });
    const emptied = await workspace(first).replaceStatus(TOYS, { ...filled, status: { b: 2 }, spec: {} });
    expect(emptied['status']).toEqual({ b: 2 });
    expect(emptied['spec']).toEqual(before['spec']);
  });

  it('merges an apply-patch and never removes, which is why WorkspaceClient has none', async () => {
    const raw = clientFor(`${vw.urls[0] ?? ''}/clusters/${second.cluster}`);
    const send = (spec: Record<string, number>) =>
      raw.patch(
        TOYS,
        target,
        'apply',
        { apiVersion: `${GROUP}/v1`, kind: 'Toy', metadata: target, spec },
        { fieldManager: 'e2e', force: true },
      );
    await send({ kept: 1, dropped: 1 });
    expect((await send({ kept: 1 }))['spec']).toEqual({ x: 2, kept: 1, dropped: 1 });
  });

  it('takes neither an unbound workspace nor a missing resource for the absence of an object', async () => {
    const errors = await Promise.all([
      workspace(owner)
        .get(TOYS, target)
        .catch((error: unknown) => error),
      workspace(first)
        .get({ ...TOYS, resource: 'nothings' }, target)
        .catch((error: unknown) => error),
    ]);
    for (const error of errors) expect(isObjectNotFound(error)).toBe(false);
    const absent: unknown = await workspace(first)
      .get(TOYS, { ...target, name: 'absent' })
      .catch((error: unknown) => error);
    expect(isObjectNotFound(absent)).toBe(true);
  });

  it('has reported nothing as missing so far, and reports what an unbind takes away', async () => {
    expect(missing).toEqual([]);
    await kubectl(second.kubeconfig, ['delete', 'apibinding', EXPORT]);
    await waitFor(() => missing.length > 0, {
      what: 'the second workspace to be seen going',
      timeout: 30_000,
    });
    expect(missing).toEqual([`${second.cluster}/a`]);
    expect(specs(first)).toHaveLength(1);
  });
});
