import { ApiError } from './errors.js';
import type { WorkQueue } from './work-queue.js';

/** A failed attempt at a key, for log and metrics. */
export interface QueueFailure<K extends string> {
  readonly key: K;
  readonly error: unknown;
  /** Failures of this key in a row, this one included. */
  readonly failures: number;
  readonly retryInMs: number;
}

/** A handler's wish to see its key again. */
interface Requeue {
  readonly requeueAfterMs: number;
}

export interface RunQueueOptions<K extends string> {
  /** Keys that are worked on at the same time. */
  readonly concurrency: number;
  /** Does the work for one key. A rejection brings the key back after its back-off. */
  readonly handle: (key: K, signal: AbortSignal) => Promise<void> | Promise<Requeue | undefined>;
  /** Ends the run: the queue is shut down, keys that wait are not begun. */
  readonly signal: AbortSignal;
  readonly onError?: (failure: QueueFailure<K>) => void;
  /** Milliseconds that an error asks to wait at least. Default: what a server's refusal says. */
  readonly retryAfter?: (error: unknown) => number | undefined;
}

/**
 * Works on a queue until the signal, and resolves when the last handler has returned. Never rejects: an
 * error of a handler concerns its key alone.
 */
export async function runQueue<K extends string>(
  queue: WorkQueue<K>,
  options: RunQueueOptions<K>,
): Promise<void> {
  const stop = (): void => queue.shutDown();
  if (options.signal.aborted) stop();
  options.signal.addEventListener('abort', stop, { once: true });
  const workers = Array.from({ length: Math.max(1, options.concurrency) }, () => work(queue, options));
  await Promise.all(workers);
  options.signal.removeEventListener('abort', stop);
}

async function work<K extends string>(queue: WorkQueue<K>, options: RunQueueOptions<K>): Promise<void> {
  for (;;) {
    const key = await queue.get();
    if (key === undefined) return;
    if (!options.signal.aborted) await attempt(queue, options, key);
    queue.done(key);
  }
}

async function attempt<K extends string>(
  queue: WorkQueue<K>,
  { handle, signal, onError, retryAfter = askedByServer }: RunQueueOptions<K>,
  key: K,
): Promise<void> {
  try {
    const result = await handle(key, signal);
    queue.forget(key);
    if (typeof result === 'object') queue.addAfter(key, result.requeueAfterMs);
  } catch (error) {
    // After the signal everything fails, and nothing is tried again.
    if (signal.aborted) return;
    const retryInMs = queue.addRateLimited(key, retryAfter(error));
    try {
      onError?.({ key, error, failures: queue.failures(key), retryInMs });
    } catch {
      // A broken log must not end the work on all other keys, and there is nowhere left to tell.
    }
  }
}

function askedByServer(error: unknown): number | undefined {
  return error instanceof ApiError ? error.retryAfterMs : undefined;
}
