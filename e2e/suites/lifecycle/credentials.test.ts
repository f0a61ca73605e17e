import { rename, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';

import { revocableToken, tokenForSeconds } from '../../harness/account-tokens.js';
import { readBench } from '../../harness/bench.js';
import {
  CONTROLLER_TOKEN,
  grantRoles,
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { ConcurrentCases } from '../../harness/concurrent-cases.js';
import { conditionWith } from '../../harness/conditions.js';
import { applyDatabase } from '../../harness/consumer.js';
import { startFaultProxy, type FaultProxy, type ProxiedRequest } from '../../harness/fault-proxy.js';
import { kubeconfigText } from '../../harness/kubeconfig.js';
import { metric } from '../../harness/metrics.js';
import { isListOf, isWatch, RequestLog } from '../../harness/request-log.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';
import {
  bindAccount,
  bindingSays,
  expectEdit,
  offerKubeconfig,
  onKubernetes,
  type AccountTenant,
} from '../../harness/account-tenants.js';

/** A heartbeat each five seconds: a binding at rest learns by it that it is refused. */
const HEARTBEAT = '--heartbeat-interval=10s';
const isListOfDatabases = isListOf('databases');

/** Each tenant has its own account on one real Kubernetes; all that is said to either server goes through a proxy. */
describe('credentials that change under a running controller', () => {
  const shared = readBench();
  const bench = onKubernetes(shared);
  const dir = `${shared.dir}/${uniqueName('credentials')}`;
  const tokenFile = `${dir}-token`;
  let installation: ClientInstallation;
  let controller: Controller;
  let consumerProxy: FaultProxy;
  let providerProxy: FaultProxy;
  let detour: FaultProxy;
  let toConsumers: RequestLog;
  let toProvider: RequestLog;
  let viaDetour: RequestLog;
  let refused: string | undefined;
  const together = new ConcurrentCases();

  beforeAll(async () => {
    [consumerProxy, providerProxy, detour, installation] = await Promise.all([
      startFaultProxy(shared.consumers),
      startFaultProxy(shared.kubernetes),
      startFaultProxy(shared.kubernetes),
      installClient(shared.consumers, uniqueName('kube-bind')),
    ]);
    toConsumers = new RequestLog(consumerProxy, ({ token }) =>
      token === refused ? { status: 401, body: UNAUTHORIZED } : 'pass',
    );
    toProvider = new RequestLog(providerProxy);
    viaDetour = new RequestLog(detour);
    await writeFile(tokenFile, CONTROLLER_TOKEN, { mode: 0o600 });
    const kubeconfig = `${dir}-controller.yaml`;
    await writeFile(
      kubeconfig,
      ownKubeconfig(`${consumerProxy.address}/clusters/${installation.workspace.path}`),
    );
    controller = await startController({
      installation,
      dir,
      kubeconfig,
      args: [`--vw-url-map=${shared.consumers.address}=${consumerProxy.address}`, HEARTBEAT],
    });
    together.start();
  });

  afterAll(async () => {
    await controller.stop();
    await Promise.all([consumerProxy, providerProxy, detour].map((proxy) => proxy.close()));
  });

  together.it(
    'goes on with a rotated token, asks for nothing anew, and does nothing for an equal kubeconfig',
    async () => {
      const tenant = await bound();
      const old = await revocableToken(shared.kubernetes, tenant.account);
      await offer(tenant, { token: old.token });
      await uses(old.token);
      const next = await revocableToken(shared.kubernetes, tenant.account);
      const start = Date.now();
      await offer(tenant, { token: next.token });
      await uses(next.token);
      await old.revoke();
      await expectSynced(tenant, 21);
      expect(toProvider.since(start, byToken(next.token, isListOfDatabases))).toEqual([]);
      expect(consumerLists(tenant, start)).toEqual([]);

      const still = Date.now();
      await offer(tenant, { token: next.token, annotations: { note: 'the same again' } });
      await staysTrue(() => toProvider.since(still, byToken(next.token, isWatch)).length === 0, {
        what: 'no watch is opened for a kubeconfig of equal content',
        ms: 5000,
      });
      expect(toProvider.since(still, byToken(old.token))).toEqual([]);
    },
  );

  together.it(
    'moves to another address of the same provider, and leaves the consumer’s side alone',
    async () => {
      const tenant = await bound();
      const start = Date.now();
      await offer(tenant, { server: detour.address });
      await expectSynced(tenant, 22);
      const left = Date.now();
      await expectSynced(tenant, 23);
      expect(viaDetour.since(start, byToken(tenant.token, isWatch))).not.toEqual([]);
      expect(toProvider.since(left, byToken(tenant.token))).toEqual([]);
      expect(consumerLists(tenant, start)).toEqual([]);
      const { copy } = await expectSynced(tenant, 24);
      // One generation for each edit: the move itself has written nothing.
      expect(copy.metadata.generation - tenant.before.copy.metadata.generation).toBe(3);
    },
  );

  together.it(
    'says that a token has expired, asks seldom meanwhile, and goes on with the next one',
    async () => {
      const tenant = await bound();
      const token = await tokenForSeconds(shared.kubernetes, tenant.account, 25);
      const start = Date.now();
      await offer(tenant, { token });
      await uses(token);
      await waitFor(() => Date.now() > start + 26_000, { what: 'the token to expire' });
      await applyDatabase(tenant.consumer.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 25 });
      await isRefused(tenant, token);
      await offer(tenant, { token: tenant.token });
      await recovers(tenant, 25);
    },
  );

  together.it(
    'says that a token was revoked although nothing is to be synced, and goes on with the next one',
    async () => {
      const tenant = await bound();
      const { token, revoke } = await revocableToken(shared.kubernetes, tenant.account);
      await offer(tenant, { token });
      await uses(token);
      await revoke();
      await isRefused(tenant, token);
      await offer(tenant, { token: tenant.token });
      await recovers(tenant, 26);
    },
  );

  it('takes its own new token from the file that held the old one', async () => {
    const tenant = await bound();
    await grantRoles(installation.workspace.kubeconfig, 'carol');
    await writeFile(`${tokenFile}.next`, 'carol-token', { mode: 0o600 });
    const start = Date.now();
    await rename(`${tokenFile}.next`, tokenFile);
    await waitFor(() => toConsumers.since(start, byToken('carol-token')).length > 0, {
      what: 'the new token to be used',
    });
    refused = CONTROLLER_TOKEN;
    const revoked = Date.now() + 1000;
    consumerProxy.cutAll();
    await expectSynced(tenant, 27);
    await bindingSays(tenant, { type: 'Ready', reason: 'Ready' });
    expect(toConsumers.since(revoked, byToken(CONTROLLER_TOKEN))).toEqual([]);
    expect(toConsumers.since(start, isListOf('kubebindbindings'))).toEqual([]);
    expect(consumerLists(tenant, start)).toEqual([]);
    await expectSynced(await bound(), 28);
  });

  it('has neither been restarted nor lost a thread', async () => {
    expect(controller.child.running).toBe(true);
    expect(await metric(controller, 'kcp_bind_worker_failures_total')).toBe(0);
  });

  const tenants = () => ({ bench, installation, server: providerProxy.address });
  const bound = () => bindAccount(tenants());
  const offer = (tenant: AccountTenant, change: Parameters<typeof offerKubeconfig>[2]) =>
    offerKubeconfig(tenants(), tenant, change);
  const expectSynced = (tenant: AccountTenant, sizeGiB: number) => expectEdit({ bench }, tenant, sizeGiB);

  const uses = (token: string) =>
    waitFor(() => toProvider.since(0, byToken(token, isWatch)).length > 0, {
      what: 'watches to be opened with the new token',
      timeout: 30_000,
    });

  /** The condition is there, stays as it is, and few requests find out that nothing has changed. */
  async function isRefused(tenant: AccountTenant, token: string): Promise<void> {
    const { message } = await bindingSays(tenant, { type: 'Connected', reason: 'Unauthorized' });
    expect(message).toMatch(/does not accept the credentials any more \(401\)/);
    expect(message).toMatch(/put a new kubeconfig into the Secret/);
    await conditionWith(tenant.consumer.kubeconfig, 'kubebindconnection', 'provider', {
      type: 'CredentialsValid',
      reason: 'Unauthorized',
    });
    const start = Date.now();
    const asked = () => toProvider.since(start, byToken(token));
    await staysTrue(() => asked().length <= 2, { what: 'at most two tries', ms: 30_000 });
    expect(toProvider.since(0, byToken(token)).filter(({ method }) => method === 'DELETE')).toEqual([]);
    await bindingSays(tenant, { type: 'Connected', reason: 'Unauthorized' });
  }

  /** Within half a minute of the new kubeconfig, with the same copy. */
  async function recovers(tenant: AccountTenant, sizeGiB: number): Promise<void> {
    const start = Date.now();
    const { copy } = await expectSynced(tenant, sizeGiB);
    await bindingSays(tenant, { type: 'Ready', reason: 'Ready' });
    expect(Date.now() - start).toBeLessThan(30_000);
    expect(copy.metadata.uid).toBe(tenant.before.copy.metadata.uid);
  }

  function consumerLists({ consumer }: AccountTenant, since: number): string[] {
    return toConsumers
      .since(since, isListOfDatabases)
      .map(({ path }) => path)
      .filter((path) => path.includes(`/clusters/${consumer.workspace.cluster}/`));
  }

  function ownKubeconfig(server: string): string {
    const config = parse(kubeconfigText({ server, ca: shared.consumers.ca, token: '' })) as {
      users: { user: Record<string, string> }[];
    };
    for (const each of config.users) each.user = { tokenFile };
    return stringify(config);
  }
});

const UNAUTHORIZED = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  reason: 'Unauthorized',
  code: 401,
  message: 'Unauthorized',
};

function byToken(token: string, and: (request: ProxiedRequest) => boolean = () => true) {
  return (request: ProxiedRequest) => request.token === token && and(request);
}
