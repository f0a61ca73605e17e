import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { readBench, type Bench } from '../../harness/bench.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { conditionWith } from '../../harness/conditions.js';
import {
  allCopies,
  applyDatabase,
  bindWithPlugin,
  createConsumer,
  readDatabase,
  syncedDatabase,
  type Consumer,
  type Database,
} from '../../harness/consumer.js';
import { startKcp, type Kcp } from '../../harness/kcp.js';
import { kubectl } from '../../harness/kubectl.js';
import { startOwnProvider, type ExampleApi, type OwnProvider } from '../../harness/own-provider.js';
import { waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';

const always = ({ template }: ExampleApi) => {
  template.spec['schemaUpdatePolicy'] = 'Always';
};
const specFields = ({ crd }: ExampleApi) =>
  crd.spec.versions[0]?.schema.openAPIV3Schema.properties.spec.properties ?? {};

/** Two workspaces that bind the same API, on a kcp of their own that may be restarted. */
describe('a schema that changes at the provider', () => {
  const shared = readBench();
  const dir = `${shared.dir}/${uniqueName('schema')}`;
  let kcp: Kcp | undefined;
  let provider: OwnProvider | undefined;
  let controller: Controller | undefined;
  let bench: Bench;
  let installation: ClientInstallation;
  let alice: Consumer;
  let bob: Consumer;
  let before: { ours: Database; theirs: Database; copies: string[] };

  const both = () => [alice, bob] as const;
  const synced = (consumer: Consumer, accept?: (object: Database, copy: Database) => boolean) =>
    syncedDatabase(consumer, 'main', accept, bench);
  const uidsOfCopies = async () => (await allCopies(bench)).map(({ metadata }) => metadata.uid).sort();
  const names = async (consumer: Consumer) =>
    (await kubectl(consumer.kubeconfig, ['get', 'databases', '-A', '-o', 'jsonpath={..metadata.name}']))
      .split(' ')
      .sort();
  const uid = async (consumer: Consumer) => (await readDatabase(consumer.kubeconfig, 'main'))?.metadata.uid;
  const schemaOf = async (consumer: Consumer) => {
    const text = await kubectl(consumer.kubeconfig, ['get', 'apibindings', '-o', 'json']);
    const { items } = JSON.parse(text) as {
      items: { metadata: { name: string }; status?: { boundResources?: { schema: { name: string } }[] } }[];
    };
    const ours = items.find(({ metadata }) => metadata.name.startsWith('kbb-'));
    return ours?.status?.boundResources?.[0]?.schema.name;
  };
  /** Nobody sees what is another's, and all that was there is the same object. */
  const expectNothingLost = async () => {
    expect(await Promise.all([names(alice), names(bob)])).toEqual([
      ['main', 'of-alice'],
      ['main', 'of-bob'],
    ]);
    expect(await Promise.all([uid(alice), uid(bob)])).toEqual([
      before.ours.metadata.uid,
      before.theirs.metadata.uid,
    ]);
    expect(await uidsOfCopies()).toEqual(before.copies);
  };

  beforeAll(async () => {
    [kcp, provider] = await Promise.all([
      startKcp({ binary: shared.programs['kcp'] ?? '', name: 'restarted', dir: `${dir}/kcp` }),
      startOwnProvider(shared, dir, always),
    ]);
    bench = { ...provider.bench, consumers: kcp };
    [installation, alice, bob] = await Promise.all([
      installClient(kcp, uniqueName('kube-bind')),
      createConsumer('alice', bench),
      createConsumer('bob', bench),
    ]);
    controller = await startController({ installation, dir });
    for (const consumer of both()) {
      await bindWithPlugin(consumer, installation, { backendUrl: provider.backendUrl });
      await applyDatabase(consumer.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 11 });
      await applyDatabase(consumer.kubeconfig, `of-${consumer.user}`, { engine: 'mysql' });
    }
    const [ours, theirs] = await Promise.all([synced(alice), synced(bob)]);
    for (const consumer of both()) await syncedDatabase(consumer, `of-${consumer.user}`, undefined, bench);
    before = { ours: ours.object, theirs: theirs.object, copies: await uidsOfCopies() };
  }, 300_000);

  afterAll(async () => {
    await controller?.stop();
    await provider?.stop();
    await kcp?.stop();
  });

  it('is installed once for each binding, behind an export of its own', async () => {
    const [ours, theirs] = await Promise.all([schemaOf(alice), schemaOf(bob)]);
    expect(ours).toMatch(/\.databases\.example\.org$/);
    expect(theirs).toMatch(/\.databases\.example\.org$/);
    expect(theirs).not.toBe(ours);
    const exports = await kubectl(installation.workspace.kubeconfig, [
      'get',
      'apiexports',
      '-l',
      'kcp.kube-bind.io/component=generated-export',
      '-o',
      'jsonpath={..spec.resources[*].schema}',
    ]);
    expect(exports.split(' ').sort()).toEqual([ours, theirs].sort());
    await expectNothingLost();
  });

  it('flows in with a new field, over a restart of kcp, without a loss and without a leak', async () => {
    const schemas = await Promise.all(both().map(schemaOf));
    await provider?.offer((api) => {
      always(api);
      specFields(api)['backups'] = { type: 'integer', format: 'int64' };
    });
    await kcp?.restart();
    for (const [index, consumer] of both().entries()) {
      await waitFor(
        async () => {
          const now = await schemaOf(consumer);
          return now !== undefined && now !== schemas[index];
        },
        { what: `the new schema in ${consumer.workspace.path}`, timeout: 120_000, interval: 500 },
      );
      await conditionWith(consumer.kubeconfig, 'kubebindbinding', 'databases', {
        type: 'Ready',
        reason: 'Ready',
        timeout: 90_000,
      });
    }
    await expectNothingLost();
    const backups = (database: Database) => (database.spec as { backups?: number }).backups;
    // kcp serves the new schema a moment after it says that it is bound, and drops the field until then.
    await waitFor(
      async () => {
        const text = await kubectl(alice.kubeconfig, [
          'patch',
          'database',
          'main',
          '-n',
          'default',
          '--type=merge',
          '-p',
          '{"spec":{"backups":7}}',
          '-o',
          'json',
        ]);
        return backups(JSON.parse(text) as Database) === 7;
      },
      { what: 'the new field to be kept by kcp', timeout: 30_000, interval: 500 },
    );
    const { object } = await synced(alice, (_, copy) => backups(copy) === 7);
    expect(backups(object)).toBe(7);
    expect(backups((await synced(bob)).copy)).toBeUndefined();
    await expectNothingLost();
  });

  it('stays as it was, and says why, when a field changes its type', async () => {
    const schemas = await Promise.all(both().map(schemaOf));
    await provider?.offer((api) => {
      always(api);
      specFields(api)['backups'] = { type: 'string' };
    });
    for (const consumer of both()) {
      const { status, message } = await conditionWith(consumer.kubeconfig, 'kubebindbinding', 'databases', {
        type: 'SchemaInSync',
        reason: 'Incompatible',
        timeout: 90_000,
      });
      expect(status).toBe('False');
      expect(message).toContain('spec.backups');
    }
    expect(await Promise.all(both().map(schemaOf))).toEqual(schemas);
    await expectNothingLost();
    await applyDatabase(bob.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 12 });
    await synced(bob, (_, copy) => copy.spec.sizeGiB === 12);
  });

  it('is in sync again when the provider takes that back', async () => {
    await provider?.offer((api) => {
      always(api);
      specFields(api)['backups'] = { type: 'integer', format: 'int64' };
    });
    for (const consumer of both()) {
      await conditionWith(consumer.kubeconfig, 'kubebindbinding', 'databases', {
        type: 'Ready',
        reason: 'Ready',
        timeout: 90_000,
      });
    }
    await expectNothingLost();
  });
});
