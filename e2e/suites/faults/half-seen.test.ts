import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import {
  bindAccount,
  bindingSays,
  expectEdit,
  onKubernetes,
  type AccountTenant,
} from '../../harness/account-tenants.js';
import { writesSince } from '../../harness/audit-log.js';
import { readBench } from '../../harness/bench.js';
import { clientBinding, CLAIMS, type Claim } from '../../harness/client-binding.js';
import {
  CONTROLLER_TOKEN,
  CONTROLLER_USER,
  installClient,
  startController,
  waitUntilReady,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import {
  startFaultProxy,
  type FaultProxy,
  type ProxiedRequest,
  type Verdict,
} from '../../harness/fault-proxy.js';
import { writeKubeconfig } from '../../harness/kubeconfig.js';
import { apply, kubectl } from '../../harness/kubectl.js';
import { isWatch } from '../../harness/request-log.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';

const FAULT_MS = 60_000;

/** kcp shows the controller less than there is, without an error: a URL is not listed, claims end. */
describe('a controller that sees only a part', () => {
  const shared = readBench();
  const bench = onKubernetes(shared);
  const dir = `${shared.dir}/${uniqueName('half-seen')}`;
  let began: number;
  let installation: ClientInstallation;
  let proxy: FaultProxy;
  let controller: Controller;
  let tenant: AccountTenant;
  let size = 40;

  beforeAll(async () => {
    [proxy, installation] = await Promise.all([
      startFaultProxy(shared.consumers),
      installClient(shared.consumers, uniqueName('kube-bind')),
    ]);
    controller = await start();
    tenant = await bindAccount({ bench, installation, server: shared.kubernetes.address });
    began = Date.now();
  });

  afterAll(async () => {
    await controller.stop();
    await proxy.close();
  });

  it('of the URLs of a shard, for a minute, deletes nothing and goes on', async () => {
    proxy.setRule((request) => {
      if (!/\/apiexportendpointslices(\?|$)/.test(request.path)) return 'pass';
      return isWatch(request) ? { status: 410, body: EXPIRED } : withoutUrls(request);
    });
    proxy.cut(({ path }) => path.includes('/apiexportendpointslices'));
    await lastsWithoutLoss();
    proxy.setRule(() => 'pass');
    await goesOn();
    await bindAccount({ bench, installation, server: shared.kubernetes.address });
  });

  it('of a workspace, since its claims were rejected, says so, deletes nothing and goes on', async () => {
    const { kubeconfig } = tenant.consumer;
    await apply(kubeconfig, clientBinding(installation, { rejected: Object.keys(CLAIMS) as Claim[] }));
    await lastsWithoutLoss();
    expect(await kubectl(kubeconfig, ['get', 'kubebindbindings,kubebindconnections', '-o', 'yaml'])).toMatch(
      /ClaimMissing|claim/,
    );
    await apply(kubeconfig, clientBinding(installation));
    await goesOn();
  });

  it('says at /readyz that the client workspace does not answer, and that it does again', async () => {
    proxy.setRule(() => 'drop');
    proxy.cutAll();
    const report = await waitFor(
      async () => {
        const answer = await fetch(`${controller.url}/readyz`);
        return answer.status === 503 && answer.text();
      },
      { what: '/readyz to say no', timeout: 20_000 },
    );
    expect(report).toMatch(/client-export.*connection/s);
    proxy.setRule(() => 'pass');
    await waitUntilReady(controller);
    await goesOn();
  });

  async function start(): Promise<Controller> {
    return startController({
      installation,
      dir,
      kubeconfig: await writeKubeconfig(`${dir}.yaml`, {
        server: `${proxy.address}/clusters/${installation.workspace.path}`,
        ca: shared.consumers.ca,
        token: CONTROLLER_TOKEN,
      }),
      args: [`--vw-url-map=${shared.consumers.address}=${proxy.address}`],
    });
  }

  /** The real answer, but for the URLs. */
  async function withoutUrls({ path }: ProxiedRequest): Promise<Verdict> {
    const text = await kubectl(installation.workspace.kubeconfig, ['get', '--raw', path]);
    const list = JSON.parse(text) as { items: { status?: { endpoints?: unknown[] } }[] };
    for (const { status } of list.items) if (status?.endpoints !== undefined) status.endpoints = [];
    return { status: 200, body: list };
  }

  const lastsWithoutLoss = () =>
    staysTrue(nothingIsLost, { what: 'nothing is lost', ms: FAULT_MS, interval: 5000 });

  /** Nobody deletes anything: neither for us in kcp, nor by the account on the provider. */
  async function nothingIsLost(): Promise<boolean> {
    const [inKcp, onProvider] = await Promise.all([
      writesSince(shared.consumers.auditLog, began),
      writesSince(shared.kubernetes.auditLog, began),
    ]);
    const places = [installation.workspace.cluster, tenant.consumer.workspace.cluster];
    const lost = [
      ...inKcp.filter(
        ({ user, workspace }) =>
          places.includes(workspace) &&
          (user === CONTROLLER_USER || user.startsWith('system:serviceaccount:kube-bind:')),
      ),
      ...onProvider.filter(({ user }) => user.includes(`:${tenant.account.namespace}:`)),
    ].filter(({ verb, uri }) => verb.startsWith('delete') && !RIGHT_TO_BIND.test(uri));
    expect(lost).toEqual([]);
    return true;
  }

  async function goesOn(): Promise<void> {
    size += 1;
    const { object, copy } = await expectEdit({ bench }, tenant, size);
    expect(object.metadata.uid).toBe(tenant.before.object.metadata.uid);
    expect(copy.metadata.uid).toBe(tenant.before.copy.metadata.uid);
    await bindingSays(tenant, { type: 'Ready', reason: 'Ready' });
    await nothingIsLost();
  }
});

/** While the controller may not bind, users may; that right is taken back when the claim is accepted again. */
const RIGHT_TO_BIND = /\/clusterrole(binding)?s\/kbb-[0-9a-f-]+-bind$/;

const EXPIRED = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  reason: 'Expired',
  code: 410,
};
