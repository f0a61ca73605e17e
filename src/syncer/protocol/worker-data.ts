import type { SyncerOptions } from './assignment.js';

/** What a worker's thread gets when it starts; everything else comes in messages. */
export interface WorkerData {
  /** The worker's number in the pool, for its log. */
  readonly worker: number;
  readonly options: SyncerOptions;
  readonly version: string;
  /** Memory of the WritePermit that the worker's writes need; absent: they need none. */
  readonly writePermit?: SharedArrayBuffer;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
}
