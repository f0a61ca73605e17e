import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';

import { writesSince } from '../../harness/audit-log.js';
import { readBench } from '../../harness/bench.js';
import type { Child } from '../../harness/child.js';
import { bindClient } from '../../harness/client-binding.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { conditionWith, readCondition } from '../../harness/conditions.js';
import {
  allCopies,
  applyDatabase,
  createConsumer,
  readDatabase,
  type Consumer,
  type Database,
} from '../../harness/consumer.js';
import {
  createContractAccount,
  exportDatabases,
  type ContractAccount,
} from '../../harness/contract-account.js';
import { startKonnector } from '../../harness/konnector.js';
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';

const OBJECTS = ['main', 'other'] as const;
/** Where the konnector keeps its credentials, and with which label. */
const SECRET = {
  metadata: {
    name: 'kubeconfig-provider',
    namespace: 'kube-bind',
    labels: { 'kube-bind.io/provider-kubeconfig': 'true' },
  },
};

/** What docs/migration.md says, step by step, with the real konnector. */
describe('a workspace that was served by a konnector', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('migration')}`;
  let installation: ClientInstallation;
  let controller: Controller;
  let konnector: Child;
  let alice: Consumer;
  let account: ContractAccount;
  let copies: Database[];
  let saved: object[];

  const run = (...args: readonly string[]) => kubectl(alice.kubeconfig, args);
  const copiesNow = async () =>
    (await allCopies()).filter(({ metadata }) => metadata.namespace.startsWith(account.namespace));

  beforeAll(async () => {
    [installation, alice, account] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
      createContractAccount(uniqueName('konnector')),
    ]);
    await exportDatabases(account, 'databases');
    await run('create', 'namespace', 'kube-bind');
    await apply(
      alice.kubeconfig,
      stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        ...SECRET,
        stringData: { kubeconfig: account.kubeconfig },
      }),
    );
    konnector = await startKonnector({ kubeconfig: alice.kubeconfig, dir });
    await waitFor(() => run('get', 'apiservicebindings.kube-bind.io'), { what: "the konnector's CRDs" });
    const { name, namespace } = SECRET.metadata;
    await apply(
      alice.kubeconfig,
      stringify({
        apiVersion: 'kube-bind.io/v1alpha2',
        kind: 'APIServiceBinding',
        metadata: { name: 'databases' },
        spec: { kubeconfigSecretRef: { name, namespace, key: 'kubeconfig' } },
      }),
    );
    for (const each of OBJECTS)
      await waitFor(
        () => applyDatabase(alice.kubeconfig, each, { engine: 'postgres', sizeGiB: 41 }).then(() => true),
        {
          what: 'the CRD of the konnector',
          interval: 500,
        },
      );
    for (const each of OBJECTS)
      await waitFor(async () => (await readDatabase(alice.kubeconfig, each))?.status?.phase === 'Running', {
        what: `the konnector to sync ${each}`,
        interval: 500,
      });
    copies = await copiesNow();
    controller = await startController({ installation, dir });
    await bindClient(alice.kubeconfig, installation);
  });

  afterAll(async () => {
    await konnector.stop();
    await controller.stop();
  });

  it('is refused while the konnector lives, which goes on', async () => {
    expect(copies.map(({ metadata }) => metadata.name).sort()).toEqual([...OBJECTS].sort());
    const began = Date.now();
    await run(
      ...['label', 'secret', '-n', 'kube-bind', SECRET.metadata.name, 'kcp.kube-bind.io/credentials=true'],
    );
    await apply(
      alice.kubeconfig,
      [
        {
          apiVersion: 'kcp.kube-bind.io/v1alpha1',
          kind: 'KubeBindConnection',
          metadata: { name: 'provider' },
          spec: { kubeconfigSecretRef: { namespace: 'kube-bind', name: SECRET.metadata.name } },
        },
        {
          apiVersion: 'kcp.kube-bind.io/v1alpha1',
          kind: 'KubeBindBinding',
          metadata: { name: 'databases' },
          spec: { connection: 'provider', template: 'databases', conflictPolicy: 'Adopt' },
        },
      ]
        .map((manifest) => stringify(manifest))
        .join('---\n'),
    );
    const { message } = await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', {
      type: 'Connected',
      reason: 'ForeignKonnector',
    });
    expect(message).toContain(`Secret kube-bind/${SECRET.metadata.name}`);
    expect(message).toContain('Stop it');
    await conditionWith(alice.kubeconfig, 'kubebindconnection', 'provider', {
      type: 'Heartbeating',
      reason: 'ForeignKonnector',
    });
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 42 });
    await waitFor(async () => (await readDatabase(alice.kubeconfig, 'main'))?.status?.sizeGiB === 42, {
      what: 'the konnector to go on',
    });
    const writes = await writesSince(bench.providers.auditLog, began);
    expect(
      writes.filter(
        ({ uri }) => uri.includes(account.namespace) && uri.includes('fieldManager=kcp.kube-bind.io'),
      ),
    ).toEqual([]);
  });

  it('keeps its objects in a file while the API changes hands', async () => {
    await konnector.stop();
    const text = await run('get', 'databases.example.org', '-A', '-o', 'json');
    const { items } = JSON.parse(text) as { items: (Database & object)[] };
    saved = items.map(({ metadata: { name, namespace, labels }, spec }) => ({
      apiVersion: 'example.org/v1',
      kind: 'Database',
      metadata: { name, namespace, ...(labels && { labels }) },
      spec,
    }));
    expect(saved).toHaveLength(OBJECTS.length);
    for (const name of OBJECTS)
      await run(
        ...[
          'patch',
          'database',
          name,
          '-n',
          'default',
          '--type=merge',
          '-p',
          '{"metadata":{"finalizers":null}}',
        ],
      );
    await run('delete', 'apiservicebinding.kube-bind.io', 'databases', '--timeout=60s');
    await run('delete', 'crd', 'databases.example.org', '--ignore-not-found', '--timeout=60s');
    expect((await copiesNow()).map(({ metadata }) => metadata.uid).sort()).toEqual(
      copies.map(({ metadata }) => metadata.uid).sort(),
    );
  });

  it('is served by this client when the konnector has been silent for twice its interval', async () => {
    const stillRefused = await readCondition(alice.kubeconfig, 'kubebindbinding', 'databases', 'Connected');
    expect(stillRefused?.reason).toBe('ForeignKonnector');
    // Instead of waiting for ten minutes.
    const past = new Date(Date.now() - 11 * 60_000).toISOString().replace(/\.\d+Z$/, 'Z');
    await kubectl(bench.provider.kubeconfig, [
      ...['patch', 'clusterbinding.kube-bind.io', 'cluster', '-n', account.namespace, '--subresource=status'],
      ...['--type=merge', '-p', JSON.stringify({ status: { lastHeartbeatTime: past } })],
    ]);
    // kcp v0.28.1 keeps the name of a CRD that has gone; the condition has the command that makes it let go.
    const { message } = await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', {
      type: 'APIBound',
      reason: 'NameConflict',
    });
    const [, command = ''] = /: kubectl (annotate logicalcluster .*)$/.exec(message) ?? [];
    await run(...command.split(' '));
    await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', {
      type: 'Ready',
      reason: 'Ready',
      timeout: 90_000,
    });
  });

  it('has the same copies as before, none of them made anew, when the objects are back', async () => {
    const began = Date.now();
    await waitFor(
      () => apply(alice.kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: saved })),
      {
        what: 'the API to be served',
      },
    );
    for (const name of OBJECTS)
      await applyDatabase(alice.kubeconfig, name, { engine: 'postgres', sizeGiB: 43 });
    for (const name of OBJECTS)
      await waitFor(async () => (await readDatabase(alice.kubeconfig, name))?.status?.sizeGiB === 43, {
        what: `${name} to be served`,
        timeout: 60_000,
      });
    const now = await copiesNow();
    expect(now.map(({ metadata }) => metadata.uid).sort()).toEqual(
      copies.map(({ metadata }) => metadata.uid).sort(),
    );
    for (const { metadata } of now) {
      const object = await readDatabase(alice.kubeconfig, metadata.name);
      expect(metadata.annotations?.['kube-bind.io/consumer-uid']).toBe(object?.metadata.uid);
      expect(object?.metadata.finalizers).toEqual(['kcp.kube-bind.io/syncer']);
      expect(Object.keys(metadata.annotations ?? {})).not.toContain('kcp.io/path');
    }
    const writes = await writesSince(bench.providers.auditLog, began);
    expect(writes.filter(({ uri, verb }) => verb === 'delete' && uri.includes(account.namespace))).toEqual(
      [],
    );
  });

  it('ends clean like any other', async () => {
    await run('delete', 'kubebindbinding', 'databases', '--timeout=90s');
    expect(await copiesNow()).toEqual([]);
    const answer = await runKubectl(alice.kubeconfig, ['get', 'databases.example.org']);
    expect(answer.code).not.toBe(0);
  });
});
