import type { FromWorker, ToWorker } from '../protocol/report.js';

/** The worker's end of its line to the main thread. */
export interface WorkerPort {
  post(message: FromWorker): void;
  onMessage(listener: (message: ToWorker) => void): void;
  /** After this nothing is said or heard; the thread may end. */
  close(): void;
}
