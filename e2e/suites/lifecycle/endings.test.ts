import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { readBench } from '../../harness/bench.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { conditionWith } from '../../harness/conditions.js';
import {
  applyDatabase,
  bindWithPlugin,
  copiesOf,
  createConsumer,
  readDatabase,
  syncedDatabase,
  type Consumer,
} from '../../harness/consumer.js';
import { kubectl, runKubectl } from '../../harness/kubectl.js';
import { madeForTenants } from '../../harness/leftovers.js';
import { waitFor } from '../../harness/wait-for.js';
import { deleteWorkspace, uniqueName } from '../../harness/workspaces.js';

/** Every order in which a binding can end, and two accidents that are no end. */
describe('a bound workspace with an object', () => {
  const bench = readBench();
  let installation: ClientInstallation;
  let controller: Controller;

  beforeAll(async () => {
    installation = await installClient(bench.consumers, uniqueName('kube-bind'));
    controller = await startController({ installation, dir: `${bench.dir}/${uniqueName('endings')}` });
  });

  afterAll(async () => {
    await controller.stop();
  });

  async function boundConsumer(): Promise<{ consumer: Consumer; generated: string; connection: string }> {
    const consumer = await createConsumer('alice');
    await bindWithPlugin(consumer, installation);
    await applyDatabase(consumer.kubeconfig, 'main', { engine: 'postgres' });
    await syncedDatabase(consumer, 'main');
    const read = async (path: string, kind: string) =>
      kubectl(consumer.kubeconfig, ['get', kind, '-o', `jsonpath={.items[0]${path}}`]);
    return {
      consumer,
      generated: await read('.status.apiBinding', 'kubebindbindings'),
      connection: await read('.metadata.name', 'kubebindconnections'),
    };
  }

  const nothingIsLeft = () =>
    waitFor(async () => (await madeForTenants(installation)).length === 0, {
      what: 'all that was made for the workspace to be gone',
      timeout: 120_000,
      interval: 500,
    });

  it('comes back as it was after a user deleted the generated APIBinding', async () => {
    const { consumer, generated } = await boundConsumer();
    const before = await syncedDatabase(consumer, 'main');
    await kubectl(consumer.kubeconfig, ['delete', 'apibinding', generated, '--wait=false']);
    await waitFor(
      async () => {
        const text = await kubectl(consumer.kubeconfig, ['get', 'apibinding', generated, '-o', 'json']);
        const { metadata } = JSON.parse(text) as { metadata: { deletionTimestamp?: string } };
        return metadata.deletionTimestamp === undefined;
      },
      { what: 'the APIBinding to be made again', timeout: 90_000, interval: 500 },
    );
    await conditionWith(consumer.kubeconfig, 'kubebindbinding', 'databases', {
      type: 'Ready',
      reason: 'Ready',
    });
    await waitFor(() => applyDatabase(consumer.kubeconfig, 'main', { engine: 'mysql' }).then(() => true), {
      what: 'the API to be served again',
    });
    const after = await syncedDatabase(consumer, 'main', (_, copy) => copy.spec.engine === 'mysql');
    expect(after.copy.metadata.namespace).toBe(before.copy.metadata.namespace);
    await deleteWorkspace(bench.consumers, consumer.workspace);
    await nothingIsLeft();
  });

  it('keeps its object and its copy when an admin deletes the generated export, which is made again', async () => {
    const { consumer, generated } = await boundConsumer();
    const before = await syncedDatabase(consumer, 'main');
    await kubectl(installation.workspace.kubeconfig, ['delete', 'apiexport', generated]);
    await waitFor(
      async () => {
        const answer = await runKubectl(installation.workspace.kubeconfig, ['get', 'apiexport', generated]);
        return answer.code === 0;
      },
      { what: 'the generated export to be made again', timeout: 60_000 },
    );
    await applyDatabase(consumer.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 77 });
    const after = await syncedDatabase(consumer, 'main', (_, copy) => copy.spec.sizeGiB === 77);
    expect(after.object.metadata.uid).toBe(before.object.metadata.uid);
    expect(after.copy.metadata.uid).toBe(before.copy.metadata.uid);
    await deleteWorkspace(bench.consumers, consumer.workspace);
    await nothingIsLeft();
  });

  it('ends clean when the workspace is deleted', async () => {
    const { consumer } = await boundConsumer();
    const { object } = await syncedDatabase(consumer, 'main');
    await deleteWorkspace(bench.consumers, consumer.workspace, 120_000);
    expect(await copiesOf(object)).toEqual([]);
    await nothingIsLeft();
  });

  it('ends clean when the APIBinding to the client export is deleted first', async () => {
    const { consumer } = await boundConsumer();
    const { object } = await syncedDatabase(consumer, 'main');
    await kubectl(consumer.kubeconfig, ['delete', 'apibinding', 'kcp.kube-bind.io', '--timeout=120s'], {
      timeout: 130_000,
    });
    expect(await copiesOf(object)).toEqual([]);
    const left = await kubectl(consumer.kubeconfig, ['get', 'apibindings', '-o', 'name']);
    expect(left).not.toMatch(/kbb-|kube-bind/);
    await nothingIsLeft();
  });

  it('lets the connection go only after its bindings, and says so', async () => {
    const { consumer, connection } = await boundConsumer();
    await kubectl(consumer.kubeconfig, ['delete', 'kubebindconnection', connection, '--wait=false']);
    const waiting = await conditionWith(consumer.kubeconfig, 'kubebindconnection', connection, {
      type: 'Ready',
      reason: 'BindingsRemain',
    });
    expect(waiting.message).toContain('databases');
    expect(await readDatabase(consumer.kubeconfig, 'main')).toBeDefined();
    await kubectl(consumer.kubeconfig, ['delete', 'kubebindbinding', 'databases', '--timeout=90s']);
    await waitFor(
      async () => {
        const answer = await runKubectl(consumer.kubeconfig, ['get', 'kubebindconnection', connection]);
        return answer.stderr.includes('NotFound');
      },
      { what: 'the connection to go', timeout: 60_000 },
    );
    await nothingIsLeft();
  });

  it('ends clean when the controller was stopped before and started after', async () => {
    const { consumer } = await boundConsumer();
    const { object } = await syncedDatabase(consumer, 'main');
    const dir = controller.logFile.replace(/\/controller\.log$/, '');
    await controller.stop();
    await kubectl(consumer.kubeconfig, ['delete', 'database', 'main', '-n', 'default', '--wait=false']);
    await kubectl(consumer.kubeconfig, ['delete', 'kubebindbinding', 'databases', '--wait=false']);
    controller = await startController({ installation, dir });
    await waitFor(
      async () => {
        const answer = await runKubectl(consumer.kubeconfig, ['get', 'kubebindbinding', 'databases']);
        return answer.stderr.includes('NotFound');
      },
      { what: 'the binding to go', timeout: 90_000 },
    );
    expect(await copiesOf(object)).toEqual([]);
    await deleteWorkspace(bench.consumers, consumer.workspace);
    await nothingIsLeft();
  });
});
