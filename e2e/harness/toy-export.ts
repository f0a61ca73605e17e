import { stringify } from 'yaml';

import { apply, kubectl } from './kubectl.js';
import { waitFor } from './wait-for.js';
import type { Workspace } from './workspaces.js';

/** An API that has nothing to do with kube-bind: group `<name>.example.test`, resource `toys`. Anybody may bind it. */
export async function offerToys(owner: Workspace, name: string): Promise<void> {
  const group = `${name}.example.test`;
  const schema = `v1.toys.${group}`;
  const manifests = [
    {
      apiVersion: 'apis.kcp.io/v1alpha1',
      kind: 'APIResourceSchema',
      metadata: { name: schema },
      spec: {
        group,
        names: { kind: 'Toy', listKind: 'ToyList', plural: 'toys', singular: 'toy' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        ],
      },
    },
    {
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIExport',
      metadata: { name },
      spec: { resources: [{ group, name: 'toys', schema, storage: { crd: {} } }] },
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: `bind-${name}` },
      rules: [
        { apiGroups: ['apis.kcp.io'], resources: ['apiexports'], resourceNames: [name], verbs: ['bind'] },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `bind-${name}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `bind-${name}` },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' }],
    },
  ];
  await apply(owner.kubeconfig, manifests.map((manifest) => stringify(manifest)).join('---\n'));
}

/** Binds such an API under any name and with any labels, and waits until kcp has finished with it. */
export async function bindToys(
  kubeconfig: string,
  owner: Workspace,
  toys: string,
  metadata: { readonly name: string; readonly labels?: Record<string, string> },
): Promise<void> {
  const manifest = stringify({
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata,
    spec: { reference: { export: { path: owner.path, name: toys } } },
  });
  await waitFor(() => apply(kubeconfig, manifest), { what: `APIBinding ${metadata.name} to be taken` });
  await kubectl(kubeconfig, ['wait', 'apibinding', metadata.name, '--for=condition=Ready', '--timeout=60s']);
}
