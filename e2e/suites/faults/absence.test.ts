import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { writesSince } from '../../harness/audit-log.js';
import { startBackend, type Backend } from '../../harness/backend.js';
import { readBench, type Bench } from '../../harness/bench.js';
import {
  CONTROLLER_TOKEN,
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { readCondition, type SeenCondition } from '../../harness/conditions.js';
import {
  applyDatabase,
  bindWithPlugin,
  createConsumer,
  syncedDatabase,
  type Consumer,
  type Database,
} from '../../harness/consumer.js';
import { behindProxy, startFaultProxy, type FaultProxy } from '../../harness/fault-proxy.js';
import { writeKubeconfig } from '../../harness/kubeconfig.js';
import { kubectl } from '../../harness/kubectl.js';
import { startProvider } from '../../harness/start-bench.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import { createWorkspace, uniqueName, type Workspace } from '../../harness/workspaces.js';
import { FAULTS, Faults, type Fault } from './fault-rows.js';

const FAULT_MS = 60_000;
/** Well below the default, so that a dead watch is found within the minute. */
const SILENCE = '20s';

interface Row {
  readonly side: 'consumer' | 'provider';
  readonly fault: Fault;
  readonly consumer: Consumer;
  readonly before: Database;
  readonly copy: Database;
  /** `Syncing` while the fault lasted, as soon as it was not True. */
  told?: SeenCondition | undefined;
}

/** Four, so that the servers are busy and not swamped. */
async function fewAtATime<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += 4)
    results.push(...(await Promise.all(items.slice(at, at + 4).map(work))));
  return results;
}

/** Each fault in a workspace of its own, on one of the two sides, all in the same minute. */
describe('a server that withholds what it has, for a minute,', () => {
  const shared = readBench();
  const dir = `${shared.dir}/${uniqueName('absence')}`;
  const rows: Row[] = [];
  let bench: Bench;
  let installation: ClientInstallation;
  let provider: Workspace;
  let proxies: Record<Row['side'], FaultProxy>;
  let service: Awaited<ReturnType<typeof startProvider>>;
  let backend: Backend;
  let controller: Controller;
  let began = 0;

  async function boundRow(side: Row['side'], fault: Fault): Promise<Row> {
    const consumer = await createConsumer('alice');
    await bindWithPlugin(consumer, installation, { backendUrl: backend.url });
    await applyDatabase(consumer.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 1 });
    const { object, copy } = await syncedDatabase(consumer, 'main', () => true, bench);
    return { side, fault, consumer, before: object, copy };
  }

  const markOf = ({ side, consumer, copy }: Row): string =>
    side === 'consumer'
      ? `/clusters/${consumer.workspace.cluster}/`
      : `/namespaces/${copy.metadata.namespace}/`;

  /** Deletions of databases on either side since the faults began. */
  async function deletions(): Promise<string[]> {
    const logs = [shared.providers.auditLog, shared.consumers.auditLog];
    const writes = (await Promise.all(logs.map((log) => writesSince(log, began)))).flat();
    const ours = rows.flatMap(({ copy, consumer }) => [copy.metadata.namespace, consumer.workspace.cluster]);
    return writes
      .filter(({ verb, uri }) => verb.startsWith('delete') && uri.includes('/databases'))
      .filter(({ uri, workspace }) => ours.some((each) => uri.includes(each) || workspace === each))
      .map(({ verb, uri, user }) => `${user} ${verb} ${uri}`);
  }

  async function watchCondition(row: Row): Promise<void> {
    row.told = await waitFor(
      async () => {
        const seen = await readCondition(row.consumer.kubeconfig, 'kubebindbinding', 'databases', 'Syncing');
        return seen?.status === 'False' && seen;
      },
      { what: `${row.fault.name} to be told`, timeout: FAULT_MS - 5000, interval: 1000 },
    ).catch(() => undefined);
  }

  beforeAll(async () => {
    const [consumer, providerProxy] = await Promise.all([
      startFaultProxy(shared.consumers),
      startFaultProxy(shared.providers),
    ]);
    proxies = { consumer, provider: providerProxy };
    [installation, provider] = await Promise.all([
      installClient(shared.consumers, uniqueName('kube-bind')),
      createWorkspace(shared.providers, 'root', uniqueName('provider')),
    ]);
    service = await startProvider(provider, { crds: shared.crds, dir });
    backend = await startBackend({
      binary: shared.programs['backend'] ?? '',
      dir,
      kcp: behindProxy(shared.providers, providerProxy),
      provider,
    });
    bench = { ...shared, provider, backendUrl: backend.url };
    controller = await startController({
      installation,
      dir,
      kubeconfig: await writeKubeconfig(`${dir}/controller.yaml`, {
        server: `${consumer.address}/clusters/${installation.workspace.path}`,
        ca: shared.consumers.ca,
        token: CONTROLLER_TOKEN,
      }),
      args: [
        `--vw-url-map=${shared.consumers.address}=${consumer.address}`,
        `--watch-silence=${SILENCE}`,
        '--request-timeout=5s',
        '--max-workers=32',
      ],
    });
    const wanted = FAULTS.flatMap((fault) => [
      { side: 'consumer' as const, fault },
      { side: 'provider' as const, fault },
    ]);
    rows.push(...(await fewAtATime(wanted, ({ side, fault }) => boundRow(side, fault))));

    began = Date.now();
    const faults = { consumer: new Faults(consumer), provider: new Faults(providerProxy) };
    for (const row of rows) faults[row.side].begin(markOf(row), row.fault);
    const telling = rows.filter(({ fault }) => fault.told).map(watchCondition);
    // Both sides go on while the one cannot see the other.
    await fewAtATime(rows, async ({ consumer: user, copy }) => {
      await applyDatabase(user.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 2 });
      await kubectl(provider.kubeconfig, [
        ...['label', 'database.example.org', 'main', '-n', copy.metadata.namespace, 'seen=meanwhile'],
      ]);
    });
    await staysTrue(async () => (await deletions()).length === 0, {
      what: 'nothing is deleted',
      ms: FAULT_MS - (Date.now() - began),
      interval: 5000,
    });
    await Promise.all(telling);
    for (const each of Object.values(faults)) each.end();
  }, 600_000);

  afterAll(async () => {
    await controller.stop();
    await backend.stop();
    await service.stop();
    await Promise.all(Object.values(proxies).map((proxy) => proxy.close()));
  });

  describe.each(['consumer', 'provider'] as const)('on the side of the %s', (side) => {
    it.each(FAULTS)('with $name, deletes nothing; the sync goes on by itself', async (fault) => {
      const row = rows.find((each) => each.side === side && each.fault === fault);
      if (row === undefined) throw new Error('the row was not set up');
      if (fault.told)
        expect(row.told).toMatchObject({ status: 'False', message: expect.stringMatching(/\w/) as unknown });
      const { object, copy } = await syncedDatabase(
        row.consumer,
        'main',
        (original, its) => its.spec.sizeGiB === 2 && original.status?.sizeGiB === 2,
        bench,
      );
      expect(object.metadata.uid).toBe(row.before.metadata.uid);
      expect(copy.metadata.uid).toBe(row.copy.metadata.uid);
      expect(copy.metadata.labels).toMatchObject({ seen: 'meanwhile' });
      await applyDatabase(row.consumer.kubeconfig, 'later', { engine: 'postgres' });
      await syncedDatabase(row.consumer, 'later', () => true, bench);
    });
  });

  it('has caused no deletion at all, on either side', async () => {
    expect(await deletions()).toEqual([]);
  });
});
