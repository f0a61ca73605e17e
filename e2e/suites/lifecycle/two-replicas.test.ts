import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { readBench } from '../../harness/bench.js';
import {
  CONTROLLER_TOKEN,
  installClient,
  SHORT_LEASE,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import {
  allCopies,
  applyDatabase,
  bindWithPlugin,
  createConsumer,
  readDatabase,
  syncedDatabase,
  type Consumer,
} from '../../harness/consumer.js';
import { startFaultProxy, type FaultProxy } from '../../harness/fault-proxy.js';
import { clientFor } from '../../harness/kube-client.js';
import { writeKubeconfig } from '../../harness/kubeconfig.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';

const DATABASES = { group: 'example.org', version: 'v1', resource: 'databases' };
const OBJECTS = 40;

/** A controller, and what it has written into kcp: when, and what. */
interface Replica {
  readonly proxy: FaultProxy;
  readonly controller: Controller;
  readonly writes: { readonly at: number; readonly what: string }[];
}

describe('the leader of two replicas, stopped in the middle of work for longer than its Lease and woken,', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('replicas')}`;
  const replicas: Replica[] = [];
  let installation: ClientInstallation;
  let alice: Consumer;

  async function startReplica(name: string): Promise<Replica> {
    const proxy = await startFaultProxy(bench.consumers);
    const writes: { at: number; what: string }[] = [];
    proxy.setRule(({ method, path }) => {
      if (method !== 'GET' && !path.includes('/leases'))
        writes.push({ at: Date.now(), what: `${method} ${path}` });
      return 'pass';
    });
    const kubeconfig = await writeKubeconfig(`${bench.consumers.dir}/kubeconfigs/${uniqueName(name)}.yaml`, {
      server: `${proxy.address}/clusters/${installation.workspace.path}`,
      ca: bench.consumers.ca,
      token: CONTROLLER_TOKEN,
    });
    const controller = await startController({
      installation,
      dir: `${dir}/${name}`,
      kubeconfig,
      dontWait: true,
      args: [...SHORT_LEASE, `--vw-url-map=${bench.consumers.address}=${proxy.address}`],
    });
    const replica = { proxy, controller, writes };
    replicas.push(replica);
    return replica;
  }

  /** What it says of itself; a process that is stopped says nothing. */
  async function leads({ controller }: Replica): Promise<boolean> {
    const answer = await fetch(`${controller.url}/metrics`, { signal: AbortSignal.timeout(2000) });
    return /^kcp_bind_leader 1$/m.test(await answer.text());
  }

  const waitUntilLeads = (replica: Replica) =>
    waitFor(() => leads(replica), { what: 'a replica to lead', timeout: 60_000, interval: 250 });

  beforeAll(async () => {
    [installation, alice] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
    ]);
    await waitUntilLeads(await startReplica('first'));
    await startReplica('second');
    await bindWithPlugin(alice, installation);
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 1 });
    await syncedDatabase(alice, 'main');
  });

  afterAll(async () => {
    for (const { controller, proxy } of replicas) {
      controller.child.signal('SIGCONT');
      await controller.stop();
      await proxy.close();
    }
  });

  it('writes nothing any more, and nothing is lost or made twice', async () => {
    const [stopped, other] = replicas as [Replica, Replica];
    const workspace = await clientFor(alice.kubeconfig);
    const names = Array.from({ length: OBJECTS }, (_, at) => `db-${at}`);
    await Promise.all(
      names.map((name) =>
        workspace.create(DATABASES, {
          apiVersion: 'example.org/v1',
          kind: 'Database',
          metadata: { name, namespace: 'default' },
          spec: { engine: 'postgres' },
        }),
      ),
    );
    await workspace.close();
    // It has begun, and much of it is still to do.
    const before = stopped.writes.length;
    await waitFor(() => stopped.writes.length > before, { what: 'the leader to begin', interval: 5 });
    stopped.controller.child.signal('SIGSTOP');
    await waitUntilLeads(other);
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 2 });
    await waitFor(async () => (await readDatabase(alice.kubeconfig, 'main'))?.status?.sizeGiB === 2, {
      what: 'the other replica to work',
      timeout: 60_000,
    });

    const woken = Date.now();
    stopped.controller.child.signal('SIGCONT');
    await waitFor(async () => !(await leads(stopped)), {
      what: 'the woken one to stand back',
      timeout: 20_000,
    });
    await staysTrue(() => leads(other), { what: 'the other one leads', ms: 5000, interval: 500 });
    expect(stopped.writes.filter(({ at }) => at > woken)).toEqual([]);

    for (const name of names)
      await waitFor(async () => (await readDatabase(alice.kubeconfig, name))?.status?.phase === 'Running', {
        what: `${name} to be served`,
        timeout: 60_000,
      });
    const { copy } = await syncedDatabase(alice, 'main');
    const copies = (await allCopies()).filter(
      ({ metadata }) => metadata.namespace === copy.metadata.namespace,
    );
    expect(copies.map(({ metadata }) => metadata.name).sort()).toEqual(['main', ...names].sort());
  });

  it('leads again when the other one ends', async () => {
    const [first, second] = replicas as [Replica, Replica];
    await second.controller.stop();
    await waitUntilLeads(first);
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 3 });
    await syncedDatabase(alice, 'main', (_, copy) => copy.spec.sizeGiB === 3);
  });
});
