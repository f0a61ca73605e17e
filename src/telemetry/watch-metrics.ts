import { counter, type MetricsRegistry } from './metrics.js';

/**
 * What a watch is held with.
 * - `client-workspace`: the workspace with the client export
 * - `workspaces`: the virtual workspace of the client export
 * - `consumer`: one consumer's workspace, by a syncer
 * - `provider`
 */
export type WatchedServer = 'client-workspace' | 'workspaces' | 'consumer' | 'provider';

/** What these metrics read of an event of `runReflector`. */
export interface WatchEvent {
  readonly type: 'listed' | 'relist' | 'reconnect' | 'recovered' | 'error';
  /** Of a relist. */
  readonly cause?: string;
  /** Of an error: what failed. */
  readonly phase?: string;
}

/** Counts what keeping caches up to date costs. */
export type CountWatch = (server: WatchedServer, event: WatchEvent) => void;

/** Registers the metrics of watches; once for each registry. */
export function createWatchMetrics(registry: MetricsRegistry): CountWatch {
  const lists = counter(registry, 'kcp_bind_lists_total', 'Complete lists that were read.', ['server']);
  const relists = counter(
    registry,
    'kcp_bind_relists_total',
    'Times that a watch could not be resumed and everything was listed again.',
    ['server', 'cause'],
  );
  const reconnects = counter(
    registry,
    'kcp_bind_watch_reconnects_total',
    'Watches that were resumed from where the last one ended.',
    ['server'],
  );
  const failures = counter(registry, 'kcp_bind_watch_failures_total', 'Lists and watches that failed.', [
    'server',
    'phase',
  ]);
  return (server, { type, cause = '', phase = '' }) => {
    if (type === 'listed') lists.inc({ server });
    if (type === 'relist') relists.inc({ server, cause });
    if (type === 'reconnect') reconnects.inc({ server });
    if (type === 'error') failures.inc({ server, phase });
  };
}
