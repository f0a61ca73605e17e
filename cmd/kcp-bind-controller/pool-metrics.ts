import { Counter, Gauge } from 'prom-client';

import type { PoolMetrics } from '../../src/syncer/pool/pool-metrics.js';
import { renderMetrics, type MetricsRegistry, type MetricsSnapshot } from '../../src/telemetry/metrics.js';

/** The pool's metrics, and the text of a scrape with those of the workers added up. */
export interface CollectedPoolMetrics extends PoolMetrics {
  render(): Promise<string>;
}

export function createPoolMetrics(registry: MetricsRegistry): CollectedPoolMetrics {
  const registers = [registry];
  const workers = new Gauge({ name: 'kcp_bind_workers', help: 'Syncer threads that run now.', registers });
  const failures = new Counter({
    name: 'kcp_bind_worker_failures_total',
    help: 'Syncer threads that ended by themselves or had to be ended.',
    labelNames: ['cause'] as const,
    registers,
  });
  const dropped = new Counter({
    name: 'kcp_bind_worker_messages_dropped_total',
    help: 'Messages of syncer threads that were thrown away.',
    labelNames: ['why'] as const,
    registers,
  });
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
