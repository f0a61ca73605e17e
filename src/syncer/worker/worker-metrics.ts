import { Counter, type Registry } from 'prom-client';
import { createMetricsRegistry } from '../../telemetry/metrics.js';

/** What a worker counts; the main thread adds up the workers. */
export interface WorkerMetrics {
  request(request: { readonly side: string; readonly verb: string; readonly outcome: string }): void;
  objectFailed(): void;
  passFailed(): void;
  eventDropped(): void;
  json(): Promise<string>;
}

/** Metrics of one worker, in a registry of its own. */
export function createWorkerMetrics(): WorkerMetrics {
  const registry = createMetricsRegistry();
  const requests = new Counter({
    name: 'kcp_bind_sync_requests_total',
    help: 'Requests about objects, by side, verb and outcome.',
    labelNames: ['side', 'verb', 'outcome'],
    registers: [registry],
  });
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
  return {
    request: ({ side, verb, outcome }) => requests.inc({ side, verb, outcome }),
    objectFailed: () => objectFailures.inc(),
    passFailed: () => passFailures.inc(),
    eventDropped: () => events.inc(),
    json: async () => JSON.stringify(await registry.getMetricsAsJSON()),
  };
}

function counter(registry: Registry, name: string, help: string): Counter {
  return new Counter({ name, help, registers: [registry] });
}
