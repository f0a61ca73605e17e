import { describe, expect, it } from '@jest/globals';

import { WritePermit } from './write-permit.js';

const MS = 1_000_000n;

describe('a write permit', () => {
  let now = 5n * MS;
  const clock = () => now;

  it('allows nothing at first', () => {
    expect(new WritePermit(clock).isValid()).toBe(false);
  });

  it('ends by itself, in every thread that shares it, unless it is extended', () => {
    const main = new WritePermit(clock);
    const thread = new WritePermit(clock, main.memory);
    main.allowFor(10);
    now += 9n * MS;
    expect([main, thread].map((each) => each.isValid())).toEqual([true, true]);
    now += 1n * MS;
    expect([main, thread].map((each) => each.isValid())).toEqual([false, false]);
    main.allowFor(10.7);
    now += 9n * MS;
    expect(thread.isValid()).toBe(true);
  });

  it.each([0, -1, 0.5])('is taken back by %p milliseconds', (ms) => {
    const main = new WritePermit(clock);
    const thread = new WritePermit(clock, main.memory);
    main.allowFor(10);
    main.allowFor(ms);
    expect(thread.isValid()).toBe(false);
  });
});
