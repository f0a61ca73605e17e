import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.js';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock for tests that stands still until it is moved. */
export class ManualClock implements Clock {
  #now: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(startMs = 1_700_000_000_000) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  /** Timers that wait now. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer, undefined where none waits. */
  get nextIn(): number | undefined {
    const next = this.#next();
    return next && Math.max(0, next.at - this.#now);
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, order: this.#order++, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        cancel();
        reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', fail);
        resolve();
      });
      if (signal === undefined) return;
      setMaxListeners(0, signal);
      if (signal.aborted) fail();
      else signal.addEventListener('abort', fail, { once: true });
    });
  }

  /** Moves on by `ms`, fires what falls due in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await settle();
    for (let timer = this.#next(); timer !== undefined && timer.at <= target; timer = this.#next()) {
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, timer.at);
      timer.callback();
      await settle();
    }
    this.#now = target;
  }

  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order))
        next = timer;
    }
    return next;
  }
}

/** Lets all promises settle that wait for nothing but other promises. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
