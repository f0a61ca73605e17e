import type { LogicalCluster } from '../kube/object.js';
import { isLogicalCluster } from '../kube/logical-cluster.js';

/** What is reconciled: KubeBindConnections or KubeBindBindings. */
export type ReconcilerKind = 'connection' | 'binding';

/** Key of a connection or binding in a queue: `<logical cluster>|<name>`. Neither part can hold a `|`. */
export type QueueKey = `${string}|${string}`;

export function queueKey(cluster: LogicalCluster, name: string): QueueKey {
  return `${cluster}|${name}`;
}

/** The parts of a key that `queueKey` made; undefined for anything else. */
export function parseKey(
  key: string,
): { readonly cluster: LogicalCluster; readonly name: string } | undefined {
  const bar = key.indexOf('|');
  const cluster = key.slice(0, Math.max(0, bar));
  const name = key.slice(bar + 1);
  return bar > 0 && name !== '' && isLogicalCluster(cluster) ? { cluster, name } : undefined;
}

/** Key of a binding at the syncer pool: `<logical cluster>|<binding UID>`. */
export function poolKey(cluster: LogicalCluster, uid: string): string {
  return `${cluster}|${uid}`;
}
