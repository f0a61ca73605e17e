import type { Clock } from '../../kube/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import type { SyncerOptions } from '../protocol/assignment.js';
import type { PoolMetrics } from './pool-metrics.js';
import type { RestartDelay } from './restart-delay.js';
import type { SpawnWorker, WorkerLimits } from './worker-handle.js';

export interface SyncerPoolSettings {
  readonly spawn: SpawnWorker;
  readonly options: SyncerOptions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: PoolMetrics;
  /** Default 16. */
  readonly maxWorkers?: number;
  readonly limits?: Partial<WorkerLimits>;
  /** Default: one second, doubled up to five minutes. */
  readonly restart?: RestartDelay;
  /** Milliseconds without a death after which a binding is trusted again; default ten minutes. */
  readonly probationMs?: number;
}
