import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';

import { readBench } from '../../harness/bench.js';
import { bindClient } from '../../harness/client-binding.js';
import { conditionWith } from '../../harness/conditions.js';
import {
  allCopies,
  applyDatabase,
  createConsumer,
  syncedDatabase,
  type Consumer,
  type Database,
} from '../../harness/consumer.js';
import {
  createContractAccount,
  exportDatabases,
  type ContractAccount,
} from '../../harness/contract-account.js';
import { startCrashRig, type CrashRig } from '../../harness/crash-rig.js';
import { CHANGES } from '../../harness/crash-steps.js';
import { apply, kubectl } from '../../harness/kubectl.js';
import { madeForTenants } from '../../harness/leftovers.js';
import { waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';

type Act = keyof typeof CHANGES;

interface ApiBinding {
  metadata: { name: string };
  spec: { permissionClaims?: { resource: string; state: string }[] };
  status?: { boundResources?: { schema: { name: string } }[] };
}

/** One life of a binding in which everything that may change does, and the controller is killed around it. */
describe('a controller that is killed around every step of a change', () => {
  const shared = readBench();
  const played = new Map<Act, readonly string[]>();
  let rig: CrashRig | undefined;
  let alice: Consumer;
  let account: ContractAccount;

  beforeAll(async () => {
    [rig, alice] = await Promise.all([
      startCrashRig(shared, `${shared.dir}/${uniqueName('crash-changes')}`),
      createConsumer('alice'),
    ]);
    const { bench } = rig;
    // A backend that has just started lets nobody bind for a moment.
    account = await waitFor(() => createContractAccount('kubeconfig', bench), { what: 'an account' });
    const request = {
      permissionClaims: [{ resource: 'secrets', selector: { labelSelector: { matchLabels: { a: 'b' } } } }],
      schemaUpdatePolicy: 'Always',
    };
    await exportDatabases(account, 'databases', request, bench);
    await bindClient(alice.kubeconfig, rig.installation, { rejected: ['apibindings'] });
  });

  afterAll(async () => {
    await rig?.stop();
  });

  function running(): CrashRig {
    if (rig === undefined) throw new Error('the rig did not start');
    return rig;
  }

  /** Does something while the controller is killed around the act's steps, and waits for all the kills. */
  async function play(act: Act, change: () => Promise<unknown>): Promise<void> {
    const { killAround, killed } = running();
    killAround(CHANGES[act]);
    await change();
    played.set(act, await killed());
  }

  it('takes a kubeconfig', async () => {
    await play('takes a kubeconfig', async () => {
      await offerKubeconfig(account.kubeconfig);
      await apply(
        alice.kubeconfig,
        stringify({
          apiVersion: 'kcp.kube-bind.io/v1alpha1',
          kind: 'KubeBindConnection',
          metadata: { name: 'provider' },
          spec: { kubeconfigSecretRef: { namespace: 'default', name: 'provider' } },
        }),
      );
    });
    await conditionWith(alice.kubeconfig, 'kubebindconnection', 'provider', {
      type: 'Ready',
      reason: 'Ready',
    });
  });

  it('lets a user bind where it may not bind itself', async () => {
    await play('binds where it may not bind', () =>
      apply(
        alice.kubeconfig,
        stringify({
          apiVersion: 'kcp.kube-bind.io/v1alpha1',
          kind: 'KubeBindBinding',
          metadata: { name: 'databases' },
          spec: { connection: 'provider', template: 'databases' },
        }),
      ),
    );
    const { message } = await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', {
      type: 'APIBound',
      reason: 'ClaimMissing',
    });
    const advice = message.slice(message.indexOf('apiVersion:'));
    await waitFor(() => apply(alice.kubeconfig, advice), { what: 'the YAML of the condition to be taken' });
    await isReady();
    await expectSynced(11);
    expect(await bindRoles()).toHaveLength(2);
  });

  it('takes the right to bind back when it may bind itself', async () => {
    await play('may bind from now on', () => bindClient(alice.kubeconfig, running().installation));
    await waitFor(async () => (await bindRoles()).length === 0, {
      what: 'role and role binding of users to be gone',
      timeout: 30_000,
    });
    await isReady();
    await expectSynced(12);
  });

  it('gets to a claim that was accepted', async () => {
    await play('gets a claim', () => consent('Accepted'));
    await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', {
      type: 'PermissionClaimsAccepted',
      reason: 'Accepted',
    });
    expect(await claims()).toEqual(['apibindings Accepted', 'namespaces Accepted', 'secrets Accepted']);
    await isReady();
    await expectSynced(13);
  });

  it('lets go of a claim that was taken back', async () => {
    await play('loses a claim', () => consent('Rejected'));
    await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', {
      type: 'PermissionClaimsAccepted',
      reason: 'NotAccepted',
    });
    expect(await claims()).toEqual(['apibindings Accepted']);
    await isReady();
    await expectSynced(14);
  });

  it('gets to another schema, and the former one goes', async () => {
    const former = await schemas();
    expect(former).toHaveLength(1);
    const field = {
      op: 'add',
      path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/backups',
      value: { type: 'integer' },
    };
    await play('gets another schema', () =>
      kubectl(running().bench.provider.kubeconfig, [
        'patch',
        'crd',
        'databases.example.org',
        '--type=json',
        `--patch=${JSON.stringify([field])}`,
      ]),
    );
    const now = await waitFor(
      async () => {
        const names = await schemas();
        return names.length === 1 && names;
      },
      { what: 'the former schema to be gone', timeout: 30_000 },
    );
    expect(now).not.toEqual(former);
    const bound = (await generatedBinding()).status?.boundResources?.map(({ schema }) => schema.name);
    expect(bound).toEqual(now);
    await isReady();
    await expectSynced(15);
    await expectField('backups');
  });

  it('goes on with other credentials', async () => {
    const { kubeconfig } = running().bench.provider;
    const { namespace } = account;
    const token = await kubectl(kubeconfig, ['create', 'token', 'kube-binder', '-n', namespace]);
    const config = parse(account.kubeconfig) as { users: { user: { token: string } }[] };
    for (const { user } of config.users) user.token = token.trim();
    await play('gets other credentials', () => offerKubeconfig(stringify(config)));
    await isReady();
    await expectSynced(16);
  });

  it('leaves nothing behind after unbind', async () => {
    const { bench, installation } = running();
    await play('unbinds', () =>
      kubectl(alice.kubeconfig, ['delete', 'kubebindbinding', 'databases', '--wait=false']),
    );
    await kubectl(alice.kubeconfig, ['wait', '--for=delete', '--timeout=90s', 'kubebindbinding/databases']);
    await kubectl(alice.kubeconfig, ['delete', 'kubebindconnection', 'provider', '--timeout=60s']);
    expect(await allCopies(bench)).toEqual([]);
    expect(await madeForTenants(installation)).toEqual([]);
    expect(await kubectl(alice.kubeconfig, ['get', 'apibindings', '-o', 'name'])).not.toContain('kbb-');
  });

  it('was killed before and after every step of the table', () => {
    for (const [act, steps] of Object.entries(CHANGES)) {
      const kills = steps.flatMap((step) => [`${step} before`, `${step} after`]).sort();
      expect([act, [...(played.get(act as Act) ?? [])].sort()]).toEqual([act, kills]);
    }
  });

  function offerKubeconfig(kubeconfig: string): Promise<string> {
    const metadata = {
      name: 'provider',
      namespace: 'default',
      labels: { 'kcp.kube-bind.io/credentials': 'true' },
    };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { kubeconfig } };
    return apply(alice.kubeconfig, stringify(secret));
  }

  function consent(state: 'Accepted' | 'Rejected'): Promise<string> {
    const spec = { permissionClaims: [{ group: '', resource: 'secrets', state }] };
    return kubectl(alice.kubeconfig, [
      'patch',
      'kubebindbinding',
      'databases',
      '--type=merge',
      `--patch=${JSON.stringify({ spec })}`,
    ]);
  }

  async function isReady(): Promise<void> {
    const ready = { type: 'Ready', reason: 'Ready' };
    await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', ready);
    await conditionWith(alice.kubeconfig, 'kubebindconnection', 'provider', ready);
  }

  /** A new object or a change of the one there is goes up, and its status comes down; its copy stays the only one. */
  async function expectSynced(sizeGiB: number): Promise<void> {
    await waitFor(
      () => applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB }).then(() => true),
      { what: 'the API to be served', timeout: 60_000 },
    );
    const same = (object: Database, copy: Database) =>
      copy.spec.sizeGiB === sizeGiB && object.status?.sizeGiB === sizeGiB;
    await syncedDatabase(alice, 'main', same, running().bench);
    expect(await allCopies(running().bench)).toHaveLength(1);
  }

  async function expectField(name: string): Promise<void> {
    let value = 0;
    // kcp serves a new schema a moment after it says that it is bound, and drops the field until then.
    await waitFor(
      async () => {
        value += 1;
        const patch = JSON.stringify({ spec: { [name]: value } });
        await kubectl(alice.kubeconfig, ['patch', 'database', 'main', '--type=merge', `--patch=${patch}`]);
        return await waitFor(
          async () => {
            const [copy] = await allCopies(running().bench);
            return (copy?.spec as Record<string, unknown> | undefined)?.[name] === value;
          },
          { what: 'the value', timeout: 3000, interval: 250 },
        );
      },
      { what: `field ${name} on the copy`, timeout: 60_000 },
    );
  }

  async function generatedBinding(): Promise<ApiBinding> {
    const text = await kubectl(alice.kubeconfig, ['get', 'apibindings', '-o', 'json']);
    const { items } = JSON.parse(text) as { items: ApiBinding[] };
    const found = items.find(({ metadata }) => metadata.name.startsWith('kbb-'));
    if (found === undefined) throw new Error('there is no generated APIBinding');
    return found;
  }

  async function claims(): Promise<string[]> {
    const { spec } = await generatedBinding();
    return (spec.permissionClaims ?? []).map(({ resource, state }) => `${resource} ${state}`).sort();
  }

  async function schemas(): Promise<string[]> {
    const made = await madeForTenants(running().installation);
    return made.flatMap((name) => /^apiresourceschema\.apis\.kcp\.io\/(.*)$/.exec(name)?.[1] ?? []);
  }

  async function bindRoles(): Promise<string[]> {
    return (await madeForTenants(running().installation)).filter((name) => /clusterrole.*-bind$/.test(name));
  }
});
