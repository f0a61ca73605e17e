import { GVR } from '../../api/gvr.js';
import { COMPONENT_LABEL, ORPHANED_ANNOTATION } from '../../api/markers.js';
import type { ProviderContract } from '../../backend/provider/contract.js';
import { removeExportRequest } from '../../backend/provider/export-request.js';
import { mapServiceNamespace } from '../../backend/provider/namespace-mapping.js';
import type { ProviderExport } from '../../backend/provider/provider-export.js';
import { listRemaining } from '../../backend/provider/remaining.js';
import { reportExportStatus } from '../../backend/provider/report-status.js';
import { removeServiceNamespace } from '../../backend/provider/service-namespace.js';
import type { KubeClient, RequestOptions } from '../../kube/client.js';
import type { BindingAssignment, NamespacesInUse } from '../protocol/assignment.js';
import type { Clock } from '../../kube/clock.js';
import { isStatus } from '../../kube/errors.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { Gvr, KubeObject } from '../../kube/object.js';
import type { SyncStats } from './resource-sync.js';
import { relatedKind } from '../engine/related/related-kinds.js';

export interface LeaveOptions {
  readonly clock: Clock;
  readonly request: RequestOptions;
  /** Consumer namespaces that other bindings of the connection have copies in. */
  readonly namespacesInUse: NamespacesInUse;
  /** Related resources that the export claims: copies of them may have been left behind on purpose. */
  readonly claimed?: readonly { readonly group: string; readonly resource: string }[];
}

/** A report holds no more than this. */
const MAX_REMAINING = 100;

const MAYBE_USED = 'another binding may have objects in it; it goes with the last one';

/**
 * Removes what our account may remove on the provider: our APIServiceNamespaces that hold nobody's copies, and the
 * export request. Safe to repeat after a crash at any point. Rejects with the errors of KubeClient.
 *
 * @returns what stays, in words
 */
export async function leave(
  contract: ProviderContract,
  found: Pick<ProviderExport, 'name' | 'resources'>,
  { clock, request, namespacesInUse, claimed = [] }: LeaveOptions,
): Promise<string[]> {
  const kinds = claimed.flatMap(({ group, resource }) => relatedKind(group, resource)?.gvr ?? []);
  const kept = await removeNamespaces(contract, { inUse: namespacesInUse, claimed: kinds }, request);
  await removeExportRequest(contract, found.name, request);
  await reportExportStatus(contract, found.name, { bound: false }, { clock, ...request });
  return [...(await listRemaining(contract, found, request)), ...kept].slice(0, MAX_REMAINING);
}

/** Deleting an APIServiceNamespace deletes the provider's namespace with all that is in it, so each is looked into. */
async function removeNamespaces(
  contract: ProviderContract,
  { inUse, claimed }: { readonly inUse: NamespacesInUse; readonly claimed: readonly Gvr[] },
  request: RequestOptions,
): Promise<string[]> {
  const { client, namespace } = contract;
  const { items } = await client.list(GVR.serviceNamespaces, { namespace, ...request });
  const mine = items.filter(({ metadata }) => metadata.labels?.[COMPONENT_LABEL] !== undefined);
  if (inUse === 'unknown')
    return mine.map(({ metadata: { name } }) => `APIServiceNamespace ${namespace}/${name} (${MAYBE_USED})`);
  const used = new Set(inUse);
  const ours = mine.filter(({ metadata }) => !used.has(metadata.name));
  if (ours.length === 0) return [];
  const exported = await exportedResources(contract, request);
  const kept: string[] = [];
  for (const object of ours) {
    const { name } = object.metadata;
    const mapping = mapServiceNamespace(object);
    const held =
      mapping.state === 'mapped' &&
      ((await holdsObjects(client, mapping.providerNamespace, exported, request)) ||
        (await holdsOrphans(client, mapping.providerNamespace, claimed, request)));
    if (held) kept.push(`APIServiceNamespace ${namespace}/${name} (objects are left in it)`);
    else if ((await removeServiceNamespace(contract, name, request)) === 'foreign') {
      kept.push(`APIServiceNamespace ${namespace}/${name} (made by somebody else)`);
    }
  }
  return kept;
}

/** Every namespaced API that any export of this contract serves: other bindings may have copies of it. */
async function exportedResources(
  { client, namespace }: ProviderContract,
  request: RequestOptions,
): Promise<readonly Gvr[]> {
  const { items } = await client.list(GVR.boundSchemas, { namespace, ...request });
  return items.flatMap(exportedResource);
}

function exportedResource(boundSchema: KubeObject): Gvr[] {
  const spec = isJsonObject(boundSchema['spec']) ? boundSchema['spec'] : {};
  const names = isJsonObject(spec['names']) ? spec['names'] : {};
  const versions = Array.isArray(spec['versions']) ? spec['versions'].filter(isJsonObject) : [];
  const version = versions.find((each) => each['served'] === true)?.['name'];
  const { group = '' } = spec;
  const { plural } = names;
  if (spec['scope'] !== 'Namespaced' || typeof version !== 'string') return [];
  return typeof group === 'string' && typeof plural === 'string'
    ? [{ group, version, resource: plural }]
    : [];
}

/** Copies, orphaned ones included, or the provider's own. What may not be listed counts as held. */
async function holdsObjects(
  client: KubeClient,
  namespace: string,
  resources: readonly Gvr[],
  request: RequestOptions,
): Promise<boolean> {
  for (const gvr of resources) {
    try {
      const { items } = await client.list(gvr, { namespace, limit: 1, ...request });
      if (items.length > 0) return true;
    } catch (error) {
      // The API itself is gone from the provider: so are its objects.
      if (isStatus(error, 404)) continue;
      if (isStatus(error, 403)) return true;
      throw error;
    }
  }
  return false;
}

/** What stays where the provider did not answer. */
export function leftUnanswered({ credentials, contractNamespace }: BindingAssignment['provider']): string {
  return `Everything in namespace ${contractNamespace} of ${credentials.server}: the provider did not answer when this binding was released by force.`;
}

/** Copies that a forced drain left where they are. */
export function copiesLeft(stats: readonly Pick<SyncStats, 'leftBehind'>[]): readonly string[] {
  return stats.flatMap(({ leftBehind = [] }) => leftBehind);
}

/** Related copies that stay by the user's wish; everything else of their kinds is the provider's own. */
async function holdsOrphans(
  client: KubeClient,
  namespace: string,
  resources: readonly Gvr[],
  request: RequestOptions,
): Promise<boolean> {
  for (const gvr of resources) {
    try {
      const { items } = await client.list(gvr, { namespace, ...request });
      if (items.some(({ metadata }) => metadata.annotations?.[ORPHANED_ANNOTATION] !== undefined))
        return true;
    } catch (error) {
      if (isStatus(error, 403)) return true;
      throw error;
    }
  }
  return false;
}
