import { createSign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';

import type { ContractAccount } from './contract-account.js';
import { apply, kubectl } from './kubectl.js';
import type { KubernetesAccess } from './kubernetes.js';
import { uniqueName } from './workspaces.js';

/** ServiceAccount that a backend makes in each contract namespace. */
const ACCOUNT = 'kube-binder';

/** A token that its server takes until `revoke`, and for the ten seconds that a server remembers a good token. */
export interface RevocableToken {
  readonly token: string;
  readonly revoke: () => Promise<void>;
}

/** Asks the provider for another token of the account, bound to a Secret that is deleted to revoke it. */
export async function revocableToken(
  provider: KubernetesAccess,
  { namespace }: ContractAccount,
): Promise<RevocableToken> {
  const name = uniqueName('token');
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } };
  await apply(provider.kubeconfig, JSON.stringify(secret));
  const token = await kubectl(provider.kubeconfig, [
    ...['create', 'token', ACCOUNT, '-n', namespace],
    ...['--bound-object-kind=Secret', `--bound-object-name=${name}`],
  ]);
  return {
    token: token.trim(),
    revoke: async () => {
      await kubectl(provider.kubeconfig, ['delete', 'secret', name, '-n', namespace]);
    },
  };
}

/** Signs a token of the account as the provider would; servers give none themselves that ends before ten minutes. */
export async function tokenForSeconds(
  provider: KubernetesAccess,
  { namespace }: ContractAccount,
  seconds: number,
): Promise<string> {
  const [key, uid] = await Promise.all([
    readFile(`${provider.dir}/service-accounts.key`, 'utf8'),
    kubectl(provider.kubeconfig, [
      ...['get', 'serviceaccount', ACCOUNT, '-n', namespace, '-o', 'jsonpath={.metadata.uid}'],
    ]),
  ]);
  const issuer = 'https://kubernetes.default.svc';
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    aud: [issuer],
    sub: `system:serviceaccount:${namespace}:${ACCOUNT}`,
    iat: now,
    nbf: now,
    exp: now + seconds,
    'kubernetes.io': { namespace, serviceaccount: { name: ACCOUNT, uid } },
  };
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`;
}

/** The account's kubeconfig with another token or another server. */
export function kubeconfigWith(
  { kubeconfig }: ContractAccount,
  change: { readonly token?: string; readonly server?: string },
): string {
  const config = parse(kubeconfig) as {
    clusters: { cluster: { server: string } }[];
    users: { user: { token: string } }[];
  };
  for (const { cluster } of config.clusters) cluster.server = change.server ?? cluster.server;
  for (const { user } of config.users) user.token = change.token ?? user.token;
  return stringify(config);
}
