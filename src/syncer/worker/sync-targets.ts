import type { ProviderExport } from '../../backend/provider/provider-export.js';
import { parseJson } from '../../kube/json.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { ConvertedSchema } from '../protocol/report.js';
import type { SyncTarget } from './resource-sync.js';

/** What is to be synced of an export: each of its APIs that could be converted, in the first served version. Pure. */
export function syncTargets(
  found: Pick<ProviderExport, 'isolation' | 'informerScope'>,
  schemas: readonly ConvertedSchema[],
): readonly SyncTarget[] {
  return schemas.map((schema) => ({
    gvr: { group: schema.group, version: schema.syncVersion, resource: schema.resource },
    kind: schema.kind,
    scope: schema.scope,
    hasStatus: hasStatus(schema),
    isolation: found.isolation,
    informerScope: found.informerScope,
  }));
}

function hasStatus({ specJson, syncVersion }: ConvertedSchema): boolean {
  const spec = parseJson(specJson);
  const versions = isJsonObject(spec) && Array.isArray(spec['versions']) ? spec['versions'] : [];
  const version = versions.filter(isJsonObject).find((each) => each['name'] === syncVersion);
  const subresources = version?.['subresources'];
  return isJsonObject(subresources) && isJsonObject(subresources['status']);
}
