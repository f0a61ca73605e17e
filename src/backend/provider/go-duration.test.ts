import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatGoDuration, parseGoDuration } from './go-duration.js';

describe('Go durations', () => {
  it.each([
    [0, '0s'],
    [45_000, '45s'],
    [90_000, '1m30s'],
    [300_000, '5m0s'],
    [3_600_000, '1h0m0s'],
    [1_499, '1s'],
    [-5, '0s'],
  ])('%d ms is written as %s', (ms, text) => {
    expect(formatGoDuration(ms)).toBe(text);
  });

  it.each([
    ['1.5h', 5_400_000],
    ['300ms', 300],
    ['0', 0],
    ['1us', 0.001],
    ['', undefined],
    ['5', undefined],
    ['-5m', undefined],
    ['5m later', undefined],
    ['1h'.repeat(1000), undefined],
  ])('%s is read as %p', (text, ms) => {
    expect(parseGoDuration(text)).toBe(ms);
  });

  it('whole seconds survive the round trip', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1_000_000 }), (seconds) => {
        expect(parseGoDuration(formatGoDuration(seconds * 1000))).toBe(seconds * 1000);
      }),
    );
  });
});
