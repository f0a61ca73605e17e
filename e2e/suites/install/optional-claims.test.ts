import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { readBench, type Bench } from '../../harness/bench.js';
import { CLAIMS, type Claim } from '../../harness/client-binding.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { conditionWith, readCondition, type SeenCondition } from '../../harness/conditions.js';
import {
  applyDatabase,
  bindWithPlugin,
  createConsumer,
  syncedDatabase,
  type Consumer,
} from '../../harness/consumer.js';
import { kubectl, runKubectl } from '../../harness/kubectl.js';
import { startOwnProvider, type OwnProvider } from '../../harness/own-provider.js';
import { waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';

interface BindingWithClaims {
  metadata: { name: string };
  spec: { permissionClaims?: { group?: string; resource: string; state: string }[] };
}

type Answer = 'Accepted' | 'Rejected' | 'absent';
const RELATED = ['secrets', 'configmaps', 'serviceaccounts'] as const;

/** Claims whose absence costs one feature; without `logicalclusters` and `apibindings` other suites go. */
describe('a workspace without an optional claim', () => {
  const shared = readBench();
  const dir = `${shared.dir}/${uniqueName('claims')}`;
  const sizes = { next: 20 };
  let provider: OwnProvider | undefined;
  let controller: Controller | undefined;
  let bench: Bench;
  let installation: ClientInstallation;
  let alice: Consumer;

  const apiBindings = async () => {
    const text = await kubectl(alice.kubeconfig, ['get', 'apibindings', '-o', 'json']);
    return (JSON.parse(text) as { items: BindingWithClaims[] }).items;
  };
  const answer = async (resource: Claim, state: Answer) => {
    const change = async () => {
      const binding = (await apiBindings()).find(({ metadata }) => metadata.name === 'kcp.kube-bind.io');
      if (binding === undefined) throw new Error('the client is not bound');
      const { group } = CLAIMS[resource];
      const claim = { group, resource, verbs: CLAIMS[resource].verbs, selector: { matchAll: true }, state };
      const others = (binding.spec.permissionClaims ?? []).filter((each) => each.resource !== resource);
      binding.spec.permissionClaims = state === 'absent' ? others : [...others, claim];
      await kubectl(alice.kubeconfig, ['replace', '-f', '-'], { input: JSON.stringify(binding) });
      return true;
    };
    await waitFor(change, { what: `${resource} to be ${state}` });
  };
  /** Waits until the condition about claims names this one, or none at all. */
  const claimsSay = async (named: Claim | undefined) => {
    let seen: SeenCondition | undefined;
    return waitFor(
      async () => {
        seen = await readCondition(
          alice.kubeconfig,
          'kubebindbinding',
          'databases',
          'PermissionClaimsAccepted',
        );
        const claim = `permission claim ${named ?? ''} on APIBinding kcp.kube-bind.io`;
        return (named === undefined ? seen?.message === '' : seen?.message.includes(claim)) && seen;
      },
      { what: `the condition to name ${named ?? 'nothing'}`, timeout: 90_000, interval: 300 },
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}; it says ${JSON.stringify(seen)}`);
    });
  };
  /** What the workspace has given to the generated export, beside the leave to go. */
  const given = async () => {
    const generated = (await apiBindings()).find(({ metadata }) => metadata.name.startsWith('kbb-'));
    const claims = generated?.spec.permissionClaims ?? [];
    return claims.map(({ resource }) => resource).filter((resource) => resource !== 'apibindings');
  };
  const givenBecomes = (claims: readonly string[]) =>
    waitFor(async () => (await given()).sort().join() === [...claims].sort().join(), {
      what: `the generated APIBinding to accept ${claims.join()}`,
      timeout: 90_000,
      interval: 300,
    });
  const stillSyncs = async () => {
    sizes.next += 1;
    const sizeGiB = sizes.next;
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB });
    const accept = (_: unknown, copy: { spec: { sizeGiB?: number } }) => copy.spec.sizeGiB === sizeGiB;
    await syncedDatabase(alice, 'main', accept, bench);
    await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', { type: 'Ready', reason: 'Ready' });
  };
  const eventsOf = async (name: string) =>
    (
      await kubectl(alice.kubeconfig, [
        'get',
        'events',
        '-n',
        'default',
        `--field-selector=involvedObject.name=${name}`,
        '-o',
        'jsonpath={..reason}',
      ])
    ).trim();
  const droppedEvents = async () => {
    const metrics = await (await fetch(`${controller?.url ?? ''}/metrics`)).text();
    return Number(/kcp_bind_events_dropped_total\{why="claim"\} (\d+)/.exec(metrics)?.[1] ?? 0);
  };
  /** The end of an object whose copy stays is told in an event. */
  const orphan = async (name: string) => {
    await applyDatabase(alice.kubeconfig, name, { engine: 'mysql' });
    await syncedDatabase(alice, name, undefined, bench);
    await kubectl(alice.kubeconfig, [
      'annotate',
      'database',
      name,
      '-n',
      'default',
      'kcp.kube-bind.io/deletion-policy=Orphan',
    ]);
    await kubectl(alice.kubeconfig, ['delete', 'database', name, '-n', 'default', '--timeout=30s']);
  };

  beforeAll(async () => {
    provider = await startOwnProvider(shared, dir, ({ template }) => {
      template.spec['permissionClaims'] = RELATED.map((resource) => ({
        group: '',
        resource,
        selector: { labelSelector: { matchLabels: { 'example.org/shared': 'true' } } },
      }));
    });
    bench = provider.bench;
    [installation, alice] = await Promise.all([
      installClient(shared.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
    ]);
    controller = await startController({ installation, dir });
    await bindWithPlugin(alice, installation, { backendUrl: provider.backendUrl });
    await claimsSay(undefined);
    await stillSyncs();
  });

  afterAll(async () => {
    await controller?.stop();
    await provider?.stop();
  });

  it.each<[Claim, Answer]>(
    RELATED.flatMap((claim): [Claim, Answer][] => [
      [claim, 'Rejected'],
      [claim, 'absent'],
    ]),
  )('goes without related %s (%s), is told so, and syncs on', async (claim, state) => {
    await answer(claim, state);
    expect(await claimsSay(claim)).toMatchObject({
      status: 'False',
      reason: 'NotAccepted',
      message: expect.stringContaining(`Accept the permission claim ${claim} on APIBinding`),
    });
    await givenBecomes([...RELATED.filter((each) => each !== claim), 'namespaces']);
    await stillSyncs();
    await answer(claim, 'Accepted');
    await claimsSay(undefined);
    await givenBecomes([...RELATED, 'namespaces']);
  });

  it.each<[Answer]>([['Rejected'], ['absent']])(
    'goes without namespaces for related objects (%s), is told so, and syncs on',
    async (state) => {
      await answer('namespaces', state);
      expect(await claimsSay('namespaces')).toMatchObject({
        status: 'True',
        reason: 'Accepted',
        message: expect.stringContaining('reach only namespaces that exist'),
      });
      await givenBecomes(RELATED);
      await stillSyncs();
      await answer('namespaces', 'Accepted');
      await claimsSay(undefined);
      await givenBecomes([...RELATED, 'namespaces']);
    },
  );

  it.each<[Answer]>([['Rejected'], ['absent']])(
    'goes without events (%s), is told so, and syncs on',
    async (state) => {
      const [told, untold] = [`told-${state.toLowerCase()}`, `untold-${state.toLowerCase()}`];
      await orphan(told);
      await waitFor(async () => (await eventsOf(told)) !== '', { what: 'the event', timeout: 20_000 });
      await answer('events', state);
      expect(await claimsSay('events')).toMatchObject({
        status: 'True',
        reason: 'Accepted',
        message: expect.stringContaining('no Events are written'),
      });
      const before = await droppedEvents();
      await orphan(untold);
      await waitFor(async () => (await droppedEvents()) > before, { what: 'the dropped event' });
      expect(await eventsOf(untold)).toBe('');
      await stillSyncs();
      await answer('events', 'Accepted');
      await claimsSay(undefined);
    },
  );

  it('is unbound without a trace all the same', async () => {
    for (const claim of [...RELATED, 'namespaces', 'events'] as const) await answer(claim, 'Rejected');
    await kubectl(alice.kubeconfig, ['delete', 'kubebindbinding', 'databases', '--timeout=60s']);
    const api = await runKubectl(alice.kubeconfig, ['get', 'databases.example.org', '-A']);
    expect(api.code).not.toBe(0);
  });
});
