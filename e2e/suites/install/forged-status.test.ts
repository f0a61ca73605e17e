import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { readBench } from '../../harness/bench.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { conditionWith } from '../../harness/conditions.js';
import {
  applyDatabase,
  bindWithPlugin,
  copiesOf,
  createConsumer,
  syncedDatabase,
  type Consumer,
} from '../../harness/consumer.js';
import { writeKubeconfig } from '../../harness/kubeconfig.js';
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { madeForTenants } from '../../harness/leftovers.js';
import { waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';

interface Status {
  phase?: string;
  provider?: { server?: string };
  authentication?: { url?: string };
  apiExport?: { path: string; name: string };
  apiBinding?: string;
  conditions?: { type: string; status: string }[];
}

/**
 * Status is shown, never trusted. kcp lets nobody write it in a workspace; here it is written all the same, with
 * the rights of the client workspace's admin.
 */
describe('a forged status', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('forged')}`;
  const trapped: string[] = [];
  let trap: Server;
  let trapUrl = '';
  let installation: ClientInstallation;
  let controller: Controller | undefined;
  let alice: Consumer;
  let bob: Consumer;
  let forger = '';

  const statusOf = async (kubeconfig: string, kind: string, name: string) =>
    (JSON.parse(await kubectl(kubeconfig, ['get', kind, name, '-o', 'json'])) as { status?: Status })
      .status ?? {};
  const forge = (kind: string, name: string, status: object) =>
    kubectl(forger, [
      'patch',
      kind,
      name,
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status }),
    ]);
  const ready = [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Ready',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ];

  beforeAll(async () => {
    trap = createServer((request, response) => {
      trapped.push(request.url ?? '');
      response.end();
    });
    trap.on('connection', () => trapped.push('connection'));
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    trapUrl = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`;
    [installation, alice, bob] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
      createConsumer('bob'),
    ]);
    controller = await startController({ installation, dir });
    for (const consumer of [alice, bob]) await bindWithPlugin(consumer, installation);
    const url = await kubectl(installation.workspace.kubeconfig, [
      'get',
      'apiexportendpointslice',
      'kcp.kube-bind.io',
      '-o',
      'jsonpath={.status.endpoints[0].url}',
    ]);
    forger = await writeKubeconfig(`${alice.kubeconfig}-forger.yaml`, {
      server: `${url}/clusters/${alice.workspace.cluster}`,
      ca: bench.consumers.ca,
      token: bench.consumers.adminToken,
    });
    await apply(
      alice.kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [
          {
            apiVersion: 'kcp.kube-bind.io/v1alpha1',
            kind: 'KubeBindConnection',
            metadata: { name: 'waiting' },
            spec: { backend: { url: bench.backendUrl, account: 'waiting' } },
          },
          {
            apiVersion: 'kcp.kube-bind.io/v1alpha1',
            kind: 'KubeBindBinding',
            metadata: { name: 'waiting' },
            spec: { connection: 'waiting', template: 'databases' },
          },
        ],
      }),
    );
    await conditionWith(alice.kubeconfig, 'kubebindconnection', 'waiting', {
      type: 'Authenticated',
      reason: 'AwaitingLogin',
    });
  });

  afterAll(async () => {
    await controller?.stop();
    await new Promise((resolve) => trap.close(resolve));
  });

  it("cannot be written by kcp's admin in the workspace", async () => {
    const answer = await runKubectl(alice.workspace.kubeconfig, [
      'patch',
      'kubebindbinding',
      'databases',
      '--subresource=status',
      '--type=merge',
      '-p',
      '{"status":{"phase":"Ready"}}',
    ]);
    expect(answer.code).not.toBe(0);
    expect(answer.stderr).toContain('forbidden');
  });

  it('that says Connected makes no account, and is put right', async () => {
    const made = await madeForTenants(installation);
    await forge('kubebindconnection', 'waiting', {
      phase: 'Connected',
      provider: { prettyName: 'Trap', server: trapUrl, namespace: 'default', version: 'v0.8.2' },
      offers: [{ template: 'databases', resources: [], permissionClaims: [] }],
      conditions: ready,
    });
    await waitFor(
      async () => {
        const { phase, provider } = await statusOf(alice.kubeconfig, 'kubebindconnection', 'waiting');
        return phase === 'AwaitingLogin' && provider?.server === undefined;
      },
      { what: 'the status to be put right', timeout: 20_000 },
    );
    await conditionWith(alice.kubeconfig, 'kubebindbinding', 'waiting', {
      type: 'Connected',
      reason: 'ConnectionNotReady',
    });
    expect(await madeForTenants(installation)).toEqual(made);
    expect(trapped).toEqual([]);
  });

  it('that names another login page is replaced by a login of our own', async () => {
    await forge('kubebindconnection', 'waiting', { authentication: { url: `${trapUrl}/login/x.y` } });
    await waitFor(
      async () => {
        const { authentication } = await statusOf(alice.kubeconfig, 'kubebindconnection', 'waiting');
        return authentication?.url?.startsWith(`${controller?.url ?? ''}/login/`);
      },
      { what: 'the login page to be ours again', timeout: 20_000 },
    );
    expect(trapped).toEqual([]);
  });

  it("that names another tenant's export changes nothing of what is synced, and is put right", async () => {
    const [mine, theirs] = await Promise.all([
      statusOf(alice.kubeconfig, 'kubebindbinding', 'databases'),
      statusOf(bob.kubeconfig, 'kubebindbinding', 'databases'),
    ]);
    expect(theirs.apiExport?.name).toMatch(/^kbb-/);
    await forge('kubebindbinding', 'databases', {
      phase: 'Pending',
      apiExport: theirs.apiExport,
      apiBinding: theirs.apiBinding,
      conditions: [],
    });
    await waitFor(
      async () => {
        const { apiExport, apiBinding, phase } = await statusOf(
          alice.kubeconfig,
          'kubebindbinding',
          'databases',
        );
        return (
          phase === 'Ready' &&
          apiExport?.name === mine.apiExport?.name &&
          apiBinding === mine.apiBinding &&
          apiBinding !== undefined
        );
      },
      { what: 'the status to be put right', timeout: 20_000 },
    );
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres' });
    await applyDatabase(bob.kubeconfig, 'main', { engine: 'mysql' });
    expect((await syncedDatabase(alice, 'main')).copy.spec.engine).toBe('postgres');
    expect((await syncedDatabase(bob, 'main')).copy.spec.engine).toBe('mysql');
  });

  it('that was written before an unbind takes nothing from the tenant whom it names', async () => {
    const theirs = await statusOf(bob.kubeconfig, 'kubebindbinding', 'databases');
    const { object } = await syncedDatabase(alice, 'main');
    const { copy } = await syncedDatabase(bob, 'main');
    const before = await madeForTenants(installation);
    await controller?.stop();
    await forge('kubebindbinding', 'databases', {
      apiExport: theirs.apiExport,
      apiBinding: theirs.apiBinding,
    });
    await kubectl(alice.kubeconfig, ['delete', 'kubebindbinding', 'databases', 'waiting', '--wait=false']);
    controller = await startController({ installation, dir });
    await waitFor(
      async () => (await kubectl(alice.kubeconfig, ['get', 'kubebindbindings', '-o', 'name'])).trim() === '',
      { what: 'the bindings to go', timeout: 60_000 },
    );
    expect(await copiesOf(object)).toEqual([]);
    const after = await madeForTenants(installation);
    const ofBob = (name: string) => name.includes(theirs.apiExport?.name ?? '?');
    expect(after.filter(ofBob)).toEqual(before.filter(ofBob));
    expect(after.filter((name) => name.includes('kbb-') && !ofBob(name))).toEqual([]);
    expect((await syncedDatabase(bob, 'main')).copy.metadata.uid).toBe(copy.metadata.uid);
    expect(trapped).toEqual([]);
  });
});
