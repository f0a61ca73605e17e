/** Chance that a seed repeats. What it decides repeats with the seed; what the servers make of it does not. */
export interface Chance {
  /** 0 up to 1. */
  (): number;
  /** A whole number from `low` up to, and with, `high`. */
  whole(low: number, high: number): number;
  /** One of them; there has to be one. */
  of<T>(items: readonly [T, ...T[]]): T;
}

/** Mulberry32: small, fast, and good enough to pick what breaks next. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return Object.assign(next, {
    whole,
    of: <T>(items: readonly [T, ...T[]]): T => items[whole(0, items.length - 1)] ?? items[0],
  });
}
