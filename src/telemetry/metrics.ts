import { AggregatorRegistry, Counter, Registry, collectDefaultMetrics } from 'prom-client';
import type { MetricObjectWithValues, MetricValue } from 'prom-client';

export type MetricsRegistry = Registry;

/** Metrics of a worker as it posts them: `registry.getMetricsAsJSON()`. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

export interface MetricsOptions {
  /** Node's own figures: event loop, heap, garbage collection. Off unless true. */
  readonly defaults?: boolean;
}

/** A registry of its own; nothing uses the library's global one. */
export function createMetricsRegistry(options: MetricsOptions = {}): MetricsRegistry {
  const registry = new Registry();
  if (options.defaults === true) collectDefaultMetrics({ register: registry });
  return registry;
}

/** A counter in a registry; once for each name. */
export function counter<Label extends string = never>(
  registry: MetricsRegistry,
  name: string,
  help: string,
  labelNames: readonly Label[] = [],
): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}

/**
 * The text that a scrape gets: the main thread's own metrics, with those of workers added up. A worker that
 * vanished simply has no snapshot.
 */
export async function renderMetrics(
  registry: MetricsRegistry,
  workers: readonly MetricsSnapshot[] = [],
): Promise<string> {
  if (workers.length === 0) return registry.metrics();
  const own = await registry.getMetricsAsJSON();
  const merged = AggregatorRegistry.aggregate([own, ...workers.map((snapshot) => [...snapshot])]);
  return merged.metrics();
}
