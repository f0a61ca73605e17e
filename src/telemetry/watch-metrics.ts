import { Counter } from 'prom-client';
import type { MetricsRegistry } from './metrics.js';

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
  const registers = [registry];
  const lists = new Counter({
    name: 'kcp_bind_lists_total',
    help: 'Complete lists that were read.',
    labelNames: ['server'] as const,
    registers,
  });
  const relists = new Counter({
    name: 'kcp_bind_relists_total',
    help: 'Times that a watch could not be resumed and everything was listed again.',
    labelNames: ['server', 'cause'] as const,
    registers,
  });
  const reconnects = new Counter({
    name: 'kcp_bind_watch_reconnects_total',
    help: 'Watches that were resumed from where the last one ended.',
    labelNames: ['server'] as const,
    registers,
  });
  const failures = new Counter({
    name: 'kcp_bind_watch_failures_total',
    help: 'Lists and watches that failed.',
    labelNames: ['server', 'phase'] as const,
    registers,
  });
  return (server, { type, cause = '', phase = '' }) => {
    if (type === 'listed') lists.inc({ server });
    if (type === 'relist') relists.inc({ server, cause });
    if (type === 'reconnect') reconnects.inc({ server });
    if (type === 'error') failures.inc({ server, phase });
  };
}
