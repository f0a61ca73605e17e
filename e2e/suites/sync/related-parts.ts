import { createHash } from 'node:crypto';

import { readBench } from '../../harness/bench.js';
import type { Consumer } from '../../harness/consumer.js';
import type { ContractAccount } from '../../harness/contract-account.js';
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { waitFor } from '../../harness/wait-for.js';

/** A Secret, ConfigMap or ServiceAccount, as far as tests look at it. */
export interface RelatedObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly immutable?: boolean;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
}

export type RelatedResource = 'secret' | 'configmap' | 'serviceaccount';

/** Undefined where the server says that it is not there. */
export async function readRelated(
  kubeconfig: string,
  resource: RelatedResource,
  name: string,
  namespace: string,
): Promise<RelatedObject | undefined> {
  const answer = await runKubectl(kubeconfig, ['get', resource, name, '-n', namespace, '-o', 'json']);
  if (answer.code === 0) return JSON.parse(answer.stdout) as RelatedObject;
  if (answer.stderr.includes('(NotFound)')) return undefined;
  throw new Error(answer.stderr);
}

export async function applyRelated(
  kubeconfig: string,
  manifest: {
    readonly kind: 'Secret' | 'ConfigMap' | 'ServiceAccount';
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Record<string, string>;
    readonly [field: string]: unknown;
  },
): Promise<void> {
  const { kind, name, namespace, labels, ...fields } = manifest;
  const object = {
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace, ...(labels && { labels }) },
    ...fields,
  };
  // Not `apply`: its annotation would count against the size limit.
  const text = JSON.stringify(object);
  const answer = await runKubectl(kubeconfig, ['create', '-f', '-'], { input: text });
  if (answer.code === 0) return;
  if (!answer.stderr.includes('(AlreadyExists)')) throw new Error(answer.stderr);
  await kubectl(kubeconfig, ['replace', '-f', '-'], { input: text });
}

export async function deleteRelated(
  kubeconfig: string,
  resource: RelatedResource,
  name: string,
  namespace: string,
): Promise<void> {
  await kubectl(kubeconfig, ['delete', resource, name, '-n', namespace, '--wait=false']);
}

/** SHA-256 of each value, so that a failing comparison prints no megabytes. */
export function digests(values: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      createHash('sha256').update(Buffer.from(value, 'base64')).digest('hex'),
    ]),
  );
}

/** Makes the provider export `databases` with claims, as its administrator would; the user binds it by that name. */
export async function exportWithClaims(
  account: ContractAccount,
  name: string,
  permissionClaims: readonly object[],
): Promise<void> {
  const { provider } = readBench();
  const request = {
    apiVersion: 'kube-bind.io/v1alpha2',
    kind: 'APIServiceExportRequest',
    metadata: { name, namespace: account.namespace },
    spec: {
      resources: [{ group: 'example.org', resource: 'databases', versions: ['v1'] }],
      permissionClaims,
    },
  };
  await apply(provider.kubeconfig, JSON.stringify(request));
  await waitFor(
    () => kubectl(provider.kubeconfig, ['get', 'apiserviceexport', name, '-n', account.namespace]),
    { what: `export ${name} in ${account.namespace}` },
  );
}

type Claims = Readonly<Record<string, 'Accepted' | 'Rejected'>>;

/** Stores the account's kubeconfig in the workspace, and binds the export by it. */
export async function bindWithAccount(
  consumer: Consumer,
  account: ContractAccount,
  options: { readonly name: string; readonly claims: Claims },
): Promise<void> {
  const { name, claims } = options;
  const manifests = [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'provider-kubeconfig',
        namespace: 'default',
        // Also what a claim asks for: it must not move all the same.
        labels: { 'kcp.kube-bind.io/credentials': 'true', share: 'yes' },
      },
      stringData: { kubeconfig: account.kubeconfig },
    },
    {
      apiVersion: 'kcp.kube-bind.io/v1alpha1',
      kind: 'KubeBindConnection',
      metadata: { name },
      spec: { kubeconfigSecretRef: { namespace: 'default', name: 'provider-kubeconfig' } },
    },
    {
      apiVersion: 'kcp.kube-bind.io/v1alpha1',
      kind: 'KubeBindBinding',
      metadata: { name },
      spec: { connection: name, template: name, permissionClaims: claimList(claims) },
    },
  ];
  for (const manifest of manifests) await apply(consumer.kubeconfig, JSON.stringify(manifest));
}

/** Changes the user's consent. */
export async function setClaims(consumer: Consumer, name: string, claims: Claims): Promise<void> {
  const patch = { spec: { permissionClaims: claimList(claims) } };
  await kubectl(consumer.kubeconfig, [
    'patch',
    'kubebindbinding',
    name,
    '--type=merge',
    '-p',
    JSON.stringify(patch),
  ]);
}

function claimList(claims: Claims): object[] {
  return Object.entries(claims).map(([resource, state]) => ({ group: '', resource, state }));
}
