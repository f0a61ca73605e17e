import { GVR } from '../../api/gvr.js';
import type { KubeClient, RequestOptions } from '../../kube/client.js';

/** One consumer's place on a provider: the account's client, and the namespace that its backend gave it. */
export interface ProviderContract {
  readonly client: KubeClient;
  readonly namespace: string;
}

/**
 * UID of the contract namespace: another one means another account, whatever the names say. Rejects with ApiError
 * (404: the provider removed it; 401, 403: the account is not accepted) and the other errors of KubeClient.
 */
export async function readContractNamespace(
  { client, namespace }: ProviderContract,
  options?: RequestOptions,
): Promise<{ readonly uid: string }> {
  const object = await client.get(GVR.namespaces, { name: namespace }, options);
  return { uid: object.metadata.uid ?? '' };
}
