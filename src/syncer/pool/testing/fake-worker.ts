import type { BindingReport, FromWorker, ToWorker } from '../../protocol/report.js';
import type { SpawnOptions, WorkerExit, WorkerHandle } from '../worker-handle.js';

/** A thread for tests: keeps what it is told, says what the test wants. */
export class FakeWorker implements WorkerHandle {
  readonly spawned: SpawnOptions;
  readonly received: ToWorker[] = [];
  terminated = false;
  /** Answers `release` and `stop` by itself, as a healthy worker does. */
  obedient = true;
  #listener: (value: unknown) => void = () => undefined;
  #onExit: ((exit: WorkerExit) => void) | undefined;

  constructor(spawned: SpawnOptions) {
    this.spawned = spawned;
  }

  post(message: ToWorker): void {
    this.received.push(structuredClone(message));
    if (!this.obedient) return;
    if (message.type === 'release') queueMicrotask(() => this.say({ type: 'released', key: message.key }));
    if (message.type === 'stop') queueMicrotask(() => this.exit({ code: 0, outOfMemory: false }));
  }

  onMessage(listener: (value: unknown) => void): void {
    this.#listener = listener;
  }

  onExit(listener: (exit: WorkerExit) => void): void {
    this.#onExit = listener;
  }

  terminate(): void {
    this.terminated = true;
    queueMicrotask(() => this.exit({ code: 1, outOfMemory: false }));
  }

  say(message: FromWorker): void {
    this.#listener(message);
  }

  sayAnything(value: unknown): void {
    this.#listener(value);
  }

  exit(exit: WorkerExit): void {
    const listener = this.#onExit;
    this.#onExit = undefined;
    listener?.(exit);
  }

  pulse(externalBytes = 0): void {
    this.say({ type: 'pulse', metrics: '[]', externalBytes });
  }

  report(key: string, change: Partial<BindingReport> = {}): void {
    this.say({
      type: 'report',
      report: {
        key,
        revision: this.revisionOf(key),
        conditions: {},
        sync: { objects: 0, pending: 0, failing: 0 },
        drained: false,
        left: false,
        remaining: [],
        namespaces: [],
        ...change,
      },
    });
  }

  get alive(): boolean {
    return this.#onExit !== undefined;
  }

  /** Keys that were assigned and not released since. */
  get keys(): string[] {
    const keys = new Set<string>();
    for (const message of this.received) {
      if (message.type === 'assign') keys.add(message.assignment.key);
      if (message.type === 'release') keys.delete(message.key);
    }
    return [...keys];
  }

  assignments(key: string): number {
    return this.received.filter((message) => message.type === 'assign' && message.assignment.key === key)
      .length;
  }

  revisionOf(key: string): number {
    let revision = 0;
    for (const message of this.received) {
      if (message.type === 'assign' && message.assignment.key === key) revision = message.assignment.revision;
    }
    return revision;
  }
}
