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
  createConsumer,
  syncedDatabase,
  type Consumer,
} from '../../harness/consumer.js';
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';

interface Resource {
  metadata: { name: string; labels?: unknown; annotations?: unknown };
  spec: {
    versions: { name: string; served: boolean; storage: boolean }[];
    resources: { schema: string }[];
  };
}

/** What kcp takes without a word, and is stuck with then. */
describe('a bound API', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('changes')}`;
  let installation: ClientInstallation;
  let controller: Controller | undefined;

  async function boundConsumer(): Promise<Consumer> {
    const consumer = await createConsumer('alice');
    await bindWithPlugin(consumer, installation);
    await applyDatabase(consumer.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 11 });
    await syncedDatabase(consumer, 'main');
    return consumer;
  }
  const condition = (consumer: Consumer, type: string, reason: string) =>
    conditionWith(consumer.kubeconfig, 'kubebindbinding', 'databases', { type, reason, timeout: 120_000 });
  beforeAll(async () => {
    installation = await installClient(bench.consumers, uniqueName('kube-bind'));
    controller = await startController({ installation, dir });
  });

  afterAll(async () => {
    await controller?.stop();
  });

  it('is mended when somebody made kcp serve a schema without the version of the stored objects', async () => {
    const consumer = await boundConsumer();
    const before = await syncedDatabase(consumer, 'main');
    const owner = installation.workspace.kubeconfig;
    const name = await kubectl(consumer.kubeconfig, [
      'get',
      'kubebindbinding',
      'databases',
      '-o',
      'jsonpath={.status.apiExport.name}',
    ]);
    const read = async (kind: string, which: string) =>
      JSON.parse(await kubectl(owner, ['get', kind, which, '-o', 'json'])) as Resource;
    const served = async () =>
      (await runKubectl(consumer.kubeconfig, ['get', 'databases.v1.example.org', '-A'])).code === 0;
    // A controller that runs would put it right before kcp has followed.
    await controller?.stop();
    const generated = await read('apiexport', name);
    const schema = await read('apiresourceschema', generated.spec.resources[0]?.schema ?? '');
    schema.metadata = { name: `x${uniqueName('foreign')}.databases.example.org` };
    for (const version of schema.spec.versions) version.name = 'v9';
    await apply(owner, JSON.stringify(schema));
    for (const resource of generated.spec.resources) resource.schema = schema.metadata.name;
    await kubectl(owner, ['replace', '-f', '-'], { input: JSON.stringify(generated) });
    await waitFor(async () => !(await served()), { what: 'kcp to be stuck', timeout: 60_000, interval: 500 });

    controller = await startController({ installation, dir });
    await waitFor(served, { what: 'the API to be served again', timeout: 120_000, interval: 500 });
    await condition(consumer, 'Ready', 'Ready');
    await applyDatabase(consumer.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 13 });
    const after = await syncedDatabase(consumer, 'main', (_object, copy) => copy.spec.sizeGiB === 13);
    expect(after.object.metadata.uid).toBe(before.object.metadata.uid);
    expect(after.copy.metadata.uid).toBe(before.copy.metadata.uid);
    await kubectl(consumer.kubeconfig, ['delete', 'kubebindbinding', 'databases', '--timeout=110s']);
  });
});
