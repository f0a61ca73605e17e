/** A token bucket: `burst` at once, `perSecond` in the long run. */
export interface MessageBudget {
  /** Takes `cost`; false when the bucket does not hold it any more. */
  take(cost: number): boolean;
}

/** `now` gives milliseconds; a clock that goes back refills nothing. */
export function createMessageBudget(
  limits: { readonly burst: number; readonly perSecond: number },
  now: () => number,
): MessageBudget {
  let tokens = limits.burst;
  let last = now();
  return {
    take(cost) {
      const time = now();
      tokens = Math.min(limits.burst, tokens + (Math.max(0, time - last) / 1000) * limits.perSecond);
      last = time;
      tokens -= cost;
      return tokens >= 0;
    },
  };
}
