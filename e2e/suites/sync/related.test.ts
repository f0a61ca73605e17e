import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { readBench } from '../../harness/bench.js';
import { bindClient } from '../../harness/client-binding.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { readCondition, type SeenCondition } from '../../harness/conditions.js';
import {
  allCopies,
  applyDatabase,
  createConsumer,
  syncedDatabase,
  type Consumer,
  type Database,
} from '../../harness/consumer.js';
import { createContractAccount, type ContractAccount } from '../../harness/contract-account.js';
import { kubectl, runKubectl } from '../../harness/kubectl.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';
import {
  applyRelated,
  bindWithAccount,
  deleteRelated,
  digests,
  exportWithClaims,
  readRelated,
  setClaims,
  type RelatedObject,
  type RelatedResource,
} from './related-parts.js';

/** All bytes, nothing, and as much as a Secret may hold with room for the rest. */
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64');
const BIG = Buffer.alloc(700 * 1024, 'x').toString('base64');

const CLAIMS = [
  {
    group: '',
    resource: 'secrets',
    selector: {
      labelSelector: { matchLabels: { share: 'yes' } },
      references: [
        { group: 'example.org', resource: 'databases', jsonPath: { name: 'spec.parameters.secretName' } },
        {
          group: 'example.org',
          resource: 'databases',
          jsonPath: { name: 'spec.parameters.backupSecret', namespace: 'spec.parameters.backupNamespace' },
        },
      ],
    },
  },
  {
    group: '',
    resource: 'configmaps',
    selector: { namedResources: [{ name: 'settings', namespace: 'default' }] },
  },
  { group: '', resource: 'serviceaccounts', selector: { labelSelector: { matchLabels: { share: 'yes' } } } },
];

/** The copy of that workspace's object `held`. */
function isHeld({ name, annotations = {} }: Database['metadata'], cluster: string): boolean {
  return name === 'held' && annotations['kcp.kube-bind.io/cluster'] === cluster;
}

