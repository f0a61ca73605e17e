export interface RestartDelay {
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * Milliseconds to wait before a binding gets a worker again after its `failures`-th worker died (from 1):
 * doubles each time, up to the maximum, and loses up to a quarter by chance so that many do not start at once.
 */
export function restartDelay(failures: number, delay: RestartDelay, random: () => number): number {
  const full = Math.min(delay.baseMs * 2 ** Math.max(failures - 1, 0), delay.maxMs);
  return Math.round(full * (1 - random() / 4));
}
