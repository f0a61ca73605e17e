import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../kube/clock.js';
import type { BindingReport } from '../protocol/report.js';

export interface ReporterOptions {
  readonly clock: Clock;
  /** Least milliseconds between two reports of one binding. */
  readonly intervalMs: number;
  readonly send: (report: BindingReport) => void;
}

/**
 * Sends a binding's reports: the first and the ones about a new revision at once, others at most one in the
 * interval, and none when only `lastSyncTime` moved. What was published last is always sent in the end.
 */
export class Reporter {
  readonly #options: ReporterOptions;
  #sent: BindingReport | undefined;
  #sentAt = 0;
  #waiting: BindingReport | undefined;
  #cancel: (() => void) | undefined;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  publish(report: BindingReport): void {
    if (this.#sent !== undefined && isDeepStrictEqual(timeless(this.#sent), timeless(report))) {
      this.#drop();
      return;
    }
    const wait = this.#sentAt + this.#options.intervalMs - this.#options.clock.now();
    if (this.#sent?.revision !== report.revision || wait <= 0) this.#send(report);
    else {
      this.#waiting = report;
      this.#cancel ??= this.#options.clock.after(wait, () => this.#flush());
    }
  }

  /** Sends nothing any more. */
  close(): void {
    this.#drop();
  }

  #flush(): void {
    this.#cancel = undefined;
    if (this.#waiting !== undefined) this.#send(this.#waiting);
  }

  #send(report: BindingReport): void {
    this.#drop();
    this.#sent = report;
    this.#sentAt = this.#options.clock.now();
    this.#options.send(report);
  }

  #drop(): void {
    this.#waiting = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
  }
}

function timeless(report: BindingReport): BindingReport {
  const { objects, pending, failing } = report.sync;
  return { ...report, sync: { objects, pending, failing } };
}
