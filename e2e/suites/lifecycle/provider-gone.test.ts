import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { writesSince } from '../../harness/audit-log.js';
import { readBench } from '../../harness/bench.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { ConcurrentCases } from '../../harness/concurrent-cases.js';
import { applyDatabase, readDatabase } from '../../harness/consumer.js';
import { startFaultProxy, type FaultProxy, type Verdict } from '../../harness/fault-proxy.js';
import { kubectl, runKubectl } from '../../harness/kubectl.js';
import { madeForTenants } from '../../harness/leftovers.js';
import { RequestLog } from '../../harness/request-log.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';
import {
  bindAccount,
  bindingSays,
  expectEdit,
  onKubernetes,
  type AccountTenant,
} from '../../harness/account-tenants.js';

/** Each tenant loses the same provider in another way; to the others it answers. */
describe('a provider that goes away', () => {
  const shared = readBench();
  const bench = onKubernetes(shared);
  const dir = `${shared.dir}/${uniqueName('provider-gone')}`;
  const began = Date.now();
  const lost = new Map<string, Verdict>();
  const together = new ConcurrentCases();
  let installation: ClientInstallation;
  let controller: Controller;
  let proxy: FaultProxy;
  let requests: RequestLog;

  beforeAll(async () => {
    [proxy, installation] = await Promise.all([
      startFaultProxy(shared.kubernetes),
      installClient(shared.consumers, uniqueName('kube-bind')),
    ]);
    requests = new RequestLog(proxy, ({ token }) => lost.get(token) ?? 'pass');
    controller = await startController({
      installation,
      dir,
      args: ['--request-timeout=5s', '--watch-silence=20s'],
    });
    together.start();
  });

  afterAll(async () => {
    await controller.stop();
    await proxy.close();
  });

  together.it('for a while is told at once, asked ever less, and catches up by itself', async () => {
    const tenant = await bound();
    const start = Date.now();
    lose(tenant, 'drop');
    const said = await bindingSays(tenant, {
      type: 'Connected',
      reason: 'ProviderUnreachable',
      timeout: 15_000,
    });
    expect(said.message).toMatch(/does not answer.*nothing is deleted meanwhile/);
    await bindingSays(tenant, { type: 'Ready', reason: 'NotReady' });
    await applyDatabase(tenant.consumer.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 31 });
    await bindingSays(tenant, { type: 'Syncing', reason: 'ProviderUnreachable' });
    await waitFor(() => Date.now() > start + 40_000, { what: 'the outage to last' });
    // A handful of watches and one look at the provider, each every few seconds.
    const asked = requests.since(Date.now() - 20_000, ({ token }) => token === tenant.token);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThan(60);
    await comesBack(tenant, 31);
  });

  together.it(
    'without a word, as when packets vanish, is told as soon as its silence is too long',
    async () => {
      const tenant = await bound();
      lose(tenant, 'hold');
      await applyDatabase(tenant.consumer.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 32 });
      const said = await bindingSays(tenant, {
        type: 'Connected',
        reason: 'ProviderUnreachable',
        timeout: 40_000,
      });
      expect(said.message).toMatch(/does not answer/);
      await comesBack(tenant, 32);
    },
  );

  together.it(
    'for good keeps nobody from leaving: by force, in less than a minute, and what stays is listed',
    async () => {
      const tenant = await bound();
      const { kubeconfig, workspace } = tenant.consumer;
      const { copy } = tenant.before;
      lose(tenant, 'drop');
      await kubectl(kubeconfig, ['delete', 'kubebindbinding', 'databases', '--wait=false']);
      const waiting = await bindingSays(tenant, { type: 'Ready', reason: 'Deleting' });
      expect(waiting.message).toMatch(/does not answer/);
      expect(waiting.message).toContain('kcp.kube-bind.io/force-release: "true"');
      await staysTrue(async () => (await readDatabase(kubeconfig, 'main')) !== undefined, {
        what: 'nothing is let go without being told so',
        ms: 8000,
        interval: 2000,
      });
      const forced = Date.now();
      const force = ['kcp.kube-bind.io/force-release=true'];
      await kubectl(kubeconfig, ['annotate', 'kubebindbinding', 'databases', ...force]);
      await kubectl(kubeconfig, ['wait', '--for=delete', 'kubebindbinding/databases', '--timeout=60s']);
      await kubectl(kubeconfig, ['delete', 'kubebindconnection', 'provider', '--timeout=30s']);
      expect(Date.now() - forced).toBeLessThan(60_000);

      const events = await kubectl(kubeconfig, [
        ...[
          'get',
          'events',
          '-n',
          'default',
          '-o',
          'jsonpath={range .items[*]}{.reason}: {.message}{"\\n"}{end}',
        ],
      ]);
      const place = `${copy.metadata.namespace}/main`;
      expect(events).toMatch(
        new RegExp(`^Released: .*namespace ${tenant.account.namespace} of https.*`, 'm'),
      );
      expect(events).toMatch(new RegExp(`^Released: .*databases\\.example\\.org ${place}`, 'm'));
      expect(events).toMatch(new RegExp(`^LeftBehind: .*${place}`, 'm'));
      expect(await kubectl(kubeconfig, ['get', 'apibindings', '-o', 'name'])).not.toContain('kbb-');
      const served = await runKubectl(kubeconfig, ['get', 'databases.example.org']);
      expect(served.stderr).toContain("the server doesn't have a resource type");
      expect(await deletions(tenant)).toEqual([]);
      const stays = await kubectl(shared.kubernetes.kubeconfig, [
        ...['get', 'database', 'main', '-n', copy.metadata.namespace, '-o', 'jsonpath={.metadata.uid}'],
      ]);
      expect(stays).toBe(copy.metadata.uid);
      await waitFor(
        async () => (await madeForTenants(installation)).every((name) => !name.includes(workspace.cluster)),
        { what: 'all that was made for the workspace to be gone', timeout: 30_000 },
      );
    },
  );

  function bound(): Promise<AccountTenant> {
    return bindAccount({ bench, installation, server: proxy.address });
  }

  const isOf =
    ({ token }: AccountTenant) =>
    (request: { readonly token: string }): boolean =>
      request.token === token;

  function lose(tenant: AccountTenant, how: 'drop' | 'hold'): void {
    lost.set(tenant.token, how);
    proxy[how === 'drop' ? 'cut' : 'freeze'](isOf(tenant));
  }

  async function deletions(tenant: AccountTenant): Promise<string[]> {
    const writes = await writesSince(shared.kubernetes.auditLog, began);
    return writes
      .filter(({ user, verb }) => verb.startsWith('delete') && user.includes(`:${tenant.account.namespace}:`))
      .map(({ verb, uri }) => `${verb} ${uri}`);
  }

  /** What was edited meanwhile arrives, and then all is as before, with the same copy. */
  async function comesBack(tenant: AccountTenant, sizeGiB: number): Promise<void> {
    lost.delete(tenant.token);
    const back = Date.now();
    await bindingSays(tenant, { type: 'Ready', reason: 'Ready', timeout: 60_000 });
    const { copy } = await expectEdit({ bench }, tenant, sizeGiB);
    expect(copy.metadata.uid).toBe(tenant.before.copy.metadata.uid);
    expect(Date.now() - back).toBeLessThan(45_000);
    expect(await deletions(tenant)).toEqual([]);
  }
});
