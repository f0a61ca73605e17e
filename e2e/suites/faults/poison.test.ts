import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { KubeClient } from '../../../src/kube/client.js';
import { startBackend, type Backend } from '../../harness/backend.js';
import { readBench } from '../../harness/bench.js';
import { installClient, startController, type Controller } from '../../harness/client-installation.js';
import { readCondition, type SeenCondition } from '../../harness/conditions.js';
import { behindProxy, startFaultProxy, type FaultProxy } from '../../harness/fault-proxy.js';
import { clientFor } from '../../harness/kube-client.js';
import { ROOT } from '../../harness/root.js';
import { startProvider } from '../../harness/start-bench.js';
import { waitFor } from '../../harness/wait-for.js';
import { createWorkspace, uniqueName, type Workspace } from '../../harness/workspaces.js';
import { bind } from '../../soak/binding.js';
import { consumerUid, database, DATABASES, sizeOf } from '../../soak/databases.js';
import { createChance } from '../../soak/random.js';
import { createTenant, type Tenant } from '../../soak/tenant.js';
import {
  denseList,
  endlessList,
  endlessWatch,
  largeSchemas,
  Poisoner,
  unfinishedEvents,
  type Poison,
} from './poisons.js';

/** A thread's heap, and its buffers: little, so that they are full soon. */
const MEMORY_MIB = 96;
/** A namespace each has a watch of its own at the provider; together they hold more than a thread may. */
const MANY_NAMESPACES = 16;
/** What a neighbour may have to wait for his object meanwhile, unless the machine is too slow for it without any poison. */
const NEIGHBOUR_MS = 10_000;
const SLOWER = 3;

interface Case {
  readonly name: string;
  /** Served by the proxy in front of the provider. */
  readonly poison?: Poison;
  /** Said by the provider itself, on the copy. */
  readonly word?: string;
  readonly namespaces?: number;
  /** What the condition says of the thread's end. */
  readonly says: RegExp;
}

const KILLING: readonly Case[] = [
  { name: 'a list without end', poison: endlessList, says: /ran out of memory \(limit 96 MiB\)/ },
  { name: 'a watch without end', poison: endlessWatch, says: /ran out of memory \(limit 96 MiB\)/ },
  { name: 'bound schemas of many megabytes', poison: largeSchemas, says: /ran out of memory/ },
  {
    name: 'events that do not end, in many watches',
    poison: unfinishedEvents,
    namespaces: MANY_NAMESPACES,
    says: /held \d+ MiB of buffers \(limit 96 MiB\)/,
  },
  // No input is known that causes these two: the test's entry of the thread does, where it reads the word.
  { name: 'what makes a thread turn for ever', word: 'poison-endless-loop', says: /did not react for 5 s/ },
  { name: 'what nobody has caught', word: 'poison-rejection', says: /unhandled rejection/ },
];

interface Row extends Case {
  readonly tenant: Tenant;
  readonly copy: { readonly name: string; readonly namespace: string; readonly uid: string };
  /** Conditions while the poison was served, each once. */
  readonly told: Map<string, SeenCondition>;
}

