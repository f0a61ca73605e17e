import { Gauge } from 'prom-client';

import type { PoolMetrics } from '../../src/syncer/pool/pool-metrics.js';
import {
  counter,
  renderMetrics,
  type MetricsRegistry,
  type MetricsSnapshot,
} from '../../src/telemetry/metrics.js';

/** The pool's metrics, and the text of a scrape with those of the workers added up. */
export interface CollectedPoolMetrics extends PoolMetrics {
  render(): Promise<string>;
}

export function createPoolMetrics(registry: MetricsRegistry): CollectedPoolMetrics {
  const registers = [registry];
  const workers = new Gauge({ name: 'kcp_bind_workers', help: 'Syncer threads that run now.', registers });
  const failures = counter(
    registry,
    'kcp_bind_worker_failures_total',
    'Syncer threads that ended by themselves or had to be ended.',
    ['cause'],
  );
  const dropped = counter(
    registry,
    'kcp_bind_worker_messages_dropped_total',
    'Messages of syncer threads that were thrown away.',
    ['why'],
  );
  const snapshots = new Map<number, MetricsSnapshot>();
  return {
    workers: (count) => workers.set(count),
    workerFailed: (cause) => failures.inc({ cause }),
    messageDropped: (why) => dropped.inc({ why }),
    workerMetrics: (worker, json) => {
      const snapshot = json === undefined ? undefined : parseSnapshot(json);
      if (snapshot) snapshots.set(worker, snapshot);
      else snapshots.delete(worker);
    },
    render: () => renderMetrics(registry, [...snapshots.values()]),
  };
}

/** A worker's text is not trusted: what is no list of metrics counts as none. */
function parseSnapshot(json: string): MetricsSnapshot | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? (value as MetricsSnapshot) : undefined;
  } catch {
    return undefined;
  }
}
