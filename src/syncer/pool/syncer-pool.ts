import { isDeepStrictEqual } from 'node:util';
import type { SyncerPool } from '../protocol/pool.js';
import { createMessageReader } from '../protocol/read-from-worker.js';
import type { BindingReport, FromWorker, ObjectEvent } from '../protocol/report.js';
import { arrange } from './placement.js';
import {
  currentReport,
  newEntry,
  placedBindings,
  type AssignmentContent,
  type PoolEntry,
} from './pool-entry.js';
import type { SyncerPoolSettings } from './pool-settings.js';
import { restartDelay, type RestartDelay } from './restart-delay.js';
import { SupervisedWorker } from './supervised-worker.js';
import { workerFailureMessage, type WorkerFailure } from './worker-failure.js';
import { DEFAULT_WORKER_LIMITS, type WorkerLimits } from './worker-handle.js';

/** Starts no thread before the first binding is assigned. */
export function createSyncerPool(settings: SyncerPoolSettings): SyncerPool {
  return new Pool(settings);
}

class Pool implements SyncerPool {
  readonly #settings: SyncerPoolSettings;
  readonly #limits: WorkerLimits;
  readonly #restart: RestartDelay;
  readonly #maxWorkers: number;
  readonly #probationMs: number;
  readonly #read = createMessageReader();
  readonly #entries = new Map<string, PoolEntry>();
  readonly #workers = new Map<number, SupervisedWorker>();
  readonly #reportListeners = new Set<(key: string) => void>();
  readonly #eventListeners = new Set<(event: ObjectEvent) => void>();
  #nextWorker = 1;
  /** One counter for all bindings: a late report never fits a binding that was assigned again. */
  #revision = 0;
  #closed = false;

  constructor(settings: SyncerPoolSettings) {
    this.#settings = settings;
    this.#limits = { ...DEFAULT_WORKER_LIMITS, ...settings.limits };
    this.#restart = settings.restart ?? { baseMs: 1000, maxMs: 300_000 };
    this.#maxWorkers = settings.maxWorkers ?? 16;
    this.#probationMs = settings.probationMs ?? 600_000;
  }

  assign(content: AssignmentContent): void {
    if (this.#closed) return;
    let entry = this.#entries.get(content.key);
    if (entry === undefined) {
      entry = newEntry(content.key);
      this.#entries.set(content.key, entry);
    }
    if (isDeepStrictEqual(entry.content, content)) return;
    entry.content = content;
    entry.revision = ++this.#revision;
    if (entry.worker === undefined) this.#arrange();
    else this.#drive(entry);
  }

  release(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return Promise.resolve();
    entry.content = undefined;
    entry.worker = undefined;
    entry.cancelWait();
    const released = new Promise<void>((resolve) => entry.waiters.push(resolve));
    this.#drive(entry);
    return released;
  }

  report(key: string): BindingReport | undefined {
    const entry = this.#entries.get(key);
    return entry?.content === undefined ? undefined : currentReport(entry);
  }

  onReport(listener: (key: string) => void): () => void {
    this.#reportListeners.add(listener);
    return () => this.#reportListeners.delete(listener);
  }

  onEvent(listener: (event: ObjectEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const entry of this.#entries.values()) {
      entry.content = undefined;
      entry.cancelWait();
      entry.live?.cancelDeadline();
    }
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()));
    for (const entry of this.#entries.values()) settle(entry);
    this.#entries.clear();
  }

