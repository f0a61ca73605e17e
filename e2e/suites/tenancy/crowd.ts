import { stringify } from 'yaml';

import type { Gvr } from '../../../src/api/gvr.js';
import { KUBE_BIND } from '../../../src/api/markers.js';
import type { KubeClient } from '../../../src/kube/client.js';
import { isStatus } from '../../../src/kube/errors.js';
import type { JsonObject } from '../../../src/kube/json-value.js';
import type { KubeObject } from '../../../src/kube/object.js';
import { readBench, type Bench } from '../../harness/bench.js';
import { bindClient } from '../../harness/client-binding.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { conditionWith } from '../../harness/conditions.js';
import { createConsumer, type Consumer } from '../../harness/consumer.js';
import { createContractAccount, type ContractAccount } from '../../harness/contract-account.js';
import {
  behindProxy,
  startFaultProxy,
  type FaultProxy,
  type ProxiedRequest,
} from '../../harness/fault-proxy.js';
import type { User } from '../../harness/kcp.js';
import { clientFor } from '../../harness/kube-client.js';
import { apply, kubectl } from '../../harness/kubectl.js';
import { waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';
import { gadgetApi, gadgetManifests } from '../sync/gadgets.js';

/** A workspace that has bound the crowd's API, with an account of its own at the provider. */
export interface Tenant {
  readonly consumer: Consumer;
  readonly account: ContractAccount;
  /** The workspace, as its owner. */
  readonly workspace: KubeClient;
}

/** Tenants of one controller and of one provider. */
export interface Crowd {
  readonly bench: Bench;
  readonly installation: ClientInstallation;
  readonly controller: Controller;
  readonly gadgets: Gvr;
  /** The provider, as its admin. */
  readonly provider: KubeClient;
  /** Stands before the provider for those who join `behind: 'proxy'`. */
  readonly proxy: FaultProxy;
  /** A workspace that makes a connection and a binding `gadgets`. */
  join(user: User, behind?: 'nothing' | 'proxy'): Promise<Tenant>;
  close(): Promise<void>;
}

/** @param args of the controller */
export async function gatherCrowd(stem: string, args: readonly string[] = []): Promise<Crowd> {
  const bench = readBench();
  const { kubernetes } = bench;
  const name = uniqueName(stem);
  const api = gadgetApi(name);
  await apply(kubernetes.kubeconfig, gadgetManifests(api));
  const [installation, provider, proxy] = await Promise.all([
    installClient(bench.consumers, uniqueName('kube-bind')),
    clientFor(kubernetes.kubeconfig),
    startFaultProxy({ ...bench.consumers, ...kubernetes }),
  ]);
  const controller = await startController({ installation, dir: `${bench.dir}/${name}`, args });
  const joined: Tenant[] = [];
  return {
    bench,
    installation,
    controller,
    gadgets: api.gadgets,
    provider,
    proxy,
    join: async (user, behind = 'nothing') => {
      const offer = { backendUrl: kubernetes.backendUrl, template: api.template };
      const [consumer, account] = await Promise.all([
        createConsumer(user),
        createContractAccount(uniqueName('tenant'), offer),
      ]);
      await bindClient(consumer.kubeconfig, installation);
      const { address } =
        behind === 'proxy' ? behindProxy({ ...bench.consumers, ...kubernetes }, proxy) : kubernetes;
      const kubeconfig = account.kubeconfig.replaceAll(kubernetes.address, address);
      await apply(consumer.kubeconfig, bindingManifests(kubeconfig, api.gadgets));
      const tenant = { consumer, account, workspace: await clientFor(consumer.kubeconfig) };
      joined.push(tenant);
      return tenant;
    },
    close: async () => {
      await controller.stop();
      await proxy.close();
      await Promise.all([provider, ...joined.map(({ workspace }) => workspace)].map((each) => each.close()));
      const crds = [`gadgets.${api.group}`, `memos.${api.group}`];
      await kubectl(kubernetes.kubeconfig, ['delete', 'apiserviceexporttemplate', api.template]);
      await kubectl(kubernetes.kubeconfig, ['delete', 'crd', ...crds, '--wait=false']);
    },
  };
}

function bindingManifests(kubeconfig: string, { group, version, resource }: Gvr): string {
  const secret = {
    name: 'provider',
    namespace: 'default',
    labels: { 'kcp.kube-bind.io/credentials': 'true' },
  };
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: secret, stringData: { kubeconfig } },
    {
      apiVersion: 'kcp.kube-bind.io/v1alpha1',
      kind: 'KubeBindConnection',
      metadata: { name: 'provider' },
      spec: { kubeconfigSecretRef: { namespace: 'default', name: 'provider' } },
    },
    {
      apiVersion: 'kcp.kube-bind.io/v1alpha1',
      kind: 'KubeBindBinding',
      metadata: { name: 'gadgets' },
      spec: { connection: 'provider', resources: [{ group, resource, versions: [version] }] },
    },
  ]
    .map((manifest) => stringify(manifest))
    .join('---\n');
}

/** Waits until a tenant's API is served and synced. */
export async function isServed(crowd: Crowd, { consumer, workspace }: Tenant): Promise<void> {
  await conditionWith(consumer.kubeconfig, 'kubebindbinding', 'gadgets', { type: 'Ready', reason: 'Ready' });
  await waitFor(() => workspace.list(crowd.gadgets), { what: 'the gadgets to be served', timeout: 60_000 });
}

/** Whether a request that came through the proxy is about that tenant's account. */
export function isOf({ account }: Tenant): (request: ProxiedRequest) => boolean {
  return ({ token }) => account.kubeconfig.includes(token) && token !== '';
}

/** A gadget as its owner writes it. */
export function gadget(crowd: Crowd, name: string, rest: JsonObject = {}): KubeObject {
  const { metadata, ...fields } = rest;
  return {
    apiVersion: `${crowd.gadgets.group}/${crowd.gadgets.version}`,
    kind: 'Gadget',
    ...fields,
    metadata: { name, namespace: 'default', ...(metadata as JsonObject | undefined) },
  };
}

/** The copy of a tenant's object of that name; undefined where there is none (yet). */
export async function copyOf(
  crowd: Crowd,
  { account }: Tenant,
  name: string,
): Promise<KubeObject | undefined> {
  try {
    return await crowd.provider.get(crowd.gadgets, { namespace: `${account.namespace}-default`, name });
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

/** All copies of a tenant. */
export async function copiesOf(crowd: Crowd, { account }: Tenant): Promise<readonly KubeObject[]> {
  const { items } = await crowd.provider.list(crowd.gadgets, { namespace: `${account.namespace}-default` });
  return items;
}

/** UID of the object that a copy says it belongs to. */
export function ownerUid(copy: KubeObject): string | undefined {
  return copy.metadata.annotations?.[KUBE_BIND.consumerUid];
}