describe('related resources', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('related')}`;
  const name = 'databases';
  let installation: ClientInstallation;
  let controller: Controller;
  let alice: Consumer;
  let account: ContractAccount;
  /** The provider's namespace for Alice's `default`. */
  let mapped: string;

  const here = (resource: RelatedResource, object: string) =>
    readRelated(alice.kubeconfig, resource, object, 'default');
  const there = (resource: RelatedResource, object: string) =>
    readRelated(bench.provider.kubeconfig, resource, object, mapped);
  const share = { share: 'yes' };
  const onProvider = async (
    resource: RelatedResource,
    object: string,
    accept: (copy: RelatedObject) => boolean = () => true,
  ) =>
    waitFor(
      async () => {
        const copy = await there(resource, object);
        return copy !== undefined && accept(copy) && copy;
      },
      { what: `${resource} ${object} on the provider`, timeout: 120_000, interval: 250 },
    );
  const inWorkspace = async (
    resource: RelatedResource,
    object: string,
    accept: (copy: RelatedObject) => boolean = () => true,
  ) =>
    waitFor(
      async () => {
        const copy = await here(resource, object);
        return copy !== undefined && accept(copy) && copy;
      },
      { what: `${resource} ${object} in the workspace`, timeout: 120_000, interval: 250 },
    );
  const goneFromProvider = (resource: RelatedResource, object: string) =>
    waitFor(async () => (await there(resource, object)) === undefined, {
      what: `${resource} ${object} to go from the provider`,
      timeout: 120_000,
      interval: 250,
    });

  const condition = async (type: string, accept: (condition: SeenCondition) => boolean) => {
    let seen: SeenCondition | undefined;
    return waitFor(
      async () => {
        seen = await readCondition(alice.kubeconfig, 'kubebindbinding', name, type);
        return seen !== undefined && accept(seen) && seen;
      },
      { what: `condition ${type}`, timeout: 120_000, interval: 250 },
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}; it says ${JSON.stringify(seen)}`);
    });
  };

  beforeAll(async () => {
    [installation, alice, account] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
      createContractAccount(uniqueName('related')),
    ]);
    controller = await startController({ installation, dir });
    await bindClient(alice.kubeconfig, installation);
    await exportWithClaims(account, name, CLAIMS);
    await bindWithAccount(alice, account, {
      name,
      claims: { secrets: 'Accepted', serviceaccounts: 'Accepted' },
    });
    await condition('Ready', (each) => each.status === 'True');
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres' });
    const { copy } = await syncedDatabase(alice, 'main');
    mapped = copy.metadata.namespace;
  });

  afterAll(async () => {
    await controller.stop();
  });

  it('brings a Secret of the provider into the workspace, byte for byte, and keeps it so', async () => {
    await applyRelated(bench.provider.kubeconfig, {
      kind: 'Secret',
      name: 'from-provider',
      namespace: mapped,
      labels: { ...share, 'helm.sh/chart': 'x' },
      data: { bytes: BYTES, empty: '', big: BIG, __proto__x: 'eA==' },
    });
    const copy = await inWorkspace('secret', 'from-provider');
    const original = await there('secret', 'from-provider');
    expect(digests(copy.data)).toEqual(digests(original?.data));
    expect(Object.keys(copy.data ?? {})).toHaveLength(4);
    expect(copy.metadata.labels).toMatchObject({ share: 'yes', 'kube-bind.io/owner': 'provider' });
    expect(copy.metadata.labels).not.toHaveProperty(['helm.sh/chart']);
    // Nothing is ever written on an original.
    expect(Object.keys(original?.metadata.annotations ?? {})).toEqual(['kcp.io/cluster']);
    expect(original?.metadata.labels).toEqual({ ...share, 'helm.sh/chart': 'x' });

    await kubectl(alice.kubeconfig, [
      'patch',
      'secret',
      'from-provider',
      '-n',
      'default',
      '--type=merge',
      '-p',
      '{"data":{"empty":"eA=="}}',
    ]);
    await inWorkspace('secret', 'from-provider', (each) => each.data?.['empty'] === '');
    await deleteRelated(alice.kubeconfig, 'secret', 'from-provider', 'default');
    await inWorkspace('secret', 'from-provider', (each) => each.metadata.uid !== copy.metadata.uid);
  });

  it('takes the copy away when the provider deletes the original', async () => {
    await deleteRelated(bench.provider.kubeconfig, 'secret', 'from-provider', mapped);
    await waitFor(async () => (await here('secret', 'from-provider')) === undefined, {
      what: 'the copy in the workspace to go',
      timeout: 120_000,
    });
  });

  it('sends a Secret that a label selects, an update of it, and its end', async () => {
    await applyRelated(alice.kubeconfig, {
      kind: 'Secret',
      name: 'labelled',
      namespace: 'default',
      labels: share,
      data: { a: BYTES, gone: 'eA==' },
    });
    const copy = await onProvider('secret', 'labelled');
    const original = await here('secret', 'labelled');
    expect(digests(copy.data)).toEqual(digests(original?.data));
    expect(copy.metadata.annotations).toMatchObject({
      'kube-bind.io/consumer-namespace': 'default',
      'kube-bind.io/consumer-uid': original?.metadata.uid,
    });
    expect(copy.metadata.labels).toMatchObject({ 'kube-bind.io/owner': 'consumer' });
    expect(Object.keys(copy.metadata.labels ?? {}).filter((key) => key.includes('kcp.io'))).toEqual([]);
    expect(original?.metadata.finalizers).toBeUndefined();
    // kcp marks what a claim shows; nothing of ours is on it.
    const labels = Object.keys(original?.metadata.labels ?? {});
    expect(labels.filter((key) => !key.startsWith('claimed.internal.apis.kcp.io/'))).toEqual(['share']);

    await applyRelated(alice.kubeconfig, {
      kind: 'Secret',
      name: 'labelled',
      namespace: 'default',
      labels: { ...share, more: 'x' },
      data: { a: 'Yg==' },
    });
    const next = await onProvider('secret', 'labelled', (each) => each.data?.['a'] === 'Yg==');
    expect(next.data).toEqual({ a: 'Yg==' });
    expect(next.metadata.labels).toMatchObject({ more: 'x' });
    await kubectl(alice.kubeconfig, ['label', 'secret', 'labelled', '-n', 'default', 'share-']);
    await goneFromProvider('secret', 'labelled');
    await kubectl(alice.kubeconfig, ['label', 'secret', 'labelled', '-n', 'default', 'share=yes']);
    await onProvider('secret', 'labelled');
    await deleteRelated(alice.kubeconfig, 'secret', 'labelled', 'default');
    await goneFromProvider('secret', 'labelled');
  });

  it('sends a ServiceAccount without what is its own server’s', async () => {
    await applyRelated(alice.kubeconfig, {
      kind: 'ServiceAccount',
      name: 'runner',
      namespace: 'default',
      labels: share,
      imagePullSecrets: [{ name: 'registry' }],
      secrets: [{ name: 'token' }],
    });
    const copy = await onProvider('serviceaccount', 'runner');
    expect(copy.imagePullSecrets).toEqual([{ name: 'registry' }]);
    expect(copy).not.toHaveProperty('secrets');
  });

  it('never moves the kubeconfig of a connection, though a claim selects it', async () => {
    expect((await here('secret', 'provider-kubeconfig'))?.metadata.labels).toMatchObject(share);
    // What is selected and younger has long arrived.
    await applyRelated(alice.kubeconfig, {
      kind: 'Secret',
      name: 'marker',
      namespace: 'default',
      labels: share,
    });
    await onProvider('secret', 'marker');
    expect(await there('secret', 'provider-kubeconfig')).toBeUndefined();
  });

  it('keeps a Secret that two objects refer to until the second one is deleted', async () => {
    await applyRelated(alice.kubeconfig, {
      kind: 'Secret',
      name: 'shared',
      namespace: 'default',
      data: { a: 'YQ==' },
    });
    expect(await there('secret', 'shared')).toBeUndefined();
    const parameters = { secretName: 'shared' };
    await applyDatabase(alice.kubeconfig, 'one', { engine: 'mysql', parameters });
    await applyDatabase(alice.kubeconfig, 'two', { engine: 'mysql', parameters });
    const copy = await onProvider('secret', 'shared');
    await kubectl(alice.kubeconfig, ['delete', 'database', 'one', '-n', 'default', '--timeout=60s']);
    await staysTrue(async () => (await there('secret', 'shared'))?.metadata.uid === copy.metadata.uid, {
      what: 'the shared Secret is there',
      ms: 4000,
    });
    await kubectl(alice.kubeconfig, ['delete', 'database', 'two', '-n', 'default', '--timeout=60s']);
    await goneFromProvider('secret', 'shared');
    expect(await here('secret', 'shared')).toBeDefined();
  });

  it('follows a change of type, and an immutable Secret that is replaced', async () => {
    const tls = { 'tls.crt': 'YQ==', 'tls.key': 'Yg==' };
    await applyRelated(alice.kubeconfig, {
      kind: 'Secret',
      name: 'changing',
      namespace: 'default',
      labels: share,
      data: tls,
    });
    const opaque = await onProvider('secret', 'changing', (each) => each.type === 'Opaque');
    await deleteRelated(alice.kubeconfig, 'secret', 'changing', 'default');
    await applyRelated(alice.kubeconfig, {
      kind: 'Secret',
      name: 'changing',
      namespace: 'default',
      labels: share,
      data: tls,
      type: 'kubernetes.io/tls',
      immutable: true,
    });
    const typed = await onProvider('secret', 'changing', (each) => each.type === 'kubernetes.io/tls');
    expect(typed.immutable).toBe(true);
    expect(typed.metadata.uid).not.toBe(opaque.metadata.uid);
    await deleteRelated(alice.kubeconfig, 'secret', 'changing', 'default');
    await applyRelated(alice.kubeconfig, {
      kind: 'Secret',
      name: 'changing',
      namespace: 'default',
      labels: share,
      data: { ...tls, 'tls.key': 'Yw==' },
      type: 'kubernetes.io/tls',
      immutable: true,
    });
    await onProvider('secret', 'changing', (each) => each.data?.['tls.key'] === 'Yw==');
  });

  it('leaves a foreign object of the same name alone on both sides, and says so', async () => {
    await applyRelated(bench.provider.kubeconfig, {
      kind: 'Secret',
      name: 'twin',
      namespace: mapped,
      data: { whose: 'cHJvdmlkZXI=' },
    });
    await applyRelated(alice.kubeconfig, {
      kind: 'Secret',
      name: 'twin',
      namespace: 'default',
      labels: share,
      data: { whose: 'YWxpY2U=' },
    });
    const [mine, theirs] = await Promise.all([here('secret', 'twin'), there('secret', 'twin')]);
    const syncing = await condition('Syncing', (each) => each.reason === 'Conflict');
    expect(syncing.message).toContain('default/twin');
    await waitFor(
      async () => {
        const events = await kubectl(alice.kubeconfig, ['get', 'events', '-n', 'default', '-o', 'json']);
        return events.includes('"Conflict"') && events.includes('"twin"');
      },
      { what: 'an event on the Secret' },
    );
    expect(await here('secret', 'twin')).toEqual(mine);
    expect(await there('secret', 'twin')).toEqual(theirs);
    await deleteRelated(bench.provider.kubeconfig, 'secret', 'twin', mapped);
    await onProvider('secret', 'twin', (each) => each.data?.['whose'] === 'YWxpY2U=');
    await condition('Syncing', (each) => each.status === 'True');
  });

  it('says where a reference leads nowhere on the provider, and copies all the same', async () => {
    await kubectl(alice.kubeconfig, ['create', 'namespace', 'backups']);
    await applyRelated(alice.kubeconfig, {
      kind: 'Secret',
      name: 'target',
      namespace: 'backups',
      data: { a: 'YQ==' },
    });
    await applyDatabase(alice.kubeconfig, 'backed-up', {
      engine: 'mysql',
      parameters: { backupSecret: 'target', backupNamespace: 'backups' },
    });
    await waitFor(
      async () => {
        const all = await kubectl(bench.provider.kubeconfig, [
          'get',
          'secrets',
          '-A',
          '-o',
          'name',
          '--field-selector=metadata.name=target',
        ]);
        return all.includes('target');
      },
      { what: 'the referenced Secret on the provider', timeout: 120_000 },
    );
    const syncing = await condition('Syncing', (each) => each.message.includes('default/backed-up'));
    expect(syncing.status).toBe('True');
    await kubectl(alice.kubeconfig, ['delete', 'database', 'backed-up', '-n', 'default', '--timeout=60s']);
  });

  it('waits while a namespace of the workspace ends, and goes on when there is one again', async () => {
    const closing = ['-n', 'closing'];
    await kubectl(alice.kubeconfig, ['create', 'namespace', 'closing']);
    await applyDatabase(alice.kubeconfig, 'held', { engine: 'mysql' }, { namespace: 'closing' });
    const copy = await waitFor(
      async () => (await allCopies()).find(({ metadata }) => isHeld(metadata, alice.workspace.cluster)),
      { what: 'the copy in another namespace', timeout: 60_000 },
    );
    const at = [copy.metadata.name, '-n', copy.metadata.namespace];
    const finalizers = (names: string[]) =>
      kubectl(bench.provider.kubeconfig, [
        ...['patch', 'database.example.org', ...at, '--type=merge', '-p'],
        JSON.stringify({ metadata: { finalizers: names } }),
      ]);
    await finalizers(['example.org/teardown']);
    await kubectl(alice.kubeconfig, ['delete', 'namespace', 'closing', '--wait=false']);
    await waitFor(
      async () =>
        (await kubectl(alice.kubeconfig, ['get', 'database', 'held', ...closing, '-o', 'json'])).includes(
          'deletionTimestamp',
        ),
      { what: 'the namespace to end', timeout: 60_000 },
    );
    await applyRelated(bench.provider.kubeconfig, {
      kind: 'Secret',
      name: 'late',
      namespace: copy.metadata.namespace,
      labels: share,
      data: { a: 'YQ==' },
    });
    const said = await condition('Syncing', (each) => each.status === 'False');
    expect(said.message).toMatch(/being terminated/);
    await finalizers([]);
    await waitFor(
      async () => (await runKubectl(alice.kubeconfig, ['get', 'namespace', 'closing'])).code !== 0,
      { what: 'the namespace to have ended', timeout: 120_000 },
    );
    await kubectl(alice.kubeconfig, ['create', 'namespace', 'closing']);
    await waitFor(() => readRelated(alice.kubeconfig, 'secret', 'late', 'closing'), {
      what: 'the Secret in the new namespace',
      timeout: 120_000,
    });
    await condition('Syncing', (each) => each.status === 'True');
  });

  it('moves nothing of a claim that was not accepted, until it is', async () => {
    await applyRelated(alice.kubeconfig, {
      kind: 'ConfigMap',
      name: 'settings',
      namespace: 'default',
      data: { a: 'b' },
    });
    await applyRelated(alice.kubeconfig, {
      kind: 'ConfigMap',
      name: 'other',
      namespace: 'default',
      data: { a: 'b' },
    });
    await applyRelated(alice.kubeconfig, {
      kind: 'Secret',
      name: 'later',
      namespace: 'default',
      labels: share,
    });
    await onProvider('secret', 'later');
    expect(await there('configmap', 'settings')).toBeUndefined();
    const claims = await readCondition(alice.kubeconfig, 'kubebindbinding', name, 'PermissionClaimsAccepted');
    expect(claims?.message).toContain('configmaps');
    await setClaims(alice, name, {
      secrets: 'Accepted',
      serviceaccounts: 'Accepted',
      configmaps: 'Accepted',
    });
    const copy = await onProvider('configmap', 'settings');
    expect(copy.data).toEqual({ a: 'b' });
    expect(await there('configmap', 'other')).toBeUndefined();
  });

  it('stops when consent is withdrawn, keeps and lists the copies, and goes on when it is given again', async () => {
    await onProvider('secret', 'marker');
    await setClaims(alice, name, {
      secrets: 'Rejected',
      serviceaccounts: 'Accepted',
      configmaps: 'Accepted',
    });
    const syncing = await condition('Syncing', (each) => each.message.includes('no consent to Secret'));
    expect(syncing.message).toContain(`${mapped}/marker on the provider`);
    await applyRelated(alice.kubeconfig, {
      kind: 'Secret',
      name: 'marker',
      namespace: 'default',
      labels: share,
      data: { a: 'YQ==' },
    });
    await deleteRelated(alice.kubeconfig, 'secret', 'later', 'default');
    await staysTrue(
      async () => {
        const [marker, later] = await Promise.all([there('secret', 'marker'), there('secret', 'later')]);
        return marker !== undefined && marker.data === undefined && later !== undefined;
      },
      { what: 'copies are left as they are', ms: 10_000, interval: 500 },
    );
    await setClaims(alice, name, {
      secrets: 'Accepted',
      serviceaccounts: 'Accepted',
      configmaps: 'Accepted',
    });
    await onProvider('secret', 'marker', (each) => each.data?.['a'] === 'YQ==');
    await goneFromProvider('secret', 'later');
  });

  it('moves nothing of a claim that selects nothing, in either direction', async () => {
    const [bob, other] = await Promise.all([
      createConsumer('bob'),
      createContractAccount(uniqueName('related')),
    ]);
    await bindClient(bob.kubeconfig, installation);
    // Agreed to by the user, and asking for everything, or for nothing, as one may read it.
    await exportWithClaims(other, name, [
      { group: '', resource: 'secrets', selector: {} },
      { group: '', resource: 'configmaps', selector: { labelSelector: {} } },
      { group: '', resource: 'serviceaccounts', selector: { namedResources: [], references: [] } },
    ]);
    await bindWithAccount(bob, other, {
      name,
      claims: { secrets: 'Accepted', configmaps: 'Accepted', serviceaccounts: 'Accepted' },
    });
    const everywhere = [
      { kind: 'Secret', resource: 'secret' },
      { kind: 'ConfigMap', resource: 'configmap' },
      { kind: 'ServiceAccount', resource: 'serviceaccount' },
    ] as const;
    for (const { kind } of everywhere)
      await applyRelated(bob.kubeconfig, { kind, name: 'mine', namespace: 'default', labels: share });
    const served = async () => {
      await applyDatabase(bob.kubeconfig, 'main', { engine: 'mysql' });
      return true;
    };
    await waitFor(served, { what: 'the API' });
    const { namespace } = (await syncedDatabase(bob, 'main')).copy.metadata;
    for (const { kind } of everywhere)
      await applyRelated(bench.provider.kubeconfig, { kind, name: 'theirs', namespace, labels: share });
    await applyDatabase(bob.kubeconfig, 'later', { engine: 'mysql' });
    await syncedDatabase(bob, 'later');
    await staysTrue(
      async () => {
        const copies = await Promise.all(
          everywhere.flatMap(({ resource }) => [
            readRelated(bench.provider.kubeconfig, resource, 'mine', namespace),
            readRelated(bob.kubeconfig, resource, 'theirs', 'default'),
          ]),
        );
        return copies.every((copy) => copy === undefined);
      },
      { what: 'that nothing moves', ms: 5000, interval: 1000 },
    );
    await kubectl(bob.kubeconfig, ['delete', 'kubebindbinding', name, '--timeout=90s']);
  });

  it('takes all copies away on both sides when the binding is deleted, and no original', async () => {
    await applyRelated(bench.provider.kubeconfig, {
      kind: 'Secret',
      name: 'last',
      namespace: mapped,
      labels: share,
      data: { a: 'YQ==' },
    });
    await inWorkspace('secret', 'last');
    // Keeps the provider's namespace, so that what is left in it can be seen.
    await kubectl(bench.provider.kubeconfig, ['create', '-n', mapped, '-f', '-'], {
      input: JSON.stringify({
        apiVersion: 'example.org/v1',
        kind: 'Database',
        metadata: { name: 'providers-own' },
        spec: { engine: 'mysql' },
      }),
    });
    const originals = ['marker', 'twin', 'changing', 'provider-kubeconfig'];
    await kubectl(alice.kubeconfig, ['delete', 'kubebindbinding', name, '--timeout=90s']);
    const ours = '-l=kcp.kube-bind.io/binding-uid';
    for (const resource of ['secrets', 'configmaps', 'serviceaccounts']) {
      expect(
        await kubectl(bench.provider.kubeconfig, ['get', resource, '-n', mapped, ours, '-o', 'name']),
      ).toBe('');
      expect(await kubectl(alice.kubeconfig, ['get', resource, '-A', ours, '-o', 'name'])).toBe('');
    }
    expect(await there('secret', 'last')).toBeDefined();
    for (const each of originals) expect(await here('secret', each)).toBeDefined();
    const { stdout } = await runKubectl(alice.kubeconfig, ['get', 'secrets', '-n', 'default', '-o', 'name']);
    expect(stdout).not.toContain('secret/last');
    await kubectl(bench.provider.kubeconfig, [
      'delete',
      'database.example.org',
      'providers-own',
      '-n',
      mapped,
    ]);
  });
});
