import { GVR } from '../../src/api/gvr.js';
import type { KubeClient } from '../../src/kube/client.js';
import { startBackend } from '../harness/backend.js';
import type { KcpBench } from '../harness/bench.js';
import {
  CONTROLLER_TOKEN,
  installClient,
  startController,
  waitUntilReady,
  type ClientInstallation,
} from '../harness/client-installation.js';
import { behindProxy, startFaultProxy } from '../harness/fault-proxy.js';
import { clientFor } from '../harness/kube-client.js';
import { writeKubeconfig } from '../harness/kubeconfig.js';
import { freePorts } from '../harness/ports.js';
import { startProvider } from '../harness/start-bench.js';
import { waitFor } from '../harness/wait-for.js';
import { createWorkspace, uniqueName } from '../harness/workspaces.js';
import { bind, comeAndGo } from './binding.js';
import { CopyWatch } from './copy-watch.js';
import { Crashes, THREADS_END_ON_SIGNAL } from './crashes.js';
import { consumerUid, database, DATABASES, sizeOf } from './databases.js';
import { makeForeign, settled, touched, type Foreign } from './foreign.js';
import { create, work } from './load.js';
import { pause } from './pause.js';
import { createChance } from './random.js';
import type { SoakReport } from './report.js';
import { createTenant, type Tenant } from './tenant.js';
import { compare, type Comparison } from './verdict.js';
import { Weather } from './weather.js';

export interface SoakOptions {
  readonly bench: KcpBench;
  readonly seed: number;
  /** How long faults and crashes go on. */
  readonly seconds: number;
  /** They go on until there were so many crashes, for four times as long at most. */
  readonly crashes: number;
  readonly say: (text: string) => void;
}

const RESIDENTS = 3;
const CONVERGE_MS = 240_000;
/** A name in each workspace that is taken at the provider. */
const TAKEN = 'taken';

/**
 * Users create, change and delete objects, bind and unbind, while the controller and its threads are killed and the
 * network on both sides fails. Then everything is left alone, has to become as the users want it, and is counted.
 */
export async function runSoak({
  bench: shared,
  seed,
  seconds,
  crashes: wanted,
  say,
}: SoakOptions): Promise<SoakReport> {
  const dir = `${shared.dir}/${uniqueName('soak')}`;
  const chance = createChance(seed);
  say(`seed ${seed}; installing the client, a provider and ${RESIDENTS + 1} workspaces (logs: ${dir})`);
  const [toConsumers, toProviders] = await Promise.all([
    startFaultProxy(shared.consumers),
    startFaultProxy(shared.providers),
  ]);
  const [installation, provider, [port = 0]] = await Promise.all([
    installClient(shared.consumers, uniqueName('kube-bind')),
    createWorkspace(shared.providers, 'root', uniqueName('provider')),
    freePorts(1),
  ]);
  const service = await startProvider(provider, { crds: shared.crds, dir });
  const backend = await startBackend({
    binary: shared.programs['backend'] ?? '',
    dir,
    kcp: behindProxy(shared.providers, toProviders),
    provider,
  });
  const bench = { ...shared, provider, backendUrl: backend.url };
  const kubeconfig = await writeKubeconfig(`${dir}/controller.yaml`, {
    server: `${toConsumers.address}/clusters/${installation.workspace.path}`,
    ca: shared.consumers.ca,
    token: CONTROLLER_TOKEN,
  });
  const start = () =>
    startController({
      installation,
      dir,
      kubeconfig,
      port,
      dontWait: true,
      env: { NODE_OPTIONS: THREADS_END_ON_SIGNAL },
      args: [
        // One at a time is the harness's care: a Lease would only make each start wait for its end.
        '--leader-elect=false',
        `--vw-url-map=${shared.consumers.address}=${toConsumers.address}`,
        '--request-timeout=5s',
        '--watch-silence=15s',
        '--heartbeat-interval=5s',
        '--log-level=info',
      ],
    });
  const crashes = new Crashes(await start(), start, createChance(chance.whole(0, 2 ** 31)));
  const admin = await clientFor(provider.kubeconfig);
  const tenants: Tenant[] = [];
  let copies: CopyWatch | undefined;
  try {
    await waitUntilReady(crashes.controller);
    const all = Array.from({ length: RESIDENTS + 1 }, () =>
      createTenant(bench, installation, createChance(chance.whole(0, 2 ** 31))),
    );
    tenants.push(...(await Promise.all(all)));
    const [guest, ...residents] = tenants as [Tenant, ...Tenant[]];
    await Promise.all(residents.map(bind));
    const foreign = (
      await Promise.all(residents.map((tenant) => strangers(tenant, admin, installation)))
    ).flat();
    copies = new CopyWatch(
      admin,
      tenants.map(({ ledger }) => ledger),
    );

    say(`breaking things for ${seconds} s`);
    const weather = new Weather([toConsumers, toProviders], createChance(chance.whole(0, 2 ** 31)));
    const [storm, load] = [new AbortController(), new AbortController()];
    const breaking = Promise.all([weather.blow(storm.signal), crashes.rain(storm.signal)]);
    const working = Promise.all(residents.map((tenant) => work(tenant, load.signal)));
    const coming = comeAndGo(guest, load.signal);
    const began = Date.now();
    await untilEnough(crashes, { began, seconds, wanted, say });
    storm.abort();
    await breaking;
    say('all quiet; ending the controller in order while users go on');
    await waitUntilReady(crashes.controller, 60_000);
    await crashes.drain();
    load.abort();
    const calm = Date.now();
    const acts = (await working).reduce((sum, each) => sum + each, 0);
    const rounds = await coming;
    const { end, convergedIn } = await converge(() => compare(tenants, admin, new Set([TAKEN])), calm);
    return {
      seed,
      seconds: Math.round((calm - began) / 1000),
      kills: crashes.kills,
      terminations: await crashes.terminations(),
      faults: weather.counts,
      acts,
      rounds,
      end,
      convergedIn,
      duplicatedMeanwhile: copies.duplicated,
      lostMeanwhile: copies.lost,
      foreign: foreign.length,
      foreignTouched: await touched(foreign),
      unexpectedEnds: crashes.unexpected,
      drains: crashes.drains,
    };
  } finally {
    await copies?.close();
    await crashes.controller.stop();
    await backend.stop();
    await service.stop();
    await Promise.all([...tenants.map(({ client }) => client), admin].map((client) => client.close()));
    await Promise.all([toConsumers.close(), toProviders.close()]);
  }
}

