import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { writesSince } from '../../harness/audit-log.js';
import { readBench } from '../../harness/bench.js';
import { CLAIMS, clientBinding, type Claim } from '../../harness/client-binding.js';
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
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { madeForTenants } from '../../harness/leftovers.js';
import { ROOT } from '../../harness/root.js';
import { waitFor } from '../../harness/wait-for.js';
import { deleteWorkspace, uniqueName } from '../../harness/workspaces.js';

/** What users and admins do to a binding in the middle of its work. */
describe('a binding at work', () => {
  const bench = readBench();
  let installation: ClientInstallation;
  let controller: Controller;
  let alice: Consumer;
  let size = 10;

  /** A change goes up and its status comes down; within half a minute. */
  async function stillSyncs(): Promise<void> {
    size += 1;
    const wanted = size;
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: wanted });
    await waitFor(async () => (await readDatabase(alice.kubeconfig, 'main'))?.status?.sizeGiB === wanted, {
      what: 'a change to arrive',
      timeout: 30_000,
    });
  }

  const deletionsSince = async (began: number, namespace: string) =>
    (await writesSince(bench.providers.auditLog, began)).filter(
      ({ verb, uri }) => verb.startsWith('delete') && uri.includes(namespace),
    );

  beforeAll(async () => {
    [installation, alice] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
    ]);
    controller = await startController({ installation, dir: `${bench.dir}/${uniqueName('accidents')}` });
    await bindWithPlugin(alice, installation);
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: size });
    await syncedDatabase(alice, 'main');
  });

  afterAll(async () => {
    await controller.stop();
  });

  it('lets a namespace go with its objects and their copies, and nothing else', async () => {
    const { object: main } = await syncedDatabase(alice, 'main');
    await kubectl(alice.kubeconfig, ['create', 'namespace', 'team']);
    const names = ['one', 'two', 'three'];
    for (const name of names)
      await applyDatabase(alice.kubeconfig, name, { engine: 'mysql' }, { namespace: 'team' });
    const objects = await Promise.all(
      names.map((name) =>
        waitFor(
          async () => {
            const object = await readDatabase(alice.kubeconfig, name, 'team');
            return object?.status?.phase === 'Running' && object;
          },
          { what: `${name} to be served`, timeout: 60_000 },
        ),
      ),
    );
    await kubectl(alice.kubeconfig, ['delete', 'namespace', 'team', '--timeout=120s'], { timeout: 130_000 });
    for (const object of objects) expect(await copiesOf(object)).toEqual([]);
    expect(await copiesOf(main)).toHaveLength(1);
    await stillSyncs();
  });

  it('goes on when every claim is rejected, and says so until they are accepted again', async () => {
    const began = Date.now();
    const { copy } = await syncedDatabase(alice, 'main');
    const name = 'kcp.kube-bind.io';
    const rejected = Object.keys(CLAIMS) as Claim[];
    await apply(alice.kubeconfig, clientBinding(installation, { name, rejected }));
    await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', {
      type: 'PermissionClaimsAccepted',
      reason: 'NotAccepted',
    });
    await stillSyncs();
    await apply(alice.kubeconfig, clientBinding(installation, { name }));
    await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', {
      type: 'PermissionClaimsAccepted',
      reason: 'Accepted',
    });
    await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', { type: 'Ready', reason: 'Ready' });
    await stillSyncs();
    const deletions = await deletionsSince(began, copy.metadata.namespace);
    expect(deletions.filter(({ uri }) => uri.includes('/databases'))).toEqual([]);
    expect((await syncedDatabase(alice, 'main')).copy.metadata.uid).toBe(copy.metadata.uid);
  });

  it('goes on while the client export is gone, and everything works when it is back', async () => {
    const began = Date.now();
    const { copy } = await syncedDatabase(alice, 'main');
    const made = await madeForTenants(installation);
    const admin = installation.workspace.kubeconfig;
    await kubectl(admin, ['delete', 'apiexport', 'kcp.kube-bind.io', '--timeout=60s']);
    await waitFor(
      async () => {
        const answer = await runKubectl(alice.kubeconfig, [
          'get',
          'apibinding',
          'kcp.kube-bind.io',
          '-o',
          'json',
        ]);
        return answer.stdout.includes('APIExportNotFound');
      },
      { what: 'kcp to notice', timeout: 30_000 },
    ).catch(() => undefined);
    await stillSyncs();
    expect(await madeForTenants(installation)).toEqual(made);
    await kubectl(admin, ['apply', '-k', `${ROOT}/apiexport`]);
    // A pause is seen by the main thread, through the client export's virtual workspace.
    for (const paused of [true, false]) {
      await waitFor(
        () =>
          kubectl(alice.kubeconfig, [
            ...[
              'patch',
              'kubebindbinding',
              'databases',
              '--type=merge',
              '-p',
              JSON.stringify({ spec: { paused } }),
            ],
          ]),
        { what: 'our kinds to be served again', timeout: 30_000 },
      );
      await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', {
        type: 'Ready',
        reason: paused ? 'Paused' : 'Ready',
      });
    }
    await stillSyncs();
    expect(await deletionsSince(began, copy.metadata.namespace)).toEqual([]);
    expect((await syncedDatabase(alice, 'main')).copy.metadata.uid).toBe(copy.metadata.uid);
  });

  it('ends clean all the same', async () => {
    const { object } = await syncedDatabase(alice, 'main');
    await deleteWorkspace(bench.consumers, alice.workspace, 120_000);
    expect(await copiesOf(object)).toEqual([]);
    await waitFor(async () => (await madeForTenants(installation)).length === 0, {
      what: 'all that was made for the workspace to be gone',
      timeout: 60_000,
    });
  });
});
