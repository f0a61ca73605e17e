import { afterEach, describe, expect, it } from '@jest/globals';
import { CONNECTIONS } from '../api/group.js';
import { GVR } from '../api/gvr.js';
import { identitySecret, serviceAccount } from './binding/manifests.js';
import { CLIENT_CLUSTER, NAMESPACE } from './testing/fake-kcp.js';
import { WORKSPACE } from './testing/fake-world.js';
import { Scenario } from './testing/scenario.js';

let scenario: Scenario;

afterEach(() => scenario.close());

const GONE = { cluster: WORKSPACE, name: 'gone', uid: 'gone-uid' };

function stripFinalizers(): void {
  scenario.world.kcp.objects.edit(CONNECTIONS, WORKSPACE, 'c', (object) => ({
    ...object,
    metadata: { ...object.metadata, finalizers: [] },
  }));
}

describe('looking through the client workspace', () => {
  it('takes parts away whose binding is gone, and leaves those of others', async () => {
    scenario = new Scenario();
    await scenario.bind();
    const { objects } = scenario.world.kcp;
    const before = scenario.world.generatedObjects();
    objects.create(GVR.secrets, CLIENT_CLUSTER, identitySecret(GONE, NAMESPACE, new Uint8Array(32)));
    objects.create(GVR.serviceAccounts, CLIENT_CLUSTER, serviceAccount(GONE, NAMESPACE));
    await scenario.world.run(90_000);
    expect(scenario.world.generatedObjects()).toEqual(before);
  });

  it('believes no label that does not fit the name', async () => {
    scenario = new Scenario();
    const secret = identitySecret(GONE, NAMESPACE, new Uint8Array(32));
    const renamed = { ...secret, metadata: { ...secret.metadata, name: 'precious' } };
    scenario.world.kcp.objects.create(GVR.secrets, CLIENT_CLUSTER, renamed);
    scenario.start();
    await scenario.world.run(90_000);
    expect(scenario.world.generatedObjects()).toEqual(['secrets/precious']);
  });

  it('removes the state of a connection that is gone', async () => {
    scenario = new Scenario();
    scenario.world.kcp.objects.delete(CONNECTIONS, WORKSPACE, 'c');
    scenario.start();
    await scenario.world.run(90_000);
    expect(scenario.world.disk.states.size).toBe(0);
  });

  it('keeps a state that bindings still need', async () => {
    scenario = new Scenario();
    await scenario.bind();
    scenario.world.kcp.objects.delete(CONNECTIONS, WORKSPACE, 'c');
    stripFinalizers();
    await scenario.world.run(90_000);
    expect(scenario.world.connection('c')).toBeUndefined();
    expect(scenario.world.disk.states.size).toBe(1);
  });

  it('keeps the state of a connection whose workspace does not answer', async () => {
    scenario = new Scenario();
    const { objects } = scenario.world.kcp;
    objects.edit(GVR.apiBindings, WORKSPACE, 'kube-bind', (object) => ({
      ...object,
      spec: { reference: { export: { path: 'root:elsewhere', name: 'x' } } },
    }));
    objects.delete(CONNECTIONS, WORKSPACE, 'c');
    scenario.start();
    await scenario.world.run(90_000);
    expect(scenario.world.disk.states.size).toBe(1);
  });
});
