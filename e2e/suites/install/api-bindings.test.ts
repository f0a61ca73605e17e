import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';

import { generatedBindingName } from '../../../src/api/names.js';
import { writesSince } from '../../harness/audit-log.js';
import { readBench } from '../../harness/bench.js';
import { bindClient, CLAIMS } from '../../harness/client-binding.js';
import {
  CONTROLLER_USER,
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { conditionWith } from '../../harness/conditions.js';
import {
  applyDatabase,
  bindWithPlugin,
  createConsumer,
  syncedDatabase,
  type Consumer,
} from '../../harness/consumer.js';
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { runPlugin } from '../../harness/plugin.js';
import { bindToys, offerToys } from '../../harness/toy-export.js';
import { createWorkspace, uniqueName, type Workspace } from '../../harness/workspaces.js';

interface ApiBinding {
  metadata: { name: string; uid: string; resourceVersion: string };
  spec: { reference: { export: { path: string; name: string } } };
}

async function apiBindings(kubeconfig: string): Promise<ApiBinding[]> {
  const text = await kubectl(kubeconfig, ['get', 'apibindings', '-o', 'json']);
  return (JSON.parse(text) as { items: ApiBinding[] }).items;
}

/** Which APIBindings of a workspace the client makes, uses, and leaves alone. */
describe('the APIBindings of a workspace', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('api-bindings')}`;
  let installation: ClientInstallation;
  const startedAt = Date.now();
  let controller: Controller | undefined;
  let alice: Consumer;
  let bob: Consumer;
  let toys: Workspace;

  /**
   * UIDs and specs. Not resourceVersions: kcp itself labels every APIBinding of a workspace anew whenever an
   * export that claims `apibindings` is bound there. Who else wrote is in the audit log.
   */
  const specs = async (names: readonly string[]) =>
    (await apiBindings(alice.kubeconfig))
      .filter(({ metadata }) => names.includes(metadata.name))
      .map(({ metadata, spec }) => ({ name: metadata.name, uid: metadata.uid, spec }));
  const writers = async (names: readonly string[]) => {
    const writes = await writesSince(bench.consumers.auditLog, startedAt);
    const isTo = (uri: string) => names.includes(/\/apibindings\/([^/?]+)/.exec(uri)?.[1] ?? '');
    return new Set(writes.filter(({ uri }) => isTo(uri)).map(({ user }) => user));
  };
  const toClient = async (consumer: Consumer) =>
    (await apiBindings(consumer.kubeconfig))
      .filter(({ spec }) => spec.reference.export.name === 'kcp.kube-bind.io')
      .map(({ metadata }) => metadata.name);

  beforeAll(async () => {
    [installation, alice, bob, toys] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
      createConsumer('bob'),
      createWorkspace(bench.consumers, 'root', uniqueName('toys')),
    ]);
    controller = await startController({ installation, dir });
    for (const name of ['unrelated', 'decoy', 'squatter']) await offerToys(toys, name);
  });

  afterAll(async () => {
    await controller?.stop();
  });

  it('are not doubled by the plugin when the client is bound under another name', async () => {
    await bindClient(alice.kubeconfig, installation, { name: 'my-own-name' });
    await bindWithPlugin(alice, installation, { args: ['--connection=provider'] });
    expect(await toClient(alice)).toEqual(['my-own-name']);
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres' });
    await syncedDatabase(alice, 'main');
  });

  it('are not doubled when the one to the client was written as v1alpha1', async () => {
    const permissionClaims = Object.entries(CLAIMS).map(([resource, { group }]) => ({
      group,
      resource,
      all: true,
      state: 'Accepted',
    }));
    const manifest = stringify({
      apiVersion: 'apis.kcp.io/v1alpha1',
      kind: 'APIBinding',
      metadata: { name: 'of-old' },
      spec: {
        reference: { export: { path: installation.workspace.path, name: 'kcp.kube-bind.io' } },
        permissionClaims,
      },
    });
    await apply(bob.kubeconfig, manifest);
    await bindWithPlugin(bob, installation);
    expect(await toClient(bob)).toEqual(['of-old']);
    await applyDatabase(bob.kubeconfig, 'main', { engine: 'mysql' });
    await syncedDatabase(bob, 'main');
  });

  it('are not doubled by a second run of the plugin either', async () => {
    const before = await apiBindings(bob.kubeconfig);
    await bindWithPlugin(bob, installation);
    expect((await apiBindings(bob.kubeconfig)).map(({ metadata }) => metadata.uid).sort()).toEqual(
      before.map(({ metadata }) => metadata.uid).sort(),
    );
  });

  it("cannot refer to another tenant's generated export", async () => {
    const generated = (await apiBindings(alice.kubeconfig)).find(({ metadata }) =>
      metadata.name.startsWith('kbb-'),
    );
    const answer = await runKubectl(bob.kubeconfig, ['apply', '-f', '-'], {
      input: stringify({
        apiVersion: 'apis.kcp.io/v1alpha2',
        kind: 'APIBinding',
        metadata: { name: 'stolen' },
        spec: { reference: generated?.spec.reference },
      }),
    });
    expect(generated?.spec.reference.export.path).toBe(installation.workspace.path);
    expect(answer.code).not.toBe(0);
    expect(answer.stderr).toContain('no permission to bind');
  });

  it('are left alone, whatever their labels, while ours is unbound and bound again', async () => {
    const uid = await kubectl(alice.kubeconfig, [
      'get',
      'kubebindbinding',
      'databases',
      '-o',
      'jsonpath={.metadata.uid}',
    ]);
    const unrelated = uniqueName('unrelated');
    await bindToys(alice.kubeconfig, toys, 'unrelated', { name: unrelated });
    const labels = {
      'kcp.kube-bind.io/binding-uid': uid,
      'kcp.kube-bind.io/component': 'generated-binding',
    };
    await bindToys(alice.kubeconfig, toys, 'decoy', { name: `kbb-${uid}-decoy`, labels });
    const foreign = [unrelated, `kbb-${uid}-decoy`];
    const before = await specs(foreign);
    expect(before).toHaveLength(2);

    const unbind = await runPlugin(alice.kubeconfig, ['unbind', 'databases', '--yes']);
    expect(unbind).toMatchObject({ code: 0 });
    expect(await specs(foreign)).toEqual(before);
    await bindWithPlugin(alice, installation, { args: ['--connection=provider'] });
    expect(await specs(foreign)).toEqual(before);
    await kubectl(alice.kubeconfig, ['delete', 'kubebindbinding', 'databases', '--timeout=60s']);
    expect(await specs(foreign)).toEqual(before);
    expect([...(await writers(foreign))].sort()).toEqual(['system:apiserver']);
  });

  it('are left alone when one has our name and label, and that is said', async () => {
    const binding = (connection: string) =>
      stringify({
        apiVersion: 'kcp.kube-bind.io/v1alpha1',
        kind: 'KubeBindBinding',
        metadata: { name: 'squatted' },
        spec: { connection, template: 'databases' },
      });
    // Its connection is not there yet, so that the name can be taken before the controller needs it.
    await apply(alice.kubeconfig, binding('later'));
    const uid = await kubectl(alice.kubeconfig, [
      'get',
      'kubebindbinding',
      'squatted',
      '-o',
      'jsonpath={.metadata.uid}',
    ]);
    const name = generatedBindingName(alice.workspace.cluster, uid);
    const labels = { 'kcp.kube-bind.io/binding-uid': uid };
    await bindToys(alice.kubeconfig, toys, 'squatter', { name, labels });
    const before = await specs([name]);
    expect(before).toHaveLength(1);
    const login = await runPlugin(alice.kubeconfig, [
      bench.backendUrl,
      `--client-path=${installation.workspace.path}`,
      '--connection=later',
      '--account=later',
      '--template=databases',
      '--name=squatted',
      '--no-browser',
      '--timeout=60s',
    ]);
    expect(login.code).not.toBe(0);
    const said = await conditionWith(alice.kubeconfig, 'kubebindbinding', 'squatted', {
      type: 'APIBound',
      reason: 'ForeignAPIBinding',
    });
    expect(said.message).toContain(name);
    expect(await specs([name])).toEqual(before);
    await kubectl(alice.kubeconfig, ['delete', 'kubebindbinding', 'squatted', '--timeout=60s']);
    expect(await specs([name])).toEqual(before);
    expect([...(await writers([name]))].sort()).toEqual(['system:apiserver']);
  });

  it('of our own are written by the controller, which is how we know that it would be seen', async () => {
    const generated = (await apiBindings(bob.kubeconfig))
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith('kbb-'));
    await kubectl(bob.kubeconfig, ['delete', 'kubebindbinding', 'databases', '--timeout=60s']);
    expect(await writers(generated)).toContain(CONTROLLER_USER);
  });
});
