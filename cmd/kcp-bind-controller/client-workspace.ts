import { GVR } from '../../src/api/gvr.js';
import { KCP_CLUSTER_ANNOTATION, KCP_PATH_ANNOTATION } from '../../src/api/markers.js';
import type { KubeClient } from '../../src/kube/client.js';
import { isStatus } from '../../src/kube/errors.js';
import { isLogicalCluster } from '../../src/kube/logical-cluster.js';
import type { LogicalCluster } from '../../src/kube/object.js';
import { ControllerError } from './controller-error.js';

/** Where the client export lives. */
export interface ClientWorkspaceIdentity {
  /** For instance `root:kube-bind`. */
  readonly path: string;
  readonly cluster: LogicalCluster;
}

/**
 * Reads the client export, which says in which workspace it is.
 *
 * @throws ControllerError `CLIENT_EXPORT_MISSING`, `CLIENT_WORKSPACE_FORBIDDEN`
 */
export async function identifyClientWorkspace(
  client: KubeClient,
  exportName: string,
  signal: AbortSignal,
): Promise<ClientWorkspaceIdentity> {
  try {
    const { metadata } = await client.get(GVR.apiExports, { name: exportName }, { signal });
    const cluster = metadata.annotations?.[KCP_CLUSTER_ANNOTATION] ?? '';
    const path = metadata.annotations?.[KCP_PATH_ANNOTATION] ?? cluster;
    if (isLogicalCluster(cluster)) return { path, cluster };
  } catch (error) {
    if (isStatus(error, 404)) throw missing(client.baseUrl, exportName, error);
    if (isStatus(error, 403) || isStatus(error, 401)) throw forbidden(client.baseUrl, error);
    throw error;
  }
  throw missing(client.baseUrl, exportName, undefined);
}

function missing(url: string, exportName: string, cause: unknown): ControllerError {
  return new ControllerError(
    `${url} has no APIExport ${exportName}: install the client there with \`kubectl apply -k apiexport\`, ` +
      "and check that the kubeconfig's server ends in /clusters/<path of the client workspace>",
    'CLIENT_EXPORT_MISSING',
    { cause },
  );
}

function forbidden(url: string, cause: Error): ControllerError {
  return new ControllerError(
    `${url} refuses the controller's account (${cause.message}): apply apiexport/controller.yaml again and ` +
      'check the token or certificate in the kubeconfig',
    'CLIENT_WORKSPACE_FORBIDDEN',
    { cause },
  );
}
