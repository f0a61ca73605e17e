import { afterEach, describe, expect, it } from '@jest/globals';
import { BINDINGS, CONNECTIONS } from '../api/group.js';
import { GVR } from '../api/gvr.js';
import { FORCE_RELEASE_ANNOTATION } from '../api/markers.js';
import type { KubeObject } from '../kube/object.js';
import type { SyncerPool } from '../syncer/protocol/pool.js';
import { textAt } from './views.js';
import { CLIENT_CLUSTER } from './testing/fake-kcp.js';
import type { FakeWorld } from './testing/fake-world.js';
import { ALL_CLAIMS, WORKSPACE } from './testing/fake-world.js';
import { Scenario } from './testing/scenario.js';

let scenario: Scenario;

afterEach(() => scenario.close());

async function bound(): Promise<FakeWorld> {
  scenario = new Scenario();
  await scenario.bind();
  expect(scenario.phase()).toBe('Ready');
  return scenario.world;
}

/** Takes our finalizer off by hand, as nobody should. */
function stripFinalizers(world: FakeWorld): void {
  world.kcp.objects.edit(BINDINGS, WORKSPACE, 'b', (object) => ({
    ...object,
    metadata: { ...object.metadata, finalizers: [] },
  }));
}

/** What workers that leave are told about namespaces in use, as it comes. */
function namespacesToldTo(pool: SyncerPool): unknown[] {
  const seen: unknown[] = [];
  const assign = pool.assign.bind(pool);
  pool.assign = (assignment) => {
    if (assignment.stage === 'leave') seen.push(assignment.namespacesInUse);
    assign(assignment);
  };
  return seen;
}

function expectNothingLeft(world: FakeWorld): void {
  expect(world.binding('b')).toBeUndefined();
  expect(world.generatedObjects()).toEqual([]);
  expect(scenario.generatedBinding()).toBeUndefined();
}

