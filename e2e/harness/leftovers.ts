import type { ClientInstallation } from './client-installation.js';
import { kubectl } from './kubectl.js';

/**
 * What the controller made in the client workspace for connections and bindings: `resource/name`, sorted. Empty
 * when no workspace uses the client.
 */
export async function madeForTenants(installation: ClientInstallation): Promise<string[]> {
  const { kubeconfig } = installation.workspace;
  const [cluster, namespaced] = await Promise.all([
    kubectl(kubeconfig, [
      'get',
      'apiexports,apiresourceschemas,clusterroles,clusterrolebindings',
      '-l',
      'kcp.kube-bind.io/component',
      '-o',
      'name',
    ]),
    kubectl(kubeconfig, ['get', 'secrets,serviceaccounts', '-n', 'kube-bind', '-o', 'name']),
  ]);
  return [...cluster.split('\n'), ...namespaced.split('\n')]
    .filter((name) => /kbb-|connection-|apiresourceschema/.test(name))
    .sort();
}
