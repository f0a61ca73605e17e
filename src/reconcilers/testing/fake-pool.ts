import { isDeepStrictEqual } from 'node:util';
import type { AssignmentContent } from '../binding/assignment.js';
import type { SyncerPool } from '../../syncer/protocol/pool.js';
import type { BindingReport, ObjectEvent } from '../../syncer/protocol/report.js';

/** What a pretended worker says about an assignment. */
export type FakeWorker = (assignment: AssignmentContent) => Partial<BindingReport>;

/** A pool whose workers answer at once with what a test wants them to say. */
export class FakePool implements SyncerPool {
  readonly assigned = new Map<string, AssignmentContent>();
  readonly released: string[] = [];
  readonly #worker: FakeWorker;
  readonly #reports = new Map<string, BindingReport>();
  readonly #reportListeners = new Set<(key: string) => void>();
  readonly #eventListeners = new Set<(event: ObjectEvent) => void>();
  #revision = 0;

  constructor(worker: FakeWorker) {
    this.#worker = worker;
  }

  assign(assignment: AssignmentContent): void {
    if (isDeepStrictEqual(this.assigned.get(assignment.key), assignment)) return;
    this.assigned.set(assignment.key, assignment);
    this.#revision += 1;
    this.say(assignment.key);
  }

  /** The worker reports again, for instance because the test changed what it says. */
  say(key: string): void {
    const assignment = this.assigned.get(key);
    if (assignment === undefined) return;
    const report: BindingReport = {
      key,
      revision: this.#revision,
      conditions: {},
      sync: { objects: 0, pending: 0, failing: 0 },
      drained: false,
      left: false,
      remaining: [],
      namespaces: [],
      ...this.#worker(assignment),
    };
    this.#reports.set(key, report);
    for (const listener of this.#reportListeners) listener(key);
  }

  emit(event: ObjectEvent): void {
    for (const listener of this.#eventListeners) listener(event);
  }

  release(key: string): Promise<void> {
    this.released.push(key);
    this.assigned.delete(key);
    this.#reports.delete(key);
    return Promise.resolve();
  }

  report(key: string): BindingReport | undefined {
    return this.#reports.get(key);
  }

  onReport(listener: (key: string) => void): () => void {
    this.#reportListeners.add(listener);
    return () => void this.#reportListeners.delete(listener);
  }

  onEvent(listener: (event: ObjectEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => void this.#eventListeners.delete(listener);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
