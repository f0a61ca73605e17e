import { GVR, type Gvr } from '../../api/gvr.js';
import type { RequestOptions } from '../../kube/client.js';
import { isObjectNotFound, KubeError } from '../../kube/errors.js';
import { boundSchemaName } from './bound-schemas.js';
import type { ProviderContract } from './contract.js';
import type { ProviderExport } from './provider-export.js';

const MAX_LISTED = 100;

/**
 * What stays on the provider after we left, since no consumer's account may delete it: `Kind namespace/name`, at most
 * 100. What cannot be read now is listed too, unless the server says that it is gone.
 */
export async function listRemaining(
  { client, namespace }: ProviderContract,
  found: Pick<ProviderExport, 'name' | 'resources'>,
  options?: RequestOptions,
): Promise<string[]> {
  const candidates: [string, Gvr, string][] = [
    ['APIServiceExport', GVR.exports, found.name],
    ...found.resources.map((resource): [string, Gvr, string] => [
      'BoundSchema',
      GVR.boundSchemas,
      boundSchemaName(resource),
    ]),
    ['ClusterBinding', GVR.clusterBindings, 'cluster'],
  ];
  const remaining: string[] = [];
  for (const [kind, gvr, name] of candidates.slice(0, MAX_LISTED - 1)) {
    if (await mayExist(client.get(gvr, { namespace, name }, options)))
      remaining.push(`${kind} ${namespace}/${name}`);
  }
  if (await mayExist(client.get(GVR.namespaces, { name: namespace }, options)))
    remaining.push(`Namespace ${namespace}`);
  return remaining;
}

async function mayExist(read: Promise<unknown>): Promise<boolean> {
  try {
    await read;
    return true;
  } catch (error) {
    if (error instanceof KubeError) return !isObjectNotFound(error);
    throw error;
  }
}
