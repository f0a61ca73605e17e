import { readFile } from 'node:fs/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { readBench } from '../../harness/bench.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import {
  applyDatabase,
  bindWithPlugin,
  createConsumer,
  syncedDatabase,
  type Consumer,
} from '../../harness/consumer.js';
import { apply, kubectl } from '../../harness/kubectl.js';
import { madeForTenants } from '../../harness/leftovers.js';
import { uniqueName } from '../../harness/workspaces.js';

interface StoredSecret {
  metadata: Record<string, unknown>;
  data: { key: string };
}

/** Every account hangs on it: with another key each workspace would be a stranger to its provider. */
describe('the installation key', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('key')}`;
  let installation: ClientInstallation;
  let controller: Controller;
  let alice: Consumer;
  let backup: StoredSecret;
  let before: Awaited<ReturnType<typeof syncedDatabase>>;
  let made: string[];

  const admin = (...args: readonly string[]) =>
    kubectl(installation.workspace.kubeconfig, ['-n', 'kube-bind', ...args]);

  beforeAll(async () => {
    [installation, alice] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
    ]);
    controller = await startController({ installation, dir });
    await bindWithPlugin(alice, installation);
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 31 });
    before = await syncedDatabase(alice, 'main');
    made = await madeForTenants(installation);
    const secret = await admin('get', 'secret', 'kube-bind-installation', '-o', 'json');
    const { metadata, ...rest } = JSON.parse(secret) as StoredSecret;
    const { name, namespace, labels } = metadata;
    backup = { ...rest, metadata: { name, namespace, labels } };
    await controller.stop();
    await admin('delete', 'secret', 'kube-bind-installation');
  });

  afterAll(async () => {
    await controller.stop();
  });

  /** Starts a controller that is to end by itself, and gives its last line. */
  async function lastLine(): Promise<{ msg: string; err?: { code?: string } }> {
    controller = await startController({ installation, dir, dontWait: true });
    const { code } = await controller.child.ended;
    expect(code).toBe(1);
    const lines = (await readFile(controller.logFile, 'utf8')).trimEnd().split('\n');
    return JSON.parse(lines.at(-1) ?? '') as { msg: string };
  }

  it('that is lost ends the controller, which says how to go on', async () => {
    const { msg, err } = await lastLine();
    expect(err?.code).toBe('INSTALLATION_KEY_LOST');
    expect(msg).toContain('Secret kube-bind/kube-bind-installation is gone');
    expect(msg).toContain('Restore the Secret from a backup');
    expect(await admin('get', 'secrets', '-o', 'name')).not.toContain('kube-bind-installation');
  });

  it('that is damaged does so too', async () => {
    const short = { ...backup, data: { key: Buffer.from('short').toString('base64') } };
    await apply(installation.workspace.kubeconfig, JSON.stringify(short));
    const { msg, err } = await lastLine();
    expect(err?.code).toBe('INSTALLATION_KEY_INVALID');
    expect(msg).toContain('restore it from a backup');
    await admin('delete', 'secret', 'kube-bind-installation');
  });

  it('brings back every account when it is restored', async () => {
    expect(await madeForTenants(installation)).toEqual(made);
    await apply(installation.workspace.kubeconfig, JSON.stringify(backup));
    controller = await startController({ installation, dir });
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 32 });
    const after = await syncedDatabase(alice, 'main', (_, copy) => copy.spec.sizeGiB === 32);
    expect(after.copy.metadata.uid).toBe(before.copy.metadata.uid);
    const key = await admin('get', 'secret', 'kube-bind-installation', '-o', 'jsonpath={.data.key}');
    expect(key).toBe(backup.data.key);
  });
});