/** One controller for all, with a thread for each binding; every provider account is poisoned in its own way. */
describe('a provider that serves poison', () => {
  const shared = readBench();
  const dir = `${shared.dir}/${uniqueName('poison')}`;
  const chance = createChance(1);
  let proxy: FaultProxy;
  let poisoner: Poisoner;
  let provider: Workspace;
  let admin: KubeClient;
  let service: Awaited<ReturnType<typeof startProvider>>;
  let backend: Backend;
  let controller: Controller;
  const rows: Row[] = [];
  let dense: Row;
  let neighbour: Tenant;
  /** Milliseconds that a neighbour's objects took, before and while poison was served. */
  const before: number[] = [];
  const meanwhile: number[] = [];

  async function synced(tenant: Tenant, name: string, namespace = 'default'): Promise<Row['copy']> {
    return waitFor(
      async () => {
        const object = await tenant.client.get(DATABASES, { name, namespace });
        if (sizeOf(object, 'status') !== sizeOf(object)) return undefined;
        const copies = (await admin.list(DATABASES)).items;
        const copy = copies.find((each) => consumerUid(each) === object.metadata.uid);
        if (copy === undefined) return undefined;
        const { metadata } = copy;
        return { name, namespace: metadata.namespace ?? '', uid: metadata.uid ?? '' };
      },
      { what: `${name} of ${tenant.workspace.path} to be served`, timeout: 180_000, interval: 250 },
    );
  }

  async function boundTenant({ namespaces = 1 }: Partial<Case> = {}): Promise<Tenant> {
    const bench = { ...shared, provider, backendUrl: backend.url };
    const tenant = await createTenant(bench, installation, chance);
    await bind(tenant);
    await waitFor(() => tenant.client.create(DATABASES, database('main', 1)), {
      what: 'the API',
      timeout: 120_000,
    });
    const more = Array.from({ length: namespaces - 1 }, (_, i) => `more-${i}`);
    await Promise.all(
      more.map(async (name) => {
        await tenant.client.create(
          { group: '', version: 'v1', resource: 'namespaces' },
          {
            apiVersion: 'v1',
            kind: 'Namespace',
            metadata: { name },
          },
        );
        await waitFor(() => tenant.client.create(DATABASES, database('main', 1, name)), {
          what: 'an object',
        });
      }),
    );
    await Promise.all(more.map((name) => synced(tenant, 'main', name)));
    return tenant;
  }

  async function boundRow(each: Case): Promise<Row> {
    const tenant = await boundTenant(each);
    return { ...each, tenant, copy: await synced(tenant, 'main'), told: new Map() };
  }

  const syncing = ({ tenant }: Row): Promise<SeenCondition | undefined> =>
    readCondition(tenant.workspace.kubeconfig, 'kubebindbinding', 'databases', 'Syncing');

  async function begin({ poison, word, tenant, copy }: Row): Promise<void> {
    if (poison !== undefined) poisoner.poison(tenant.namespace, poison);
    if (word !== undefined) await say(copy, word);
  }

  async function say(copy: Row['copy'], word: string | null): Promise<void> {
    const { name, namespace } = copy;
    await admin.patch(DATABASES, { name, namespace }, 'merge', { metadata: { annotations: { word } } });
  }

  /** Until the thread has died three times, so that its pauses show. */
  async function watchDeaths(row: Row): Promise<void> {
    await waitFor(
      async () => {
        const seen = await syncing(row);
        if (seen?.reason === 'WorkerFailed') row.told.set(seen.message, seen);
        return pausesOf(row).some((seconds) => seconds >= 3);
      },
      { what: `${row.name} to end its thread three times`, timeout: 180_000, interval: 400 },
    ).catch(() => undefined);
  }

  async function oneOfTheNeighbours(waited: number[]): Promise<void> {
    const name = uniqueName('neighbours');
    const began = Date.now();
    await neighbour.client.create(DATABASES, database(name, 5));
    await synced(neighbour, name);
    waited.push(Date.now() - began);
  }

  let installation: Awaited<ReturnType<typeof installClient>>;

  beforeAll(async () => {
    proxy = await startFaultProxy(shared.providers);
    poisoner = new Poisoner(proxy);
    [installation, provider] = await Promise.all([
      installClient(shared.consumers, uniqueName('kube-bind')),
      createWorkspace(shared.providers, 'root', uniqueName('provider')),
    ]);
    service = await startProvider(provider, { crds: shared.crds, dir });
    backend = await startBackend({
      binary: shared.programs['backend'] ?? '',
      dir,
      kcp: behindProxy(shared.providers, proxy),
      provider,
    });
    admin = await clientFor(provider.kubeconfig);
    controller = await startController({
      installation,
      dir,
      env: { NODE_OPTIONS: `--import=file://${ROOT}/e2e/harness/preload/poisonable-worker.mjs` },
      args: [`--worker-memory=${MEMORY_MIB}`, '--worker-silence=5s', '--log-level=info'],
    });
    neighbour = await boundTenant();
    await synced(neighbour, 'main');
    for (let at = 0; at < KILLING.length; at += 3)
      rows.push(...(await Promise.all(KILLING.slice(at, at + 3).map(boundRow))));
    dense = await boundRow({ name: 'a dense list', poison: denseList, says: /larger|memory/ });

    for (let i = 0; i < 5; i++) await oneOfTheNeighbours(before);
    await begin(dense);
    const calm = new AbortController();
    const atTheNeighbours = (async () => {
      while (!calm.signal.aborted) await oneOfTheNeighbours(meanwhile);
    })();
    await Promise.all(rows.map(begin));
    await Promise.all(rows.map(watchDeaths));
    const seen = await syncing(dense);
    if (seen !== undefined) dense.told.set(seen.message, seen);
    calm.abort();
    await atTheNeighbours;

    poisoner.stop();
    await Promise.all(rows.filter(({ word }) => word !== undefined).map(({ copy }) => say(copy, null)));
  }, 600_000);

  afterAll(async () => {
    await controller.stop();
    await backend.stop();
    await service.stop();
    await Promise.all([...rows, { tenant: neighbour }].map(({ tenant }) => tenant.client.close()));
    await admin.close();
    await proxy.close();
  });

  it.each(KILLING)(
    'with $name ends its thread; the condition says why, and the pauses grow',
    ({ name, says }) => {
      const row = rows.find((each) => each.name === name);
      expect([...(row?.told.values() ?? [])].length).toBeGreaterThan(1);
      for (const { status, message } of row?.told.values() ?? []) {
        expect(status).toBe('False');
        expect(message).toMatch(says);
        expect(message).toContain('nothing was deleted');
      }
      const pauses = row === undefined ? [] : pausesOf(row);
      expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
      expect(Math.max(...pauses)).toBeGreaterThanOrEqual(3);
    },
  );

  it('with a list that would be huge once it is parsed is refused, and its thread lives', async () => {
    const [seen] = [...dense.told.values()];
    expect(seen).toMatchObject({ status: 'False' });
    expect(seen?.reason).not.toBe('WorkerFailed');
    expect(seen?.message).toMatch(dense.says);
  });

  it('lets a neighbour sync within seconds meanwhile', () => {
    expect(meanwhile.length).toBeGreaterThan(3);
    const most = Math.max(NEIGHBOUR_MS, SLOWER * Math.max(...before));
    expect(Math.max(...meanwhile)).toBeLessThan(most);
  });

  it('is served again when it serves sound answers, and no copy has been made anew', async () => {
    await Promise.all(
      [...rows, dense].map(async ({ tenant, copy }) => {
        await tenant.client.patch(DATABASES, { name: 'main', namespace: 'default' }, 'merge', {
          spec: { sizeGiB: 9 },
        });
        await waitFor(
          async () =>
            sizeOf(await tenant.client.get(DATABASES, { name: 'main', namespace: 'default' }), 'status') ===
            9,
          { what: `${tenant.workspace.path} to be served again`, timeout: 120_000 },
        );
        expect(await synced(tenant, 'main')).toEqual(copy);
      }),
    );
  });
});

/** Seconds after which the condition said that the thread starts again. */
function pausesOf({ told }: Row): number[] {
  return [...told.values()].map(({ message }) => Number(/again in (\d+) s/.exec(message)?.[1]));
}
