import { Gauge, Histogram } from 'prom-client';
import { counter, type MetricsRegistry } from '../telemetry/metrics.js';
import type { ConditionCount } from './condition-counts.js';
import type { ReconcilerKind } from './keys.js';
import type { StepName } from './steps.js';

/** What the reconcilers count. No label holds a tenant's name. */
export interface ReconcilerMetrics {
  reconciled(kind: ReconcilerKind, outcome: 'ok' | 'error' | 'conflict', ms: number): void;
  step(step: StepName): void;
  queue(kind: ReconcilerKind, length: number): void;
  /** - `claim`: the workspace did not accept the events claim; `limit`: too many; `error`: kcp refused it */
  eventDropped(why: 'claim' | 'limit' | 'error'): void;
  leader(isLeader: boolean): void;
  /** Asked at each scrape, from now on instead of whoever was asked before. */
  inventory(kind: ReconcilerKind, ask: () => readonly ConditionCount[]): void;
}

export function createReconcilerMetrics(registry: MetricsRegistry): ReconcilerMetrics {
  const registers = [registry];
  const reconciles = new Histogram({
    name: 'kcp_bind_reconcile_seconds',
    help: 'Time of one run of a reconciler.',
    labelNames: ['kind', 'outcome'] as const,
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers,
  });
  const steps = counter(registry, 'kcp_bind_steps_total', 'Named effects that were done.', ['step']);
  const queue = new Gauge({
    name: 'kcp_bind_queue_length',
    help: 'Keys that want work now.',
    labelNames: ['kind'] as const,
    registers,
  });
  const events = counter(
    registry,
    'kcp_bind_events_dropped_total',
    'Kubernetes Events that were not written.',
    ['why'],
  );
  const leader = new Gauge({
    name: 'kcp_bind_leader',
    help: '1 while this process holds the Lease.',
    registers,
  });
  const inventories = new Map<ReconcilerKind, () => readonly ConditionCount[]>();
  new Gauge({
    name: 'kcp_bind_conditions',
    help: 'Connections and bindings of all workspaces that have a condition in that state.',
    labelNames: ['kind', 'type', 'status', 'reason'] as const,
    registers,
    collect() {
      this.reset();
      for (const [kind, ask] of inventories)
        for (const { type, status, reason, count } of ask()) this.set({ kind, type, status, reason }, count);
    },
  });
  return {
    reconciled: (kind, outcome, ms) => reconciles.observe({ kind, outcome }, ms / 1000),
    step: (step) => steps.inc({ step }),
    queue: (kind, length) => queue.set({ kind }, length),
    eventDropped: (why) => events.inc({ why }),
    leader: (isLeader) => leader.set(isLeader ? 1 : 0),
    inventory: (kind, ask) => inventories.set(kind, ask),
  };
}

/** Counts nothing, for tests. */
export function silentMetrics(): ReconcilerMetrics {
  const nothing = (): void => undefined;
  return {
    reconciled: nothing,
    step: nothing,
    queue: nothing,
    eventDropped: nothing,
    leader: nothing,
    inventory: nothing,
  };
}
