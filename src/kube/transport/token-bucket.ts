import type { Clock } from '../clock.js';

/** Spaces out requests to one server. */
export interface TokenBucket {
  /** Resolves when the request may go; rejects with the signal's reason. Callers go in order. */
  take(signal: AbortSignal): Promise<void>;
}

/**
 * Lets `qps` requests a second pass, and bursts of `burst`. Only the time at which the bucket would be full
 * again is kept, so waiting callers cost nothing but their timer.
 */
export function createTokenBucket(clock: Clock, qps: number, burst: number): TokenBucket {
  const intervalMs = 1000 / qps;
  let fullAt = 0;
  return {
    async take(signal) {
      const now = clock.now();
      const start = Math.max(fullAt, now);
      fullAt = start + intervalMs;
      const waitMs = start - now - (burst - 1) * intervalMs;
      if (waitMs <= 0) return;
      try {
        await clock.sleep(waitMs, signal);
      } catch (error) {
        fullAt -= intervalMs;
        throw error;
      }
    },
  };
}
