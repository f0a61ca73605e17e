import type { Clock } from '../clock.js';

/** Ends back-off pauses early: something happened that may make the next attempt succeed. */
export class Wake {
  readonly #sleepers = new Set<() => void>();
  #calls = 0;

  /** Calls of `wake` so far; a caller that notes it before an attempt does not miss one during the attempt. */
  get calls(): number {
    return this.#calls;
  }

  wake(): void {
    this.#calls += 1;
    for (const end of [...this.#sleepers]) end();
  }

  /**
   * Waits `ms`, at most until the next `wake` after the call number `since`, or until the signal. Never
   * rejects.
   *
   * @returns true when a wake ended it
   */
  sleep(
    ms: number,
    since: number,
    { clock, signal }: { clock: Clock; signal: AbortSignal },
  ): Promise<boolean> {
    if (this.#calls !== since || signal.aborted) return Promise.resolve(this.#calls !== since);
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        this.#sleepers.delete(end);
        signal.removeEventListener('abort', end);
        resolve(this.#calls !== since);
      };
      const cancel = clock.after(ms, end);
      this.#sleepers.add(end);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}
