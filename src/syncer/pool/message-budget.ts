export interface MessageRate {
  /** Messages at once. */
  readonly burst: number;
  /** Messages a second in the long run. */
  readonly perSecond: number;
}

/** A token bucket whose size may change. */
export interface MessageBudget {
  /** Takes `cost`; false when the bucket does not hold it any more. */
  take(cost: number): boolean;
}

/** `now` gives milliseconds; a clock that goes back refills nothing. */
export function createMessageBudget(rate: () => MessageRate, now: () => number): MessageBudget {
  let tokens = rate().burst;
  let last = now();
  return {
    take(cost) {
      const time = now();
      const { burst, perSecond } = rate();
      tokens = Math.min(burst, tokens + (Math.max(0, time - last) / 1000) * perSecond);
      last = time;
      tokens -= cost;
      return tokens >= 0;
    },
  };
}
