import { GVR } from '../../api/gvr.js';
import type { RequestOptions } from '../../kube/client.js';
import { isObjectNotFound } from '../../kube/errors.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
import type { ProviderContract } from './contract.js';
import type { ExportedResource, ProviderExport } from './provider-export.js';

const PARALLEL = 4;

/** Name of the BoundSchema of a resource. */
export function boundSchemaName({ group, resource }: Pick<ExportedResource, 'group' | 'resource'>): string {
  return `${resource}.${group === '' ? 'core' : group}`;
}

export type BoundSchemaRead =
  | { readonly resource: ExportedResource; readonly name: string; readonly object: KubeObject }
  /** `Missing`: not there, or not yet. `OtherResource`: it describes another API than its name says. */
  | {
      readonly resource: ExportedResource;
      readonly name: string;
      readonly problem: 'Missing' | 'OtherResource';
    };

/** Reads the bound schemas of an export, in its order of resources. Rejects with the errors of KubeClient. */
export async function readBoundSchemas(
  contract: ProviderContract,
  { resources }: Pick<ProviderExport, 'resources'>,
  options?: RequestOptions,
): Promise<BoundSchemaRead[]> {
  const reads: BoundSchemaRead[] = [];
  for (let start = 0; start < resources.length; start += PARALLEL) {
    const batch = resources.slice(start, start + PARALLEL);
    reads.push(...(await Promise.all(batch.map((resource) => readOne(contract, resource, options)))));
  }
  return reads;
}

async function readOne(
  { client, namespace }: ProviderContract,
  resource: ExportedResource,
  options?: RequestOptions,
): Promise<BoundSchemaRead> {
  const name = boundSchemaName(resource);
  try {
    const object = await client.get(GVR.boundSchemas, { namespace, name }, options);
    return describes(object, resource)
      ? { resource, name, object }
      : { resource, name, problem: 'OtherResource' };
  } catch (error) {
    if (isObjectNotFound(error)) return { resource, name, problem: 'Missing' };
    throw error;
  }
}

function describes(object: KubeObject, { group, resource }: ExportedResource): boolean {
  const spec = isJsonObject(object['spec']) ? object['spec'] : {};
  const names = isJsonObject(spec['names']) ? spec['names'] : {};
  return (spec['group'] ?? '') === group && names['plural'] === resource;
}
