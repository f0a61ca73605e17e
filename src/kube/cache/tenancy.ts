import { KCP_CLUSTER_ANNOTATION } from '../../api/markers.js';
import { isLogicalCluster } from '../logical-cluster.js';
import type { KubeObject, LogicalCluster } from '../object.js';
import { hasSoundName } from './object-key.js';
import type { ObjectKey } from './object-store.js';

/**
 * Where a source's objects live:
 * - `annotated`: each in the logical cluster that its annotation `kcp.io/cluster` names (wildcard reads)
 * - `fixed`: all in one; with `strict`, an object whose annotation names no or another cluster is refused
 *   (one workspace of a virtual workspace). Without it annotations do not count (a provider, which may be a
 *   kcp workspace itself).
 */
export type Tenancy =
  | { readonly kind: 'annotated' }
  | { readonly kind: 'fixed'; readonly cluster: LogicalCluster; readonly strict: boolean };

/**
 * Why a store does not take an object:
 * - `NoCluster`, `InvalidCluster`: its annotation is missing, or names no logical cluster
 * - `ForeignCluster`: it belongs to another logical cluster than the source's
 * - `InvalidName`: its name or namespace could not be that of a stored object
 * - `TransformFailed`: the store's transform or an index function threw
 * - `Full`: the store, or the logical cluster's share in it, is at its limit
 */
export type RefusalReason =
  'NoCluster' | 'InvalidCluster' | 'ForeignCluster' | 'InvalidName' | 'TransformFailed' | 'Full';

/** The object's key, or why it has none. */
export function identify(object: KubeObject, tenancy: Tenancy): ObjectKey | RefusalReason {
  if (!hasSoundName(object)) return 'InvalidName';
  const cluster = clusterOf(object, tenancy);
  if (!isLogicalCluster(cluster)) return cluster;
  const { namespace, name } = object.metadata;
  return namespace === undefined ? { cluster, name } : { cluster, namespace, name };
}

// The reasons hold capital letters, which no logical cluster's name does.
function clusterOf({ metadata }: KubeObject, tenancy: Tenancy): LogicalCluster | RefusalReason {
  if (tenancy.kind === 'fixed' && !tenancy.strict) return tenancy.cluster;
  const annotated: unknown = metadata.annotations?.[KCP_CLUSTER_ANNOTATION];
  if (annotated === undefined) return 'NoCluster';
  if (!isLogicalCluster(annotated)) return 'InvalidCluster';
  return tenancy.kind === 'fixed' && annotated !== tenancy.cluster ? 'ForeignCluster' : annotated;
}
