import { GROUP } from '../../src/api/group.js';
import type { KubeObject, ObjectMeta } from '../../src/kube/object.js';

/** Domains whose labels and annotations are read; `kcp.io` holds what kcp itself notes. */
const READ_DOMAINS: readonly string[] = [GROUP, 'kcp.io'];
/** All that is read of a Secret in a store is that it has changed; its content is always asked for. */
const NOT_KEPT_OF_SECRETS = new Set(['data', 'stringData']);

/**
 * The object as the stores of the controller's main thread keep it, without what nobody reads there: all workspaces
 * share that memory, and a tenant may fill labels, annotations and Secrets as he likes. Shares all other parts.
 */
export function leanObject(object: KubeObject): KubeObject {
  const metadata: ObjectMeta = { ...object.metadata };
  delete metadata.managedFields;
  delete metadata.ownerReferences;
  if (metadata.labels !== undefined) metadata.labels = ofReadDomains(metadata.labels);
  if (metadata.annotations !== undefined) metadata.annotations = ofReadDomains(metadata.annotations);
  const rest = { ...object, metadata };
  if (object.apiVersion !== 'v1' || object.kind !== 'Secret') return rest;
  const kept = Object.entries(rest).filter(([key]) => !NOT_KEPT_OF_SECRETS.has(key));
  return { ...Object.fromEntries(kept), apiVersion: rest.apiVersion, kind: rest.kind, metadata };
}

function ofReadDomains(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map).filter(([key]) => READ_DOMAINS.includes(key.slice(0, Math.max(0, key.indexOf('/'))))),
  );
}
