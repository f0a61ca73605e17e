import type { WorkerFailure } from './worker-failure.js';

/** What the pool tells about itself; all calls are cheap and never throw. */
export interface PoolMetrics {
  /** Threads that run now. */
  workers(count: number): void;
  workerFailed(cause: WorkerFailure['cause']): void;
  /** A message was thrown away: it breaks the protocol, or names a binding that the worker does not have. */
  messageDropped(why: 'invalid' | 'foreign'): void;
  /** The newest metrics of a worker, as JSON of a prom-client registry; undefined when it has ended. */
  workerMetrics(worker: number, json: string | undefined): void;
}
