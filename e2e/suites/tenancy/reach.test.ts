import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { readBench } from '../../harness/bench.js';
import { bindClient } from '../../harness/client-binding.js';
import {
  CONTROLLER_TOKEN,
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { conditionWith, readCondition } from '../../harness/conditions.js';
import {
  allCopies,
  applyDatabase,
  bindWithPlugin,
  copiesOf,
  createConsumer,
  syncedDatabase,
  type Consumer,
} from '../../harness/consumer.js';
import { createContractAccount } from '../../harness/contract-account.js';
import { startFaultProxy } from '../../harness/fault-proxy.js';
import { kubeconfigText } from '../../harness/kubeconfig.js';
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { madeForTenants } from '../../harness/leftovers.js';
import { waitFor } from '../../harness/wait-for.js';
import { createWorkspace, deleteWorkspace, grantAdmin, uniqueName } from '../../harness/workspaces.js';
import { accountOf, logIn, type Account } from './accounts.js';

const OURS = 'kcp.kube-bind.io/v1alpha1';
const LABELS = { 'kcp.kube-bind.io/credentials': 'true' };

/** What a hostile tenant tries, who is admin of his workspace and knows every name that there is. */
describe('a tenant', () => {
  const bench = readBench();
  let installation: ClientInstallation;
  let controller: Controller;
  let alice: Consumer;
  let mallory: Consumer;
  let accountOfAlice: Account;

  beforeAll(async () => {
    [installation, alice, mallory] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
      createConsumer('bob'),
    ]);
    controller = await startController({ installation, dir: `${bench.dir}/${uniqueName('reach')}` });
    const { kubeconfig } = await createContractAccount(uniqueName('kubeconfig-of-alice'));
    await Promise.all([
      bindWithPlugin(alice, installation, { args: ['--connection=provider', '--name=databases'] }),
      bindClient(mallory.kubeconfig, installation),
    ]);
    await apply(alice.kubeconfig, list(secretWith('by-hand', kubeconfig), connectionBySecret('by-hand')));
    await conditionWith(alice.kubeconfig, 'kubebindconnection', 'by-hand', {
      type: 'Authenticated',
      reason: 'KubeconfigStored',
    });
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 11 });
    await syncedDatabase(alice, 'main');
    accountOfAlice = await accountOf(alice.kubeconfig, bench.provider.kubeconfig, 'provider');
  });

  afterAll(async () => {
    await controller.stop();
  });

  /** As if it were, or came from, that other workspace. */
  const forged = () => ({
    'kcp.io/cluster': alice.workspace.cluster,
    'kcp.io/path': alice.workspace.path,
    'internal.apis.kcp.io/cluster': alice.workspace.cluster,
  });

  it("gets at no Secret but his own workspace's", async () => {
    const ofClient = (
      await kubectl(installation.workspace.kubeconfig, ['get', 'secrets', '-n', 'kube-bind', '-o', 'name'])
    )
      .split('\n')
      .flatMap((line) => line.split('/')[1] ?? []);
    const state = ofClient.find((name) => name.startsWith('connection-'));
    const identity = ofClient.find((name) => name.startsWith('kbb-'));
    expect([state, identity, ofClient.includes('kube-bind-installation')]).toEqual([
      expect.any(String),
      expect.any(String),
      true,
    ]);
    const refs = [
      { namespace: 'default', name: 'by-hand' },
      { namespace: 'default', name: 'by-hand', key: 'kubeconfig' },
      { namespace: 'kube-bind', name: state },
      { namespace: 'kube-bind', name: identity, key: 'key' },
      { namespace: 'kube-bind', name: 'kube-bind-installation', key: 'key' },
    ];
    const tries = refs.map((kubeconfigSecretRef, at) => ({
      apiVersion: OURS,
      kind: 'KubeBindConnection',
      metadata: { name: `reach-${at}`, annotations: forged() },
      spec: { kubeconfigSecretRef },
    }));
    await apply(mallory.kubeconfig, list(...tries));
    for (const { metadata } of tries) {
      const { message } = await conditionWith(mallory.kubeconfig, 'kubebindconnection', metadata.name, {
        type: 'Authenticated',
        reason: 'SecretNotFound',
      });
      expect(message).not.toContain(alice.workspace.cluster);
    }
    // A path in a reference would be another request than the one that is meant.
    for (const [namespace, name] of [
      ['../../../clusters/root/api/v1/namespaces/default', 'by-hand'],
      ['default', '../../kube-bind/secrets/by-hand'],
      ['default', 'by-hand?cluster=x'],
    ]) {
      const odd = {
        apiVersion: OURS,
        kind: 'KubeBindConnection',
        metadata: { name: 'odd' },
        spec: { kubeconfigSecretRef: { namespace, name } },
      };
      const answer = await runKubectl(mallory.kubeconfig, ['create', '-f', '-'], { input: list(odd) });
      expect(answer.stderr).toContain('spec.kubeconfigSecretRef');
    }
  });

  it("uses no connection but his own workspace's", async () => {
    const binding = (name: string) => ({
      apiVersion: OURS,
      kind: 'KubeBindBinding',
      metadata: { name, annotations: forged() },
      spec: { connection: name === 'databases' ? 'provider' : 'by-hand', template: 'databases' },
    });
    await apply(mallory.kubeconfig, list(binding('databases'), binding('others')));
    for (const name of ['databases', 'others'])
      await conditionWith(mallory.kubeconfig, 'kubebindbinding', name, {
        type: 'Connected',
        reason: 'ConnectionNotFound',
      });
    const made = await madeForTenants(installation);
    expect(made.filter((each) => each.includes('apiexport'))).toHaveLength(1);
    await kubectl(mallory.kubeconfig, ['delete', 'kubebindbindings', '--all', '--timeout=60s']);
  });

  it('gets an account of his own for the same names, and cannot tell what the other identity is', async () => {
    await bindWithPlugin(mallory, installation, { args: ['--connection=provider', '--name=databases'] });
    const his = await accountOf(mallory.kubeconfig, bench.provider.kubeconfig, 'provider');
    expect(his.namespace).not.toBe(accountOfAlice.namespace);
    expect(his.identity).not.toBe(accountOfAlice.identity);
    for (const { identity } of [his, accountOfAlice]) {
      // 256 bits that say nothing of what they were made from.
      expect(identity).toMatch(/^[A-Za-z0-9_-]{43}$/);
      const shown = [alice, mallory].map(({ kubeconfig }) =>
        kubectl(kubeconfig, [
          'get',
          'kubebindconnections,kubebindbindings,events,secrets',
          '-A',
          '-o',
          'json',
        ]),
      );
      for (const text of await Promise.all(shown)) expect(text).not.toContain(identity);
    }
  });

  it('writes into no copy of another, whatever marks his objects bear', async () => {
    const before = await syncedDatabase(alice, 'main');
    const marks = {
      ...before.copy.metadata.annotations,
      ...forged(),
      'kube-bind.io/cluster-namespace': accountOfAlice.namespace,
      'kube-bind.io/consumer-uid': before.object.metadata.uid,
      'kube-bind.io/provider-namespace': before.copy.metadata.namespace,
      'kube-bind.io/provider-uid': before.copy.metadata.uid,
    };
    const object = {
      apiVersion: 'example.org/v1',
      kind: 'Database',
      metadata: { name: 'main', namespace: 'default', annotations: marks },
      spec: { engine: 'mysql', sizeGiB: 99 },
    };
    await apply(mallory.kubeconfig, JSON.stringify(object));
    const his = await syncedDatabase(mallory, 'main');
    expect(his.copy.metadata.namespace).not.toBe(before.copy.metadata.namespace);
    await kubectl(mallory.kubeconfig, ['delete', 'database', 'main', '-n', 'default', '--timeout=60s']);
    expect(await copiesOf(his.object)).toEqual([]);
    expect(await syncedDatabase(alice, 'main')).toEqual(before);
  });

  it("writes nothing into another account's namespace, of which he knows the name", async () => {
    const before = await syncedDatabase(alice, 'main');
    const own = await createContractAccount(uniqueName('kubeconfig-of-mallory'));
    const kubeconfig = own.kubeconfig.replaceAll(own.namespace, accountOfAlice.namespace);
    expect(kubeconfig).not.toBe(own.kubeconfig);
    const binding = {
      apiVersion: OURS,
      kind: 'KubeBindBinding',
      metadata: { name: 'next-door' },
      spec: { connection: 'next-door', template: 'databases' },
    };
    await apply(
      mallory.kubeconfig,
      list(secretWith('next-door', kubeconfig), connectionBySecret('next-door'), binding),
    );
    await waitFor(
      async () => {
        const seen = await Promise.all(
          ['Connected', 'ExportReady'].map((type) =>
            readCondition(mallory.kubeconfig, 'kubebindbinding', 'next-door', type),
          ),
        );
        return seen.some((each) => each?.status === 'False' && /forbidden|refuse/i.test(each.message));
      },
      { what: 'the refusal to be told', timeout: 60_000 },
    );
    expect(await syncedDatabase(alice, 'main')).toEqual(before);
    await kubectl(mallory.kubeconfig, ['delete', 'kubebindbinding', 'next-door', '--wait=false']);
    await kubectl(mallory.kubeconfig, [
      ...['annotate', 'kubebindbinding', 'next-door', 'kcp.kube-bind.io/force-release=true'],
    ]);
    await kubectl(mallory.kubeconfig, ['wait', '--for=delete', '--timeout=60s', 'kubebindbinding/next-door']);
  });

  it('is never sent a credential of ours, wherever he leads us', async () => {
    const seen: string[] = [];
    const trap = createServer((request, response) => {
      seen.push(`${request.url} ${request.headers.authorization ?? ''} ${request.headers.cookie ?? ''}`);
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
    const url = await listen(trap);
    const ownToken = 'token-of-mallory';
    const provider = await startFaultProxy(bench.consumers);
    provider.setRule(({ path, token }) => {
      seen.push(`${path} Bearer ${token}`);
      return { status: 403, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 403 } };
    });
    const connections = [
      { name: 'trap-backend', backend: { url } },
      { name: 'kcp-as-backend', backend: { url: bench.consumers.address } },
    ].map(({ name, backend }) => ({
      apiVersion: OURS,
      kind: 'KubeBindConnection',
      metadata: { name },
      spec: { backend },
    }));
    const kubeconfigs = {
      'trap-provider': kubeconfigText({
        server: url,
        ca: bench.consumers.ca,
        token: ownToken,
        namespace: 'x',
      }),
      // The client workspace itself, and the victim's, with the token of the tenant.
      'client-workspace': kubeconfigText({
        server: `${bench.consumers.address}/clusters/${installation.workspace.path}`,
        ca: bench.consumers.ca,
        token: `${mallory.user}-token`,
        namespace: 'kube-bind',
      }),
    };
    const bindings = Object.keys(kubeconfigs).map((name) => ({
      apiVersion: OURS,
      kind: 'KubeBindBinding',
      metadata: { name },
      spec: { connection: name, template: 'databases' },
    }));
    try {
      await apply(
        mallory.kubeconfig,
        list(
          ...connections,
          ...Object.entries(kubeconfigs).flatMap(([name, text]) => [
            secretWith(name, text),
            connectionBySecret(name),
          ]),
          ...bindings,
        ),
      );
      for (const { metadata } of connections)
        await waitFor(
          async () => {
            const { name } = metadata;
            const told = await readCondition(
              mallory.kubeconfig,
              'kubebindconnection',
              name,
              'BackendReachable',
            );
            return told?.status === 'False';
          },
          { what: `${metadata.name} to be refused`, timeout: 60_000 },
        );
      for (const { metadata } of bindings)
        await waitFor(
          async () => {
            const { name } = metadata;
            const told = await readCondition(mallory.kubeconfig, 'kubebindbinding', name, 'Ready');
            const connected = await readCondition(mallory.kubeconfig, 'kubebindbinding', name, 'Connected');
            const exported = await readCondition(mallory.kubeconfig, 'kubebindbinding', name, 'ExportReady');
            return told?.status === 'False' && [connected, exported].some((each) => each?.status === 'False');
          },
          { what: `${metadata.name} to be refused`, timeout: 60_000 },
        );
      expect(seen.some((each) => each.includes(ownToken))).toBe(true);
      const tokens = seen.map((each) => each.replace(ownToken, ''));
      expect(tokens.filter((each) => /Bearer \S/.test(each) || each.includes(CONTROLLER_TOKEN))).toEqual([]);
    } finally {
      trap.closeAllConnections();
      await new Promise((resolve) => trap.close(resolve));
      await provider.close();
    }
  });

  it('has another identity at each backend, for each account, and in each installation', async () => {
    const { kubernetes } = bench;
    const other = await installClient(bench.consumers, uniqueName('kube-bind'));
    const second = await startController({
      installation: other,
      dir: `${bench.dir}/${uniqueName('reach-other')}`,
    });
    try {
      const carol = await createConsumer('carol');
      await bindClient(carol.kubeconfig, other);
      await logIn(carol.kubeconfig, { name: 'provider', backend: { url: bench.backendUrl } });
      await logIn(alice.kubeconfig, {
        name: 'other-account',
        backend: { url: bench.backendUrl, account: 'two' },
      });
      await logIn(alice.kubeconfig, { name: 'elsewhere', backend: { url: kubernetes.backendUrl } });
      const accounts = await Promise.all([
        accountOf(carol.kubeconfig, bench.provider.kubeconfig),
        accountOf(alice.kubeconfig, bench.provider.kubeconfig, 'other-account'),
        accountOf(alice.kubeconfig, kubernetes.kubeconfig, 'elsewhere'),
      ]);
      const all = [accountOfAlice, ...accounts];
      expect(new Set(all.map(({ identity }) => identity)).size).toBe(all.length);
    } finally {
      await second.stop();
    }
  });

  it('who makes a workspace anew gets neither the account nor the copies of the former one', async () => {
    const name = uniqueName('again');
    const inhabit = async () => {
      const workspace = await createWorkspace(bench.consumers, 'root', name);
      const kubeconfig = await grantAdmin(bench.consumers, workspace, 'carol');
      const consumer: Consumer = { user: 'carol', workspace, kubeconfig };
      await bindWithPlugin(consumer, installation, { args: ['--connection=provider', '--name=databases'] });
      return { consumer, account: await accountOf(kubeconfig, bench.provider.kubeconfig) };
    };
    const former = await inhabit();
    await applyDatabase(former.consumer.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 21 });
    const before = await syncedDatabase(former.consumer, 'main');
    await kubectl(former.consumer.kubeconfig, [
      ...['patch', 'kubebindbinding', 'databases', '--type=merge'],
      '--patch={"spec":{"deletionPolicy":"Orphan"}}',
    ]);
    await deleteWorkspace(bench.consumers, former.consumer.workspace);
    const orphan = async () =>
      (await allCopies()).find(({ metadata }) => metadata.uid === before.copy.metadata.uid);
    const left = await orphan();
    expect(left?.spec.sizeGiB).toBe(21);

    const now = await inhabit();
    expect(now.consumer.workspace.cluster).not.toBe(former.consumer.workspace.cluster);
    expect(now.account.identity).not.toBe(former.account.identity);
    expect(now.account.namespace).not.toBe(former.account.namespace);
    await applyDatabase(now.consumer.kubeconfig, 'main', { engine: 'mysql', sizeGiB: 22 });
    const after = await syncedDatabase(now.consumer, 'main');
    expect(after.copy.metadata.uid).not.toBe(before.copy.metadata.uid);
    expect(await orphan()).toEqual(left);
    await deleteWorkspace(bench.consumers, now.consumer.workspace);
    await kubectl(bench.provider.kubeconfig, [
      ...['delete', 'database', 'main', '-n', before.copy.metadata.namespace, '--wait=false'],
    ]);
  });
});

function secretWith(name: string, kubeconfig: string): object {
  const metadata = { name, namespace: 'default', labels: LABELS };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { kubeconfig } };
}

function connectionBySecret(name: string): object {
  const spec = { kubeconfigSecretRef: { namespace: 'default', name } };
  return { apiVersion: OURS, kind: 'KubeBindConnection', metadata: { name }, spec };
}

function list(...items: readonly object[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