async function untilEnough(
  crashes: Crashes,
  how: {
    readonly began: number;
    readonly seconds: number;
    readonly wanted: number;
    readonly say: (text: string) => void;
  },
): Promise<void> {
  const { began, seconds, wanted, say } = how;
  for (;;) {
    await pause(Math.min(seconds * 1000, 10_000));
    const elapsed = (Date.now() - began) / 1000;
    const done = crashes.kills + (await crashes.terminations());
    say(`${Math.round(elapsed)} s, ${done} crashes`);
    if ((elapsed >= seconds && done >= wanted) || elapsed > 4 * seconds) return;
  }
}

/** Objects around a tenant's that nobody here may touch, one with the name of an object of his. */
async function strangers(
  tenant: Tenant,
  admin: KubeClient,
  installation: ClientInstallation,
): Promise<Foreign[]> {
  await create(tenant, 'first');
  const uid = tenant.ledger.wanted.get('first')?.uid;
  const namespace = await waitFor(
    async () =>
      (await admin.list(DATABASES)).items.find((copy) => consumerUid(copy) === uid)?.metadata.namespace,
    { what: 'the first copy', timeout: 120_000 },
  );
  const client = await clientFor(installation.workspace.kubeconfig);
  const config = (at: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: uniqueName('stranger'), namespace: at },
    data: { a: 'b' },
  });
  const secret = { ...config('default'), kind: 'Secret', data: { a: 'Yg==' } };
  const made = await Promise.all([
    makeForeign(admin, DATABASES, database('stranger', 7, namespace)),
    makeForeign(admin, DATABASES, database(TAKEN, 7, namespace)),
    makeForeign(admin, GVR.configMaps, config(namespace)),
    makeForeign(tenant.client, GVR.configMaps, config('default')),
    makeForeign(tenant.client, GVR.secrets, secret),
    makeForeign(client, GVR.configMaps, config('kube-bind')),
  ]);
  await tenant.client.create(DATABASES, database(TAKEN, 8));
  return Promise.all(
    made.map(async (each) => {
      // The provider's service gives each database a status once.
      const served = async () =>
        each.gvr !== DATABASES || sizeOf((await settled(each)).object, 'status') === 7;
      await waitFor(served, { what: 'the strangers to be served' });
      return settled(each);
    }),
  );
}

async function converge(
  look: () => Promise<Comparison>,
  since: number,
): Promise<{ readonly end: Comparison; readonly convergedIn: number | undefined }> {
  let end = await look();
  const done = await waitFor(
    async () => {
      end = await look();
      return end.found === end.expected && end.leftOver.length === 0;
    },
    { what: 'everything to be as wanted', timeout: CONVERGE_MS, interval: 500 },
  ).catch(() => false);
  return { end, convergedIn: done ? Math.round((Date.now() - since) / 1000) : undefined };
}
