import { Gauge, Histogram } from 'prom-client';
import { counter, createMetricsRegistry, type MetricsRegistry } from '../../telemetry/metrics.js';
import { createWatchMetrics } from '../../telemetry/watch-metrics.js';
import type { RequestMade } from './objects/side.js';
import type { SyncLoad, SyncMeter } from './objects/sync-meter.js';

/** What a worker counts; the main thread adds up the workers. No label holds the name of a tenant or an object. */
export interface WorkerMetrics {
  /** Of each resource's sync. */
  readonly meter: SyncMeter;
  request(request: RequestMade): void;
  objectFailed(): void;
  passFailed(): void;
  eventDropped(): void;
  json(): Promise<string>;
}

/** Metrics of one worker, in a registry of its own. */
export function createWorkerMetrics(): WorkerMetrics {
  const registry = createMetricsRegistry();
  const requests = counter(
    registry,
    'kcp_bind_sync_requests_total',
    'Requests about objects, by side, verb and outcome.',
    ['side', 'verb', 'outcome'],
  );
  const objectFailures = counter(
    registry,
    'kcp_bind_sync_failures_total',
    'Failed attempts to sync an object.',
  );
  const passFailures = counter(registry, 'kcp_bind_provider_failures_total', 'Failed looks at a provider.');
  const events = counter(
    registry,
    'kcp_bind_sync_events_dropped_total',
    'Events beyond what a binding may say.',
  );
  const load = createLoadGauges(registry);
  return {
    meter: { ...createSyncMeter(registry), load: (ask) => load.add(ask) },
    request: ({ side, verb, outcome }) => requests.inc({ side, verb, outcome }),
    objectFailed: () => objectFailures.inc(),
    passFailed: () => passFailures.inc(),
    eventDropped: () => events.inc(),
    json: async () => {
      load.look();
      return JSON.stringify(await registry.getMetricsAsJSON());
    },
  };
}

function createSyncMeter(registry: MetricsRegistry): Omit<SyncMeter, 'load'> {
  const lag = new Histogram({
    name: 'kcp_bind_sync_lag_seconds',
    help: 'Time from the watch event of a change until the other side has it (up: spec, down: status).',
    labelNames: ['direction'] as const,
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300],
    registers: [registry],
  });
  const countWatch = createWatchMetrics(registry);
  return {
    reached: (direction, ms) => lag.observe({ direction }, ms / 1000),
    watched: (side, event) => countWatch(side, event),
  };
}

/** Gauges over all that is synced at the moment. */
function createLoadGauges(registry: MetricsRegistry): {
  add(ask: () => SyncLoad): () => void;
  look(): void;
} {
  const registers = [registry];
  const queued = new Gauge({
    name: 'kcp_bind_sync_queue_length',
    help: 'Objects that want work now.',
    registers,
  });
  const oldest = new Gauge({
    name: 'kcp_bind_sync_oldest_change_seconds',
    help: 'Age of the oldest change that has not reached the other side.',
    registers,
    aggregator: 'max',
  });
  const loads = new Set<() => SyncLoad>();
  return {
    add: (ask) => {
      loads.add(ask);
      return () => void loads.delete(ask);
    },
    look: () => {
      const all = [...loads].map((ask) => ask());
      queued.set(all.reduce((sum, load) => sum + load.queued, 0));
      oldest.set(all.reduce((most, load) => Math.max(most, load.oldestMs), 0) / 1000);
    },
  };
}
