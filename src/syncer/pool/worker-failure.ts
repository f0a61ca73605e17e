import { EXIT_UNHANDLED_REJECTION } from '../protocol/exit-codes.js';
import type { WorkerExit, WorkerLimits } from './worker-handle.js';

/** Why a worker's thread is gone although bindings need it. */
export type WorkerFailure =
  | { readonly cause: 'out-of-memory' }
  | { readonly cause: 'external-memory'; readonly bytes: number }
  | { readonly cause: 'unresponsive' }
  | { readonly cause: 'flood' }
  | { readonly cause: 'release-timeout' }
  | { readonly cause: 'unhandled-rejection' }
  | { readonly cause: 'uncaught-error' }
  | { readonly cause: 'exit'; readonly code: number }
  | { readonly cause: 'no-thread' };

/** Reads how a thread ended by itself. */
export function failureOfExit(exit: WorkerExit): WorkerFailure {
  if (exit.outOfMemory) return { cause: 'out-of-memory' };
  if (exit.code === EXIT_UNHANDLED_REJECTION) return { cause: 'unhandled-rejection' };
  if (exit.error !== undefined) return { cause: 'uncaught-error' };
  return { cause: 'exit', code: exit.code };
}

/** The message of `Syncing=False/WorkerFailed`: what happened, and when the next try is. */
export function workerFailureMessage(
  failure: WorkerFailure,
  limits: WorkerLimits,
  retry: { readonly shared: boolean; readonly delayMs: number },
): string {
  const whose = retry.shared ? 'The worker that this binding shared with others' : "This binding's worker";
  const seconds = Math.max(1, Math.ceil(retry.delayMs / 1000));
  return `${whose} ${happened(failure, limits)} It starts again in ${String(seconds)} s; nothing was deleted. ${advice(failure)}`;
}

function happened(failure: WorkerFailure, limits: WorkerLimits): string {
  switch (failure.cause) {
    case 'out-of-memory':
      return `ran out of memory (limit ${String(limits.heapMb)} MiB).`;
    case 'external-memory':
      return `held ${String(mebibytes(failure.bytes))} MiB of buffers (limit ${String(mebibytes(limits.externalBytes))} MiB) and was ended.`;
    case 'unresponsive':
      return `did not react for ${String(Math.round(limits.silenceMs / 1000))} s and was ended.`;
    case 'flood':
      return 'sent more messages than it may and was ended.';
    case 'release-timeout':
      return 'did not let go of a binding in time and was ended.';
    case 'unhandled-rejection':
      return 'ended after an error that nothing handled (unhandled rejection).';
    case 'uncaught-error':
      return 'ended after an error that nothing handled.';
    case 'exit':
      return `ended with exit code ${String(failure.code)}.`;
    case 'no-thread':
      return 'could not be started: the system gives no more threads.';
  }
}

function advice(failure: WorkerFailure): string {
  switch (failure.cause) {
    case 'out-of-memory':
    case 'external-memory':
      return 'If it happens again, bind fewer or smaller objects, or ask the platform admin to raise --worker-memory.';
    case 'no-thread':
      return 'Ask the platform admin to lower --max-workers or to raise the limit of threads.';
    case 'unresponsive':
    case 'flood':
    case 'release-timeout':
    case 'unhandled-rejection':
    case 'uncaught-error':
    case 'exit':
      return "If it happens again, ask the platform admin for the controller's log.";
  }
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / (1024 * 1024));
}