describe('unbinding', () => {
  it('leaves nothing behind and says what stays on the provider', async () => {
    const world = await bound();
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run();
    expectNothingLeft(world);
    const [event] = world.kcp.objects.list(GVR.events, WORKSPACE);
    expect(textAt(event, 'message')).toContain('APIServiceExport contract/widgets');
    world.kcp.objects.delete(CONNECTIONS, WORKSPACE, 'c');
    await world.run();
    expect(world.connection('c')).toBeUndefined();
    expect(world.disk.states.size).toBe(0);
  });

  it('works although the claim on apibindings was rejected meanwhile', async () => {
    const world = await bound();
    world.kcp.accept(WORKSPACE, []);
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run();
    expectNothingLeft(world);
  });

  it('works when the APIBinding to the client export goes first', async () => {
    const world = await bound();
    world.kcp.objects.delete(GVR.apiBindings, WORKSPACE, 'kube-bind');
    await world.run(40_000);
    expectNothingLeft(world);
    expect(world.connection('c')).toBeUndefined();
    expect(scenario.apiBindings()).toEqual([]);
  });

  it('brings a missing export back first, since objects with finalizers may be behind it', async () => {
    const world = await bound();
    await scenario.close();
    const name = textAt(world.binding('b'), 'status', 'apiExport', 'name') ?? '';
    world.kcp.objects.delete(GVR.apiExports, CLIENT_CLUSTER, name);
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    const { steps } = await scenario.restart();
    expect(steps.indexOf('binding.export.create')).toBeGreaterThanOrEqual(0);
    expect(steps.indexOf('binding.export.create')).toBeLessThan(steps.indexOf('binding.api-binding.delete'));
    expectNothingLeft(world);
  });

  it('waits for a worker that cannot drain, and goes through when forced', async () => {
    const world = await bound();
    await scenario.close();
    world.worker = (assignment) => {
      const good = world.goodWorker(assignment);
      if (assignment.force) return good;
      const Syncing = { status: 'False', reason: 'WaitingForProvider', message: 'no answer' } as const;
      return { ...good, drained: false, left: false, conditions: { ...good.conditions, Syncing } };
    };
    scenario.start();
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run(60_000);
    expect(scenario.reason('Syncing')).toBe('WaitingForProvider');
    expect(textAt(scenario.condition('Syncing'), 'message')).toContain(FORCE_RELEASE_ANNOTATION);
    world.kcp.objects.edit(BINDINGS, WORKSPACE, 'b', (object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        annotations: { ...object.metadata.annotations, [FORCE_RELEASE_ANNOTATION]: 'true' },
      },
    }));
    await world.run();
    expectNothingLeft(world);
  });

  it('does not begin anew, without the force, with what caches still show after a forced end', async () => {
    const world = await bound();
    await scenario.close();
    let left = false;
    world.worker = (assignment) => {
      const good = world.goodWorker(assignment);
      // A second time it would take longer than the caches are behind.
      const again = left && assignment.stage === 'drain';
      left ||= assignment.stage === 'leave';
      return assignment.force && !again ? good : { ...good, drained: false, left: false };
    };
    scenario.start();
    world.kcp.objects.edit(BINDINGS, WORKSPACE, 'b', (object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        annotations: { ...object.metadata.annotations, [FORCE_RELEASE_ANNOTATION]: 'true' },
      },
    }));
    world.kcp.later = (deliver) => void world.clock.after(1500, deliver);
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run(120_000);
    expectNothingLeft(world);
    world.kcp.objects.delete(CONNECTIONS, WORKSPACE, 'c');
    await world.run(60_000);
    expect(world.connection('c')).toBeUndefined();
  });

  it('touches no other account when forced without its own, and says that its copies stay', async () => {
    const world = await bound();
    const uid = world.connection('c')?.metadata.uid;
    const [state] = [...world.disk.states.values()].filter(({ value }) => value.connection.uid === uid);
    const account = state?.value.account;
    if (state === undefined || account === undefined) throw new Error('no account');
    world.disk.put({ ...state.value, account: { ...account, contractNamespaceUid: 'another' } });
    const stages: string[] = [];
    world.worker = (assignment) => {
      stages.push(`${assignment.stage} on ${assignment.provider.credentials.server}`);
      return world.goodWorker(assignment);
    };
    world.kcp.objects.edit(BINDINGS, WORKSPACE, 'b', (object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        annotations: { ...object.metadata.annotations, [FORCE_RELEASE_ANNOTATION]: 'true' },
      },
    }));
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run();
    expectNothingLeft(world);
    expect(stages.filter((stage) => !stage.startsWith('sync'))).toEqual([
      'drain on https://provider.invalid',
    ]);
    const [event] = world.kcp.objects.list(GVR.events, WORKSPACE);
    expect(textAt(event, 'message')).toContain('all copies');
  });

  it('works with the account that it was bound with, though another connection has the name by now', async () => {
    const world = await bound();
    const account = (): unknown => scenario.world.disk.states.values().next().value?.value.account;
    const former = account();
    const uid = world.connection('c')?.metadata.uid;
    world.kcp.objects.edit(CONNECTIONS, WORKSPACE, 'c', (object) => ({
      ...object,
      metadata: { ...object.metadata, uid: 'another-connection' },
    }));
    expect(former).toBeDefined();
    const servers: string[] = [];
    world.worker = (assignment) => {
      servers.push(`${assignment.stage} ${assignment.provider.credentials.server}`);
      return world.goodWorker(assignment);
    };
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run();
    expect(uid).not.toBe('another-connection');
    expect(world.binding('b')).toBeUndefined();
    expect(servers.some((each) => each.startsWith('drain '))).toBe(true);
    expect(servers.some((each) => each.includes('provider.invalid'))).toBe(false);
  });

  it('deletes nothing while the workspace cannot be reached', async () => {
    const world = await bound();
    world.kcp.unserved = true;
    await scenario.restart();
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run(60_000);
    expect(scenario.generatedBinding()?.metadata.deletionTimestamp).toBeUndefined();
    expect(scenario.reason('Syncing')).toBe('ConsumerUnreachable');
    world.kcp.unserved = false;
    await world.run();
    expectNothingLeft(world);
  });

  it('keeps a connection until its last binding is gone', async () => {
    const world = await bound();
    world.kcp.objects.delete(CONNECTIONS, WORKSPACE, 'c');
    await world.run();
    expect(scenario.reason('Ready', world.connection('c'))).toBe('BindingsRemain');
    expect(scenario.reason('Connected')).toBe('ConnectionDeleting');
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run();
    expect(world.connection('c')).toBeUndefined();
  });

  it('asks other bindings of the same contract which namespaces they use before it leaves', async () => {
    const world = await bound();
    world.worker = (assignment) => ({ ...world.goodWorker(assignment), namespaces: ['shared'] });
    world.createBinding('other', { connection: 'c', template: 'widgets' });
    await world.run();
    const { pool } = await scenario.restart();
    const seen = namespacesToldTo(pool);
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run();
    expect(seen).toEqual([['shared']]);
  });

  it('leaves after a minute where another binding never tells, and gives up no namespace', async () => {
    const world = await bound();
    world.createBinding('other', { connection: 'c', template: 'widgets' });
    await world.run();
    const unreadable = { status: 'False', reason: 'ConsumerUnreachable', message: '' } as const;
    world.worker = (assignment) => {
      const good = world.goodWorker(assignment);
      return assignment.bindingName === 'b'
        ? good
        : { ...good, conditions: { ...good.conditions, Syncing: unreadable } };
    };
    const { pool } = await scenario.restart();
    const seen = namespacesToldTo(pool);
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run(50_000);
    expect(seen).toEqual([]);
    expect(world.binding('b')).toBeDefined();
    await world.run(60_000);
    expect(seen).toEqual(['unknown']);
    expect(world.binding('b')).toBeUndefined();
  });
});

