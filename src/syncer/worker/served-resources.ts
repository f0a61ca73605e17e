import type { KubeClient } from '../../kube/client.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kube/json-value.js';
import type { RequestedResource } from '../protocol/assignment.js';
import type { SyncTarget } from './resource-sync.js';

/** An APIExport has no more groups than this that are worth asking for. */
const MAX_GROUPS = 100;
/** Groups that a generated export claims and never exports. */
const CLAIMED = /^$|(^|\.)k8s\.io$|(^|\.)kcp\.io$/;

/**
 * The APIs that a workspace gets from a generated export, asked of its virtual workspace: what there is to drain when
 * the provider, who would know, is gone. `requested` narrows the answer where it is known.
 */
export async function servedResources(
  consumer: KubeClient,
  requested: readonly RequestedResource[] | undefined,
  signal: AbortSignal,
): Promise<readonly SyncTarget[]> {
  const wanted = requested && new Set(requested.map(({ group, resource }) => `${resource}.${group}`));
  const groups = listOf(await consumer.raw('GET', '/apis', undefined, { signal }), 'groups');
  const targets: SyncTarget[] = [];
  for (const { name, version } of groups.map(preferred).slice(0, MAX_GROUPS)) {
    if (name === undefined || version === undefined) continue;
    if (requested === undefined ? CLAIMED.test(name) : !requested.some(({ group }) => group === name))
      continue;
    const path = `/apis/${encodeURIComponent(name)}/${encodeURIComponent(version)}`;
    const resources = listOf(await consumer.raw('GET', path, undefined, { signal }), 'resources');
    for (const resource of resources) {
      const target = targetOf({ group: name, version }, resource, resources);
      if (target === undefined) continue;
      if (wanted === undefined || wanted.has(`${target.gvr.resource}.${name}`)) targets.push(target);
    }
  }
  return targets;
}

function preferred(group: JsonObject): {
  readonly name: string | undefined;
  readonly version: string | undefined;
} {
  const { name, preferredVersion } = group;
  const version = isJsonObject(preferredVersion) ? preferredVersion['version'] : undefined;
  return {
    name: typeof name === 'string' ? name : undefined,
    version: typeof version === 'string' ? version : undefined,
  };
}

function targetOf(
  api: { readonly group: string; readonly version: string },
  resource: JsonObject,
  all: readonly JsonObject[],
): SyncTarget | undefined {
  const { name, kind, namespaced } = resource;
  if (typeof name !== 'string' || typeof kind !== 'string' || name.includes('/')) return undefined;
  return {
    gvr: { ...api, resource: name },
    kind,
    scope: namespaced === true ? 'Namespaced' : 'Cluster',
    hasStatus: all.some((each) => each['name'] === `${name}/status`),
    isolation: 'Prefixed',
    informerScope: 'Namespaced',
    schema: '',
  };
}

function listOf(value: JsonValue, field: string): readonly JsonObject[] {
  const list = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
