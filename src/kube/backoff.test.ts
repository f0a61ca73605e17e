import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { backoffMs, retryDelayMs } from './backoff.js';

const options = { baseMs: 100, maxMs: 5000 };

describe('backoffMs', () => {
  it.each([
    [0, 100],
    [1, 200],
    [3, 800],
    [6, 5000],
    [5000, 5000],
  ])('has at attempt %d the ceiling %d', (attempt, ceiling) => {
    expect(backoffMs(attempt, options, () => 1)).toBe(ceiling);
  });

  it('is never zero, so that no loop spins, and never above the ceiling', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempt, random) => {
          const delay = backoffMs(attempt, options, () => random);
          expect(delay).toBeGreaterThanOrEqual(1);
          expect(delay).toBeLessThanOrEqual(Math.min(5000, 100 * 2 ** Math.min(attempt, 40)));
        },
      ),
    );
  });
});

describe('retryDelayMs', () => {
  it('waits at least what the server asks, spread by the jitter', () => {
    expect(retryDelayMs(20_000, 300)).toBe(20_300);
    expect(retryDelayMs(undefined, 300)).toBe(300);
  });

  it('is not parked for ever by a hostile server', () => {
    expect(retryDelayMs(Number.MAX_SAFE_INTEGER, 300)).toBe(600_300);
    expect(retryDelayMs(-5, 300)).toBe(300);
  });
});
