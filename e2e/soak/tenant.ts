import { stringify } from 'yaml';

import type { KubeClient } from '../../src/kube/client.js';
import type { KcpBench } from '../harness/bench.js';
import { bindClient } from '../harness/client-binding.js';
import type { ClientInstallation } from '../harness/client-installation.js';
import { createContractAccount } from '../harness/contract-account.js';
import { clientFor } from '../harness/kube-client.js';
import { apply } from '../harness/kubectl.js';
import { waitFor } from '../harness/wait-for.js';
import { createWorkspace, uniqueName, type Workspace } from '../harness/workspaces.js';
import { Ledger } from './ledger.js';
import type { Work } from './load.js';
import type { Chance } from './random.js';

export const OUR_GROUP = 'kcp.kube-bind.io';

/** A workspace with a connection, and its user. */
export interface Tenant extends Work {
  readonly workspace: Workspace;
  /** Contract namespace on the provider. */
  readonly namespace: string;
}

/** Makes a workspace with credentials for an account of its own at the provider, and a connection that uses them. */
export async function createTenant(
  bench: KcpBench,
  installation: ClientInstallation,
  chance: Chance,
): Promise<Tenant> {
  const name = uniqueName('soak');
  const [workspace, account] = await Promise.all([
    createWorkspace(bench.consumers, 'root', name),
    waitFor(() => createContractAccount(name, { backendUrl: bench.backendUrl }), { what: 'an account' }),
  ]);
  await bindClient(workspace.kubeconfig, installation);
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'provider',
      namespace: 'default',
      labels: { 'kcp.kube-bind.io/credentials': 'true' },
    },
    stringData: { kubeconfig: account.kubeconfig },
  };
  const connection = {
    apiVersion: `${OUR_GROUP}/v1alpha1`,
    kind: 'KubeBindConnection',
    metadata: { name: 'provider' },
    spec: { kubeconfigSecretRef: { namespace: 'default', name: 'provider' } },
  };
  await apply(workspace.kubeconfig, [secret, connection].map((each) => stringify(each)).join('---\n'));
  const client: KubeClient = await clientFor(workspace.kubeconfig);
  return { client, workspace, namespace: account.namespace, ledger: new Ledger(), chance };
}
