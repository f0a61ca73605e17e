import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.js';

/** Where the machine's clock reads time, in milliseconds. */
export interface TimeSources {
  /** Since the epoch; somebody may set it. */
  readonly wall: () => number;
  /** Since any moment; only goes on. */
  readonly steady: () => number;
}

const MACHINE: TimeSources = { wall: () => Date.now(), steady: () => performance.now() };
/** Speed at which a clock goes that is ahead of the machine's. */
const SLOW = 0.75;

/**
 * The machine's clock. Its timers do not keep the process alive.
 *
 * It never goes back: where the machine's time is put back it goes on, slower, until that has caught up. Everything
 * that waits for a moment (a back-off, a pace, the next heartbeat) would else wait as much longer.
 */
export function createSystemClock({ wall, steady }: TimeSources = MACHINE): Clock {
  let [now, steadyThen] = [wall(), steady()];
  const advance = (): number => {
    const steadyNow = steady();
    now = Math.max(wall(), now + (steadyNow - steadyThen) * SLOW);
    steadyThen = steadyNow;
    return Math.floor(now);
  };
  const after = (ms: number, callback: () => void): (() => void) => {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  };
  return {
    now: advance,
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
        if (signal === undefined) return;
        // One signal ends a whole worker, in which many may wait; node would warn at the eleventh.
        setMaxListeners(0, signal);
        signal.addEventListener('abort', abort, { once: true });
      }),
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
