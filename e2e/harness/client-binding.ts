import { stringify } from 'yaml';

import type { ClientInstallation } from './client-installation.js';
import { apply, kubectl } from './kubectl.js';
import { waitFor } from './wait-for.js';

/** The client export's claims, as apiexport/apiexport.yaml states them. */
export const CLAIMS = {
  logicalclusters: { group: 'core.kcp.io', verbs: ['get', 'list', 'watch'] },
  apibindings: {
    group: 'apis.kcp.io',
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  secrets: { group: '', verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] },
  configmaps: { group: '', verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] },
  serviceaccounts: { group: '', verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] },
  namespaces: { group: '', verbs: ['get', 'list', 'watch', 'create'] },
  events: { group: '', verbs: ['get', 'create', 'patch'] },
} as const;

export type Claim = keyof typeof CLAIMS;

/** An APIBinding to the client export, with some claims rejected. */
export function clientBinding(
  installation: ClientInstallation,
  options: { readonly name?: string; readonly rejected?: readonly Claim[] } = {},
): string {
  const claims = (Object.keys(CLAIMS) as Claim[]).map((resource) => ({
    group: CLAIMS[resource].group,
    resource,
    verbs: CLAIMS[resource].verbs,
    selector: { matchAll: true },
    state: options.rejected?.includes(resource) === true ? 'Rejected' : 'Accepted',
  }));
  return stringify({
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name: options.name ?? 'kube-bind' },
    spec: {
      reference: { export: { path: installation.workspace.path, name: 'kcp.kube-bind.io' } },
      permissionClaims: claims,
    },
  });
}

/** Binds the client export in a workspace with kubectl, and waits until our kinds are served there. */
export async function bindClient(
  kubeconfig: string,
  installation: ClientInstallation,
  options: Parameters<typeof clientBinding>[1] = {},
): Promise<void> {
  const manifest = clientBinding(installation, options);
  await waitFor(() => apply(kubeconfig, manifest), {
    what: 'the client export to be bindable',
    timeout: 20_000,
  });
  await waitFor(() => kubectl(kubeconfig, ['get', 'kubebindconnections,kubebindbindings']), {
    what: 'the kinds of the client to be served',
    timeout: 30_000,
  });
}
