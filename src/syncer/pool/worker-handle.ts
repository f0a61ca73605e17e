import type { SyncerOptions } from '../protocol/assignment.js';
import type { ToWorker } from '../protocol/report.js';

/** What bounds one worker; every limit's breach ends it. */
export interface WorkerLimits {
  /** Heap of the thread in MiB. */
  readonly heapMb: number;
  /** Bytes outside of the heap (Buffers), which the heap's limit does not count. */
  readonly externalBytes: number;
  /** A worker that gives no pulse for so long is stuck. Workers give one each two seconds. */
  readonly silenceMs: number;
  /** Time to let go of one binding, and to end in order. */
  readonly closeMs: number;
  /** Messages that may come at once, and a second. An invalid one counts for fifty. */
  readonly messageBurst: number;
  readonly messagesPerSecond: number;
  /** On top of that, for each binding in the worker: messages a second, and ten times as many at once. */
  readonly messagesPerBinding: number;
}

export const DEFAULT_WORKER_LIMITS: WorkerLimits = {
  heapMb: 512,
  externalBytes: 512 * 1024 * 1024,
  silenceMs: 30_000,
  closeMs: 10_000,
  messageBurst: 1000,
  messagesPerSecond: 100,
  messagesPerBinding: 10,
};

/** How a thread ended. */
export interface WorkerExit {
  readonly code: number;
  readonly outOfMemory: boolean;
  /** For the log only: may hold what a provider sent. */
  readonly error?: unknown;
}

/** One thread. The events may come in any turn after the handle was made, never before. */
export interface WorkerHandle {
  /** Never throws; lost when the thread has ended. */
  post(message: ToWorker): void;
  /** Values are unchecked. */
  onMessage(listener: (value: unknown) => void): void;
  /** Called once. */
  onExit(listener: (exit: WorkerExit) => void): void;
  /** Ends the thread wherever it is; idempotent. */
  terminate(): void;
}

export interface SpawnOptions {
  /** For thread names and logs: the worker's number in the pool. */
  readonly worker: number;
  readonly options: SyncerOptions;
  readonly limits: WorkerLimits;
}

/** May throw where the system gives no more threads. */
export type SpawnWorker = (options: SpawnOptions) => WorkerHandle;
