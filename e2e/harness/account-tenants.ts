import { parse, stringify } from 'yaml';

import { kubeconfigWith } from './account-tokens.js';
import type { Bench } from './bench.js';
import { bindClient } from './client-binding.js';
import type { ClientInstallation } from './client-installation.js';
import { conditionWith, type SeenCondition } from './conditions.js';
import { applyDatabase, createConsumer, syncedDatabase, type Consumer, type Database } from './consumer.js';
import { createContractAccount, type ContractAccount } from './contract-account.js';
import { apply } from './kubectl.js';
import { uniqueName } from './workspaces.js';

/** A workspace with a binding by an account that its user already had, and an object `main`. */
export interface AccountTenant {
  readonly consumer: Consumer;
  readonly account: ContractAccount;
  /** Of the account as the backend made it. */
  readonly token: string;
  readonly before: { readonly object: Database; readonly copy: Database };
}

/** Where such tenants are bound, and by which address they reach the bench's Kubernetes. */
export interface AccountTenants {
  readonly bench: Bench;
  readonly installation: ClientInstallation;
  readonly server: string;
}

/** The bench with its plain Kubernetes in the place of the provider workspace. */
export function onKubernetes(bench: Bench): Bench {
  return { ...bench, provider: { ...bench.provider, ...bench.kubernetes } };
}

export async function bindAccount(tenants: AccountTenants): Promise<AccountTenant> {
  const { bench, installation } = tenants;
  const [consumer, account] = await Promise.all([
    createConsumer('alice'),
    createContractAccount(uniqueName('account'), { backendUrl: bench.kubernetes.backendUrl }),
  ]);
  const { kubeconfig } = consumer;
  await bindClient(kubeconfig, installation);
  await offerKubeconfig(tenants, { consumer, account }, {});
  const resources = [{ group: 'example.org', resource: 'databases', versions: ['v1'] }];
  for (const each of [
    {
      kind: 'KubeBindConnection',
      metadata: { name: 'provider' },
      spec: { kubeconfigSecretRef: { namespace: 'default', name: 'provider' } },
    },
    {
      kind: 'KubeBindBinding',
      metadata: { name: 'databases' },
      spec: { connection: 'provider', resources },
    },
  ])
    await apply(kubeconfig, stringify({ apiVersion: 'kcp.kube-bind.io/v1alpha1', ...each }));
  await conditionWith(kubeconfig, 'kubebindbinding', 'databases', { type: 'Ready', reason: 'Ready' });
  await applyDatabase(kubeconfig, 'main', { engine: 'postgres', sizeGiB: 1 });
  const before = await syncedDatabase(consumer, 'main', () => true, bench);
  return { consumer, account, token: tokenOf(account), before };
}

/** Puts the account's kubeconfig into the user's Secret, changed as said. */
export async function offerKubeconfig(
  { server }: Pick<AccountTenants, 'server'>,
  { consumer, account }: Pick<AccountTenant, 'consumer' | 'account'>,
  change: {
    readonly token?: string;
    readonly server?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const { annotations = {}, ...access } = change;
  const labels = { 'kcp.kube-bind.io/credentials': 'true' };
  const metadata = { name: 'provider', namespace: 'default', labels, annotations };
  const stringData = { kubeconfig: kubeconfigWith(account, { server, ...access }) };
  await apply(consumer.kubeconfig, stringify({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }));
}

/** Sends an edit, and waits until it is on the copy and its status has come back. */
export async function expectEdit(
  { bench }: Pick<AccountTenants, 'bench'>,
  { consumer }: AccountTenant,
  sizeGiB: number,
): Promise<{ readonly object: Database; readonly copy: Database }> {
  await applyDatabase(consumer.kubeconfig, 'main', { engine: 'postgres', sizeGiB });
  const same = (object: Database, copy: Database) =>
    copy.spec.sizeGiB === sizeGiB && object.status?.sizeGiB === sizeGiB;
  return syncedDatabase(consumer, 'main', same, bench);
}

export function bindingSays(
  { consumer }: AccountTenant,
  wanted: { readonly type: string; readonly reason: string; readonly timeout?: number },
): Promise<SeenCondition> {
  return conditionWith(consumer.kubeconfig, 'kubebindbinding', 'databases', wanted);
}

function tokenOf({ kubeconfig }: ContractAccount): string {
  const config = parse(kubeconfig) as { users: { user: { token: string } }[] };
  const token = config.users[0]?.user.token;
  if (token === undefined) throw new Error('the kubeconfig of the account has no token');
  return token;
}
