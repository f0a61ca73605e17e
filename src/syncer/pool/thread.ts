import { Worker } from 'node:worker_threads';
import type { Readable } from 'node:stream';
import type { WritePermit } from '../../kube/write-permit.js';
import type { Logger, LogLevel } from '../../telemetry/logger.js';
import type { WorkerData } from '../protocol/worker-data.js';
import type { SpawnWorker, WorkerExit } from './worker-handle.js';

export interface ThreadSettings {
  /** The worker's bundle, or a file that loads its source. */
  readonly url: URL;
  /** This program's version: providers see it. */
  readonly version: string;
  readonly logLevel: LogLevel;
  readonly log: Logger;
  /** What every write of a thread needs; absent: nothing. */
  readonly writePermit?: WritePermit | undefined;
  /** For a file that needs a loader; none in production. */
  readonly execArgv?: readonly string[];
}

/** Bytes of a thread's standard output and error that are logged in its life; more is thrown away. */
const OUTPUT_BUDGET = 64 * 1024;

/** Gives the way to start real threads: without environment, with a bounded heap, with their output in our log. */
export function spawnThreads(settings: ThreadSettings): SpawnWorker {
  return ({ worker: number, options, limits }) => {
    const { version, logLevel, writePermit } = settings;
    const workerData: WorkerData = {
      ...{ worker: number, options, version, logLevel },
      ...(writePermit && { writePermit: writePermit.memory }),
    };
    const thread = new Worker(settings.url, {
      env: {},
      workerData,
      name: `syncer-${String(number)}`,
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMb },
      // Not inherited: what the main thread was started with is none of a worker's business.
      execArgv: [...(settings.execArgv ?? [])],
    });
    const log = settings.log.child({ component: 'syncer-thread', worker: number });
    logOutput(thread.stdout, log);
    logOutput(thread.stderr, log);

    let error: unknown;
    thread.on('error', (reason) => (error ??= reason));
    thread.on('messageerror', (reason) =>
      log.warn({ err: reason }, 'a message of a worker could not be read'),
    );
    return {
      post: (message) => thread.postMessage(message),
      onMessage: (listener) => thread.on('message', listener),
      onExit: (listener) => thread.once('exit', (code) => listener(exitOf(code, error))),
      terminate: () => void thread.terminate(),
    };
  };
}

function exitOf(code: number, error: unknown): WorkerExit {
  const outOfMemory = errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
  return { code, outOfMemory, ...(error !== undefined && { error }) };
}

function errorCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

function logOutput(stream: Readable, log: Logger): void {
  let left = OUTPUT_BUDGET;
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    if (left <= 0) return;
    const shown = text.slice(0, left);
    left -= shown.length;
    log.warn({ output: shown }, 'output of a worker thread');
  });
}
