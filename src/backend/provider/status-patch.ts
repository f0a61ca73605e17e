import type { Gvr } from '../../api/gvr.js';
import type { RequestOptions } from '../../kube/client.js';
import { isObjectNotFound, isStatus } from '../../kube/errors.js';
import { jsonEqual } from '../../kube/json.js';
import { isJsonObject, type JsonObject } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
import type { ProviderContract } from './contract.js';

const MAX_ATTEMPTS = 3;

/** What became of a status: `absent` when the object is not there. */
export type StatusWrite = 'written' | 'unchanged' | 'absent';

/**
 * Reads an object of the contract namespace and writes the fields of its status that `decide` gives and that differ.
 * The merge patch carries uid and resourceVersion, since it replaces lists as a whole; when the object was changed
 * meanwhile, all is done again. Rejects with the errors of KubeClient.
 */
export async function updateStatus(
  contract: ProviderContract,
  target: { readonly gvr: Gvr; readonly name: string },
  decide: (object: KubeObject) => JsonObject,
  options: RequestOptions = {},
): Promise<StatusWrite> {
  const address = { namespace: contract.namespace, name: target.name };
  for (let attempt = 1; ; attempt++) {
    let object;
    try {
      object = await contract.client.get(target.gvr, address, options);
    } catch (error) {
      if (isObjectNotFound(error)) return 'absent';
      throw error;
    }
    const status = changed(statusOf(object), decide(object));
    if (status === undefined) return 'unchanged';
    try {
      const { uid, resourceVersion } = object.metadata;
      const body = { metadata: { uid, resourceVersion }, status };
      await contract.client.patch(target.gvr, address, 'merge', body, { ...options, subresource: 'status' });
      return 'written';
    } catch (error) {
      if (!isStatus(error, 409) || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}

/** The status of an object; an empty one where there is none. */
export function statusOf(object: KubeObject): JsonObject {
  const status = object['status'];
  return isJsonObject(status) ? status : {};
}

function changed(current: JsonObject, desired: JsonObject): JsonObject | undefined {
  const entries = Object.entries(desired).filter(([key, value]) => !jsonEqual(current[key], value));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