  /** Gives every binding its place and works towards it. */
  #arrange(): void {
    const arrangement = arrange(placedBindings(this.#entries.values()), this.#maxWorkers, this.#nextWorker);
    for (const [key, worker] of arrangement) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) entry.worker = worker;
      this.#nextWorker = Math.max(this.#nextWorker, worker + 1);
    }
    this.#driveAll();
  }

  #driveAll(): void {
    for (const entry of [...this.#entries.values()]) this.#drive(entry);
  }

  /** One step from where the binding's work is to where it shall be; safe at any time. */
  #drive(entry: PoolEntry): void {
    if (this.#closed) return;
    const { live, content } = entry;
    if (live?.releasing === true) return;
    if (live !== undefined) {
      const placed = entry.worker === undefined ? undefined : this.#workers.get(entry.worker);
      if (content === undefined || placed !== live.worker) this.#letGo(entry);
      else if (live.revision < entry.revision) this.#post(entry, live.worker, content);
    } else if (content === undefined) this.#forget(entry);
    else this.#start(entry, content);
  }

  #start(entry: PoolEntry, content: AssignmentContent): void {
    if (entry.worker === undefined) return;
    const { clock } = this.#settings;
    const wait = entry.notBefore - clock.now();
    entry.cancelWait();
    if (wait > 0) {
      entry.cancelWait = clock.after(wait, () => this.#drive(entry));
      return;
    }
    const worker = this.#workers.get(entry.worker) ?? this.#spawn(entry.worker);
    if (worker !== undefined) this.#post(entry, worker, content);
  }

  #post(entry: PoolEntry, worker: SupervisedWorker, content: AssignmentContent): void {
    const { revision } = entry;
    worker.post({ type: 'assign', assignment: { ...content, revision } });
    if (entry.live === undefined) {
      const since = this.#settings.clock.now();
      worker.bindings += 1;
      entry.live = {
        worker,
        revision,
        releasing: false,
        since,
        cancelDeadline: () => undefined,
        schemas: undefined,
      };
    } else entry.live.revision = revision;
  }

  #letGo(entry: PoolEntry): void {
    const { live } = entry;
    if (live === undefined) return;
    live.releasing = true;
    live.worker.post({ type: 'release', key: entry.key });
    live.cancelDeadline = this.#settings.clock.after(this.#limits.closeMs, () =>
      live.worker.fail({ cause: 'release-timeout' }),
    );
  }

  #forget(entry: PoolEntry): void {
    this.#entries.delete(entry.key);
    settle(entry);
    this.#stopIdle();
  }

  /** Ends the workers that no binding is in or on the way to. */
  #stopIdle(): void {
    const needed = new Set<SupervisedWorker | undefined>();
    for (const { live, worker } of this.#entries.values()) {
      needed.add(live?.worker);
      if (worker !== undefined) needed.add(this.#workers.get(worker));
    }
    for (const worker of this.#workers.values()) if (!needed.has(worker)) void worker.stop();
  }

  /** Undefined while as many threads run as may; the end of one drives all bindings again. */
  #spawn(number: number): SupervisedWorker | undefined {
    if (this.#workers.size >= this.#maxWorkers) return undefined;
    const { spawn, options, clock, metrics, log } = this.#settings;
    let worker: SupervisedWorker;
    try {
      worker = new SupervisedWorker({
        handle: spawn({ worker: number, options, limits: this.#limits }),
        limits: this.#limits,
        clock,
        read: this.#read,
        onMessage: (message) => this.#receive(number, worker, message),
        onInvalid: (path) => {
          metrics.messageDropped('invalid');
          log.warn(
            { component: 'syncer-pool', worker: number, path },
            'dropped an invalid message of a worker',
          );
        },
        onEnd: (failure, error) => this.#ended(number, worker, failure, error),
      });
    } catch (error) {
      this.#failed(number, { cause: 'no-thread' }, error, this.#waitingFor(number));
      return undefined;
    }
    this.#workers.set(number, worker);
    metrics.workers(this.#workers.size);
    return worker;
  }

  #waitingFor(number: number): PoolEntry[] {
    return [...this.#entries.values()].filter(
      ({ worker, live, content }) => content !== undefined && live === undefined && worker === number,
    );
  }

  #receive(number: number, worker: SupervisedWorker, message: FromWorker): void {
    switch (message.type) {
      case 'ready':
        return;
      case 'pulse':
        this.#settings.metrics.workerMetrics(number, message.metrics);
        this.#endProbation(worker);
        return;
      case 'report':
        this.#reported(worker, message.report, message.sameSchemas === true);
        return;
      case 'event':
        if (this.#own(worker, message.event.key) !== undefined) {
          for (const listener of this.#eventListeners) listener(message.event);
        }
        return;
      case 'released':
        this.#released(worker, message.key);
        return;
    }
  }

  /** The binding, when the worker has it: a worker has no say about others. */
  #own(worker: SupervisedWorker, key: string): PoolEntry | undefined {
    const entry = this.#entries.get(key);
    if (entry?.live?.worker === worker) return entry;
    this.#settings.metrics.messageDropped('foreign');
    return undefined;
  }

  #reported(worker: SupervisedWorker, report: BindingReport, sameSchemas: boolean): void {
    const entry = this.#own(worker, report.key);
    if (entry?.live === undefined || entry.live.releasing || report.revision > entry.live.revision) return;
    const { live } = entry;
    if (!sameSchemas) live.schemas = report.schemas;
    entry.report = live.schemas === undefined ? report : { ...report, schemas: live.schemas };
    if (report.revision !== entry.revision) return;
    entry.failure = undefined;
    this.#announce(entry.key);
  }

  #released(worker: SupervisedWorker, key: string): void {
    const entry = this.#own(worker, key);
    if (entry?.live?.releasing !== true) return;
    settle(entry);
    this.#stopIdle();
    this.#drive(entry);
  }

  #endProbation(worker: SupervisedWorker): void {
    const now = this.#settings.clock.now();
    for (const entry of this.#entries.values()) {
      if (entry.live?.worker !== worker || now - entry.live.since < this.#probationMs) continue;
      entry.standing = 'good';
      entry.failures = 0;
    }
  }

  #ended(number: number, worker: SupervisedWorker, failure: WorkerFailure | undefined, error: unknown): void {
    this.#workers.delete(number);
    this.#settings.metrics.workers(this.#workers.size);
    this.#settings.metrics.workerMetrics(number, undefined);
    const victims = [...this.#entries.values()].filter((entry) => entry.live?.worker === worker);
    for (const victim of victims) settle(victim);
    if (this.#closed) return;
    if (failure === undefined) this.#driveAll();
    else {
      for (const victim of victims) {
        victim.standing = victims.length === 1 || victim.standing === 'convicted' ? 'convicted' : 'suspect';
      }
      this.#failed(number, failure, error, victims);
    }
  }

  #failed(number: number, failure: WorkerFailure, error: unknown, victims: readonly PoolEntry[]): void {
    const { clock, random, log, metrics } = this.#settings;
    metrics.workerFailed(failure.cause);
    const bindings = victims.slice(0, 20).map((victim) => victim.key);
    log.warn(
      { component: 'syncer-pool', worker: number, ...failure, bindings, err: error },
      'a worker failed',
    );
    for (const victim of victims) {
      victim.worker = undefined;
      if (victim.content === undefined) continue;
      victim.failures += 1;
      const delayMs = restartDelay(victim.failures, this.#restart, random);
      victim.notBefore = clock.now() + delayMs;
      victim.failure = workerFailureMessage(failure, this.#limits, { shared: victims.length > 1, delayMs });
    }
    this.#arrange();
    for (const victim of victims) this.#announce(victim.key);
  }

  #announce(key: string): void {
    for (const listener of this.#reportListeners) listener(key);
  }
}

/** Nothing works on the binding any more. */
function settle(entry: PoolEntry): void {
  if (entry.live !== undefined) {
    entry.live.cancelDeadline();
    entry.live.worker.bindings -= 1;
    entry.live = undefined;
  }
  for (const done of entry.waiters.splice(0)) done();
}
