import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';

import { readBench } from '../../harness/bench.js';
import { bindClient } from '../../harness/client-binding.js';
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
} from '../../harness/consumer.js';
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { madeForTenants } from '../../harness/leftovers.js';
import { runPlugin } from '../../harness/plugin.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';

interface GeneratedBinding {
  metadata: { name: string };
  spec: { reference: { export: { path: string; name: string } } };
}

/** The mode for those who do not trust the installation with the claim on `apibindings`. */
describe('a workspace that rejects the claim on apibindings', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('without-claim')}`;
  let installation: ClientInstallation;
  let controller: Controller | undefined;
  let alice: Consumer;
  let bob: Consumer;
  let carol: Consumer;
  let generated: GeneratedBinding;
  let advice = '';

  beforeAll(async () => {
    [installation, alice, bob, carol] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
      createConsumer('bob'),
      createConsumer('carol'),
    ]);
    controller = await startController({ installation, dir });
    await bindClient(alice.kubeconfig, installation, { rejected: ['apibindings'] });
  });

  afterAll(async () => {
    await controller?.stop();
  });

  it('is told which export to bind, and how', async () => {
    // Without --wait the plugin only asks; it would bind the export by itself otherwise.
    await bindWithPlugin(alice, installation, { args: ['--wait=false'] });
    const bound = await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', {
      type: 'APIBound',
      reason: 'ClaimMissing',
    });
    expect(bound.status).toBe('False');
    advice = bound.message.slice(bound.message.indexOf('apiVersion:'));
    generated = parse(advice) as GeneratedBinding;
    expect(generated.spec.reference.export).toEqual({
      path: installation.workspace.path,
      name: expect.stringMatching(/^kbb-/),
    });
    expect(bound.message).toContain(`${installation.workspace.path}:${generated.spec.reference.export.name}`);
    const bindings = await kubectl(alice.kubeconfig, ['get', 'apibindings', '-o', 'name']);
    expect(bindings).not.toContain('kbb-');
  });

  it('is served as soon as its admin has applied that YAML', async () => {
    await waitFor(() => apply(alice.kubeconfig, advice), { what: 'the YAML of the condition to be taken' });
    await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', { type: 'Ready', reason: 'Ready' });
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 7 });
    const { object, copy } = await syncedDatabase(alice, 'main');
    expect(object.status?.endpoint).toBe(copy.status?.endpoint);
  });

  it('shares nothing with another tenant who binds the same export', async () => {
    await waitFor(() => apply(bob.kubeconfig, advice), { what: "bob's binding to alice's export" });
    await waitFor(() => applyDatabase(bob.kubeconfig, 'intruder', { engine: 'mysql' }).then(() => true), {
      what: "the API to be served in bob's workspace",
    });
    await applyDatabase(bob.kubeconfig, 'main', { engine: 'mysql' });
    await applyDatabase(alice.kubeconfig, 'second', { engine: 'postgres' });
    await syncedDatabase(alice, 'second');

    const seen = await kubectl(bob.kubeconfig, [
      'get',
      'databases',
      '-A',
      '-o',
      'jsonpath={..metadata.name}',
    ]);
    expect(seen.split(' ').sort()).toEqual(['intruder', 'main']);
    const theirs = await Promise.all(
      ['main', 'intruder'].map(async (name) => {
        const object = await readDatabase(bob.kubeconfig, name);
        if (object === undefined) throw new Error(`bob's ${name} is gone`);
        return object;
      }),
    );
    const uids = theirs.map(({ metadata }) => metadata.uid);
    await staysTrue(
      async () =>
        (await allCopies()).every(
          ({ metadata }) => !uids.includes(metadata.annotations?.['kube-bind.io/consumer-uid'] ?? ''),
        ),
      { what: "bob's objects to stay away from the provider", ms: 5000, interval: 1000 },
    );
    for (const object of theirs) {
      expect(object.status).toBeUndefined();
      expect(object.metadata.finalizers ?? []).toEqual([]);
    }
    expect((await syncedDatabase(alice, 'main')).copy.spec).toMatchObject({ engine: 'postgres', sizeGiB: 7 });
  });

  it('keeps its objects when that other tenant unbinds, who leaves nothing', async () => {
    await kubectl(bob.kubeconfig, ['delete', 'apibinding', generated.metadata.name, '--timeout=60s']);
    const api = await runKubectl(bob.kubeconfig, ['get', 'databases.example.org', '-A']);
    expect(api.code).not.toBe(0);
    const { object } = await syncedDatabase(alice, 'main');
    expect(object.metadata.deletionTimestamp).toBeUndefined();
    const owners = await kubectl(bob.kubeconfig, ['get', 'apibindings', '-o', 'name']);
    expect(owners).not.toContain('kbb-');
  });

  it('is bound by the plugin without a person who applies YAML', async () => {
    const run = await bindWithPlugin(carol, installation, { args: ['--no-apibindings-claim'] });
    expect(run.stderr).toMatch(/creating APIBinding kbb-/);
    const text = await kubectl(carol.kubeconfig, ['get', 'apibinding', 'kcp.kube-bind.io', '-o', 'json']);
    const client = JSON.parse(text) as { spec: { permissionClaims: { resource: string; state: string }[] } };
    expect(client.spec.permissionClaims.find(({ resource }) => resource === 'apibindings')?.state).toBe(
      'Rejected',
    );
    await applyDatabase(carol.kubeconfig, 'main', { engine: 'mysql' });
    await syncedDatabase(carol, 'main');
  });

  it('leaves nothing behind after unbind, on either side', async () => {
    const copies = await Promise.all([syncedDatabase(alice, 'main'), syncedDatabase(carol, 'main')]);
    for (const consumer of [alice, carol]) {
      const unbind = await runPlugin(consumer.kubeconfig, ['unbind', 'databases', '--connection', '--yes']);
      expect(unbind).toMatchObject({ code: 0 });
      const bindings = await kubectl(consumer.kubeconfig, ['get', 'apibindings', '-o', 'name']);
      expect(bindings).not.toContain('kbb-');
    }
    const places = copies.map(({ copy }) => copy.metadata.namespace);
    expect((await allCopies()).filter(({ metadata }) => places.includes(metadata.namespace))).toEqual([]);
    expect(await madeForTenants(installation)).toEqual([]);
  });

  it('can no longer be bound by anybody once it is gone', async () => {
    const answer = await runKubectl(bob.kubeconfig, ['apply', '-f', '-'], { input: stringify(generated) });
    expect(answer.stderr).toContain('no permission to bind');
  });
});
