import type { Clock } from './clock.js';

/** The machine's clock. Its timers do not keep the process alive. */
export function createSystemClock(): Clock {
  const after = (ms: number, callback: () => void): (() => void) => {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  };
  return {
    now: () => Date.now(),
    after,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(asError(signal.reason));
          return;
        }
        const abort = (): void => {
          cancel();
          reject(asError(signal?.reason));
        };
        const cancel = after(ms, () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        });
        signal?.addEventListener('abort', abort, { once: true });
      }),
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