describe('a binding whose finalizer somebody took off', () => {
  it('is cleaned up when kcp says that it is gone', async () => {
    const world = await bound();
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    stripFinalizers(world);
    await world.run();
    expectNothingLeft(world);
  });

  it('is cleaned up after a restart too', async () => {
    const world = await bound();
    await scenario.close();
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    stripFinalizers(world);
    await scenario.restart();
    await world.run();
    expectNothingLeft(world);
  });

  it('is cleaned up when another one has taken its name, and the other is served', async () => {
    const world = await bound();
    await scenario.close();
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    stripFinalizers(world);
    const uid = world.createBinding('b', { connection: 'c', template: 'widgets' }).metadata.uid ?? 'none';
    await scenario.restart();
    await world.run();
    const left = world.generatedObjects();
    expect(left.filter((name) => name.startsWith('apiexports/'))).toEqual([expect.stringContaining(uid)]);
    expect(scenario.phase()).toBe('Ready');
  });

  it('is kept while the workspace does not answer', async () => {
    const world = await bound();
    await scenario.close();
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    stripFinalizers(world);
    const client = world.kcp.objects.get(GVR.apiBindings, WORKSPACE, 'kube-bind');
    const setExport =
      (name: string) =>
      (object: KubeObject): KubeObject => ({
        ...object,
        spec: { ...(object['spec'] as object), reference: { export: { path: 'root:kube-bind', name } } },
      });
    world.kcp.objects.edit(GVR.apiBindings, WORKSPACE, client.metadata.name, setExport('elsewhere'));
    await scenario.restart();
    await world.run(120_000);
    expect(world.generatedObjects()).not.toEqual([]);
    world.kcp.objects.edit(GVR.apiBindings, WORKSPACE, client.metadata.name, setExport('kcp.kube-bind.io'));
    world.kcp.accept(WORKSPACE, ALL_CLAIMS);
    await world.run(120_000);
    expectNothingLeft(world);
  });
});
