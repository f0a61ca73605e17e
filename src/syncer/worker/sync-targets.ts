import type { ProviderExport } from '../../backend/provider/provider-export.js';
import type { ConsumerAccess } from '../protocol/assignment.js';
import type { ConvertedSchema } from '../protocol/report.js';
import type { SyncTarget } from './resource-sync.js';

/**
 * What is to be synced: each API as the workspace is served it. What the provider has changed since counts when main
 * has taken it over: another scope or kind would make strangers of all copies. Pure.
 */
export function syncTargets(
  found: Pick<ProviderExport, 'isolation' | 'informerScope'>,
  schemas: readonly ConvertedSchema[],
  consumer: Pick<ConsumerAccess, 'apis' | 'schemas'>,
): readonly SyncTarget[] {
  const hashes = new Map(schemas.map((each) => [`${each.resource}.${each.group}`, each.contentHash]));
  return consumer.apis.map(({ group, resource, version, kind, scope, hasStatus }) => ({
    gvr: { group, version, resource },
    kind,
    scope,
    hasStatus,
    isolation: found.isolation,
    informerScope: found.informerScope,
    schema: `${hashes.get(`${resource}.${group}`) ?? ''} ${consumer.schemas}`,
  }));
}
