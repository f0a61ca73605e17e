/** How long to wait between attempts. */
export interface BackoffOptions {
  /** Ceiling of the first delay, in milliseconds. */
  readonly baseMs: number;
  /** Ceiling of every delay, in milliseconds. */
  readonly maxMs: number;
}

/**
 * Full jitter: anywhere between 1 ms and `min(maxMs, baseMs * 2^attempt)`, so that many clients that failed
 * together do not come back together.
 *
 * @param attempt failures before this one: 0 for the first delay
 * @param random gives numbers in [0, 1)
 */
export function backoffMs(attempt: number, options: BackoffOptions, random: () => number): number {
  // 2^40 ms is beyond any ceiling; without the cap the power becomes Infinity, and 0 * Infinity is NaN.
  const ceiling = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(Math.max(attempt, 0), 40));
  return Math.max(1, Math.round(random() * ceiling));
}

/**
 * The longest that a server's Retry-After is honoured, in milliseconds: a hostile one may not park us for
 * ever.
 */
const MAX_RETRY_AFTER_MS = 10 * 60_000;

/**
 * Delay after a refusal that says when to come back: what the server asks, and the jittered back-off on top,
 * so that all who were told the same do not return in the same moment.
 */
export function retryDelayMs(retryAfterMs: number | undefined, jitteredMs: number): number {
  return Math.min(Math.max(retryAfterMs ?? 0, 0), MAX_RETRY_AFTER_MS) + jitteredMs;
}
