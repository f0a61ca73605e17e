import { backoffMs, retryDelayMs } from './backoff.js';
import type { BackoffOptions } from './backoff.js';
import type { Clock } from './clock.js';
import { FairOrder } from './fair-order.js';

export interface WorkQueueOptions<K extends string> {
  readonly clock: Clock;
  readonly random: () => number;
  /** Of `addRateLimited`. Default: 500 ms, doubling up to 5 minutes. */
  readonly backoff?: BackoffOptions;
  /** Group of a key, for instance its logical cluster. Groups take turns. Default: one group for all. */
  readonly groupOf?: (key: K) => string;
  /** Keys of one group that are out for work at the same time. Default: no limit. */
  readonly maxProcessingPerGroup?: number;
}

const DEFAULT_BACKOFF: BackoffOptions = { baseMs: 500, maxMs: 5 * 60_000 };

/**
 * Keys that want work, each at most once, and never the same key at two places at a time:
 * - a key added while it waits is not added again
 * - a key added while it is being worked on waits until `done`, and comes out again then
 */
export class WorkQueue<K extends string> {
  readonly #options: WorkQueueOptions<K>;
  readonly #order: FairOrder<K>;
  /** Keys that want work: those waiting in order, and those added again while they are worked on. */
  readonly #dirty = new Set<K>();
  readonly #processing = new Set<K>();
  readonly #failures = new Map<K, number>();
  readonly #later = new Map<K, { readonly at: number; readonly cancel: () => void }>();
  readonly #takers: ((key: K | undefined) => void)[] = [];
  readonly #drainers: (() => void)[] = [];
  #shuttingDown = false;

  constructor(options: WorkQueueOptions<K>) {
    this.#options = options;
    this.#order = new FairOrder(
      options.groupOf ?? (() => ''),
      options.maxProcessingPerGroup ?? Number.POSITIVE_INFINITY,
    );
  }

  /** Keys that want work now; those waiting for their time (`addAfter`) not counted. */
  get length(): number {
    return this.#dirty.size;
  }

  /** Keys being worked on. */
  get processing(): number {
    return this.#processing.size;
  }

  /** Keys waiting for their time. */
  get delayed(): number {
    return this.#later.size;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  add(key: K): void {
    if (this.#shuttingDown || this.#dirty.has(key)) return;
    this.#dirty.add(key);
    if (this.#processing.has(key)) return;
    this.#order.push(key);
    this.#handOut();
  }

  /** Adds after `ms`. Of several times for one key the earliest counts; `add` in between cancels none. */
  addAfter(key: K, ms: number): void {
    if (this.#shuttingDown) return;
    if (!(ms > 0)) {
      this.add(key);
      return;
    }
    const { clock } = this.#options;
    const at = clock.now() + ms;
    const waiting = this.#later.get(key);
    if (waiting !== undefined) {
      if (waiting.at <= at) return;
      waiting.cancel();
    }
    const cancel = clock.after(ms, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, { at, cancel });
  }

  /**
   * Adds after the key's own back-off, which grows with each call until `forget`.
   *
   * @param retryAfterMs what a server asked to wait at least
   * @returns the delay, in milliseconds
   */
  addRateLimited(key: K, retryAfterMs?: number): number {
    const { random, backoff = DEFAULT_BACKOFF } = this.#options;
    const attempt = this.#failures.get(key) ?? 0;
    if (!this.#shuttingDown) this.#failures.set(key, attempt + 1);
    const delay = retryDelayMs(retryAfterMs, backoffMs(attempt, backoff, random));
    this.addAfter(key, delay);
    return delay;
  }

  /** Ends the key's back-off: it has succeeded, or is gone. */
  forget(key: K): void {
    this.#failures.delete(key);
  }

  /** Calls of `addRateLimited` since the last `forget`. */
  failures(key: K): number {
    return this.#failures.get(key) ?? 0;
  }

  /**
   * The next key, waiting for one if need be; it must be given back with `done`. Undefined once the queue
   * is shutting down and nothing is left to hand out.
   */
  get(): Promise<K | undefined> {
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#handOut();
    });
  }

  /** The work on a key that `get` gave has ended, well or not. */
  done(key: K): void {
    if (!this.#processing.delete(key)) return;
    this.#order.release(key);
    if (this.#dirty.has(key)) this.#order.push(key);
    this.#handOut();
  }

  /** Takes no more keys; those waiting in order are still handed out, those waiting for their time are dropped. */
  shutDown(): void {
    this.#shuttingDown = true;
    for (const { cancel } of this.#later.values()) cancel();
    this.#later.clear();
    this.#handOut();
  }

  /** Shuts down and resolves when every key was handed out and given back. */
  drain(): Promise<void> {
    this.shutDown();
    return new Promise((resolve) => {
      this.#drainers.push(resolve);
      this.#handOut();
    });
  }

  #handOut(): void {
    while (this.#takers.length > 0) {
      const key = this.#order.shift();
      if (key === undefined) break;
      this.#dirty.delete(key);
      this.#processing.add(key);
      this.#takers.shift()?.(key);
    }
    // A dirty key that is being worked on, or whose group is full, comes out later: takers wait for it.
    if (!this.#shuttingDown || this.#dirty.size > 0) return;
    for (const take of this.#takers.splice(0)) take(undefined);
    if (this.#processing.size > 0) return;
    for (const resolve of this.#drainers.splice(0)) resolve();
  }
}
