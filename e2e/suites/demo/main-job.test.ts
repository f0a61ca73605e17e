import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { requestsSince, type AuditedRequest } from '../../harness/audit-log.js';
import { readBench } from '../../harness/bench.js';
import {
  CONTROLLER_USER,
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
  copiesOf,
  createConsumer,
  readDatabase,
  syncedDatabase,
  type Consumer,
} from '../../harness/consumer.js';
import { kubectl, runKubectl } from '../../harness/kubectl.js';
import { runPlugin } from '../../harness/plugin.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';

/** What `make demo` shows, asserted, and then everything that follows in the life of a binding. */
describe('two workspaces that bind the same API', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('demo')}`;
  let installation: ClientInstallation;
  let controller: Controller;
  let alice: Consumer;
  let bob: Consumer;

  beforeAll(async () => {
    [installation, alice, bob] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
      createConsumer('bob'),
    ]);
    controller = await startController({ installation, dir, args: SHORT_LEASE });
    await bindWithPlugin(alice, installation);
    await bindWithPlugin(bob, installation);
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 20 });
    await applyDatabase(bob.kubeconfig, 'main', { engine: 'mysql', sizeGiB: 5 });
  });

  afterAll(async () => {
    await controller.stop();
  });

  it('sends objects of the same namespace and name to two places, each with its own content', async () => {
    const [ours, theirs] = await Promise.all([syncedDatabase(alice, 'main'), syncedDatabase(bob, 'main')]);
    expect(ours.copy.spec).toMatchObject({ engine: 'postgres', sizeGiB: 20 });
    expect(theirs.copy.spec).toMatchObject({ engine: 'mysql', sizeGiB: 5 });
    expect(ours.copy.metadata.namespace).not.toBe(theirs.copy.metadata.namespace);
    expect(ours.object.status?.endpoint).toBe(ours.copy.status?.endpoint);
    expect(theirs.object.status?.endpoint).toBe(theirs.copy.status?.endpoint);
    expect(ours.copy.metadata.annotations).not.toHaveProperty('kcp.io/cluster', alice.workspace.cluster);
  });

  it('carries an update to the copy, and the new status back', async () => {
    await applyDatabase(
      alice.kubeconfig,
      'main',
      { engine: 'postgres', sizeGiB: 40 },
      { labels: { tier: 'gold' } },
    );
    const { copy, object } = await syncedDatabase(alice, 'main', (each) => each.status?.sizeGiB === 40);
    expect(copy.spec.sizeGiB).toBe(40);
    expect(copy.metadata.labels).toMatchObject({ tier: 'gold' });
    expect(object.status?.observedGeneration).toBe(object.metadata.generation);
    const { copy: other } = await syncedDatabase(bob, 'main');
    expect(other.spec.sizeGiB).toBe(5);
  });

  it('puts a copy right that was changed on the provider, and makes one again that was deleted', async () => {
    const { copy } = await syncedDatabase(bob, 'main');
    const at = ['-n', copy.metadata.namespace];
    await kubectl(bench.provider.kubeconfig, [
      'patch',
      'database.example.org',
      copy.metadata.name,
      ...at,
      '--type=merge',
      '-p',
      '{"spec":{"sizeGiB":99}}',
    ]);
    await syncedDatabase(bob, 'main', (_, each) => each.spec.sizeGiB === 5);
    await kubectl(bench.provider.kubeconfig, ['delete', 'database.example.org', copy.metadata.name, ...at]);
    await syncedDatabase(bob, 'main', (_, each) => each.metadata.uid !== copy.metadata.uid);
  });

  it('deletes the copy when the object is deleted, and only then lets the object go', async () => {
    await applyDatabase(alice.kubeconfig, 'short-lived', { engine: 'mysql' });
    const { object } = await syncedDatabase(alice, 'short-lived');
    await kubectl(alice.kubeconfig, ['delete', 'database', 'short-lived', '-n', 'default', '--timeout=30s']);
    expect(await copiesOf(object)).toEqual([]);
    expect(await readDatabase(alice.kubeconfig, 'main')).toBeDefined();
  });

  it('goes on after the controller was killed in the middle of work', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `burst-${index}`);
    const creating = Promise.all(
      names.map((name) => applyDatabase(bob.kubeconfig, name, { engine: 'mysql' })),
    );
    await controller.kill();
    await creating;
    await kubectl(bob.kubeconfig, ['delete', 'database', 'burst-0', '-n', 'default', '--wait=false']);
    controller = await startController({ installation, dir, args: SHORT_LEASE });
    for (const name of names.slice(1)) await syncedDatabase(bob, name);
    await waitFor(async () => (await readDatabase(bob.kubeconfig, 'burst-0')) === undefined, {
      what: 'the object that was deleted meanwhile to go',
    });
    const copies = (await allCopies()).filter(
      ({ metadata }) =>
        metadata.name.startsWith('burst-') &&
        metadata.annotations?.['kcp.kube-bind.io/cluster'] === bob.workspace.cluster,
    );
    expect(copies.map((copy) => copy.metadata.name).sort()).toEqual(names.slice(1));
  });

  it('asks and writes nothing in an idle minute but its heartbeats, and serves the next edit within five seconds', async () => {
    const bound = await Promise.all([syncedDatabase(alice, 'main'), syncedDatabase(bob, 'main')]);
    const contracts = bound.map(({ copy }) => copy.metadata.annotations?.['kube-bind.io/cluster-namespace']);
    // Other suites run on the same servers: ours is what these accounts do in these workspaces and contracts.
    const workspaces = [installation, alice, bob].map((each) => each.workspace.cluster);
    const ours = ({ user, workspace }: AuditedRequest) =>
      (workspaces.includes(workspace) && (user === CONTROLLER_USER || user.includes(':kube-bind:'))) ||
      contracts.some((contract) => user === `system:serviceaccount:${contract}:kube-binder`);
    // Our own lease, the heartbeat with its look at who else beats and at the contract's identity, new tokens, and
    // the sweep for what accidents left, a minute after the start and then each hour.
    const routine = (uri: string) =>
      /\/leases\/|clusterbindings\/cluster|\/token(\?|$)|\/api\/v1\/namespaces\/[^/]+$/.test(uri) ||
      /labelSelector=kcp\.kube-bind\.io%2Fcomponent%3D(connection-state|generated-export)/.test(uri);
    // Whatever earlier tests set off is over when ten seconds bring no request.
    let quietSince = Date.now();
    const ourRequests = async (since: number) => {
      const logs = await Promise.all(
        [bench.consumers, bench.providers].map((kcp) => requestsSince(kcp.auditLog, since)),
      );
      return logs.flat().filter((request) => ours(request) && !routine(request.uri));
    };
    await waitFor(
      async () => {
        const last = (await ourRequests(quietSince)).at(-1);
        if (last) quietSince = last.at + 1;
        return Date.now() - quietSince > 10_000;
      },
      { what: 'ten quiet seconds', timeout: 90_000, interval: 1000 },
    );
    const start = Date.now();
    await staysTrue(() => true, { what: 'an idle minute', ms: 60_000, interval: 5000 });
    expect(await ourRequests(start)).toEqual([]);

    // Other suites share the two cores: the best of three says what we add.
    const took: number[] = [];
    for (const sizeGiB of [41, 42, 43]) {
      await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB });
      const edited = Date.now();
      await syncedDatabase(alice, 'main', (_, copy) => copy.spec.sizeGiB === sizeGiB);
      took.push(Date.now() - edited);
    }
    expect(Math.min(...took)).toBeLessThan(5000);
  });

  it('leaves nothing behind after unbind, on either side', async () => {
    const { copy } = await syncedDatabase(alice, 'main');
    const exports = await kubectl(installation.workspace.kubeconfig, ['get', 'apiexports', '-o', 'name']);
    expect(
      exports
        .trim()
        .split('\n')
        .filter((name) => name.includes('kbb-')),
    ).toHaveLength(2);

    const unbind = await runPlugin(alice.kubeconfig, ['unbind', 'databases', '--connection', '--yes']);
    expect(unbind).toMatchObject({ code: 0 });

    const kinds = await runKubectl(alice.kubeconfig, [
      'get',
      'kubebindbindings,kubebindconnections',
      '-o',
      'name',
    ]);
    expect(kinds.stdout).toBe('');
    const api = await runKubectl(alice.kubeconfig, ['get', 'databases.example.org', '-A']);
    expect(api.code).not.toBe(0);
    const bindings = await kubectl(alice.kubeconfig, ['get', 'apibindings', '-o', 'name']);
    expect(bindings).not.toContain('kbb-');

    const left = (await allCopies()).filter((each) => each.metadata.namespace === copy.metadata.namespace);
    expect(left).toEqual([]);
    const contract = copy.metadata.annotations?.['kube-bind.io/cluster-namespace'] ?? '';
    const owned = await kubectl(bench.provider.kubeconfig, [
      'get',
      'apiservicenamespaces,apiserviceexportrequests',
      '-n',
      contract,
      '-o',
      'name',
    ]);
    expect(owned).toBe('');

    const remaining = await kubectl(installation.workspace.kubeconfig, [
      'get',
      'apiexports,apiresourceschemas,clusterroles,clusterrolebindings',
      '-o',
      'name',
    ]);
    expect(remaining.split('\n').filter((name) => name.includes('kbb-'))).toHaveLength(3);
    const secrets = await kubectl(installation.workspace.kubeconfig, [
      'get',
      'secrets,serviceaccounts',
      '-n',
      'kube-bind',
      '-o',
      'name',
    ]);
    expect(secrets.split('\n').filter((name) => name.includes('kbb-'))).toHaveLength(2);
    expect(secrets.split('\n').filter((name) => name.includes('connection-'))).toHaveLength(1);

    await syncedDatabase(bob, 'main');
  });
});
