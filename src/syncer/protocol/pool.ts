import type { BindingAssignment } from './assignment.js';
import type { BindingReport, ObjectEvent } from './report.js';

/** The main side of all workers. */
export interface SyncerPool {
  /** Places the binding if it is new, and hands the assignment over if its content differs from the last one. */
  assign(assignment: Omit<BindingAssignment, 'revision'>): void;
  /** Stops work on the binding; resolves when the worker has let go. Unknown keys are fine. */
  release(key: string): Promise<void>;
  /**
   * The last report about the newest revision of the binding's assignment, else undefined. While a
   * worker is being restarted the report says `Syncing=False/WorkerFailed`.
   */
  report(key: string): BindingReport | undefined;
  onReport(listener: (key: string) => void): () => void;
  onEvent(listener: (event: ObjectEvent) => void): () => void;
  /** Releases all and ends the threads. */
  close(): Promise<void>;
}
