import { describe, expect, it } from '@jest/globals';
import { ManualClock, settle } from '../testing/manual-clock.js';
import { createTokenBucket } from './token-bucket.js';

const FOREVER = new AbortController().signal;

describe('createTokenBucket', () => {
  it('lets a burst pass at once and then keeps the rate', async () => {
    const clock = new ManualClock();
    const bucket = createTokenBucket(clock, 10, 3);
    const passed: number[] = [];
    const start = clock.now();
    for (let i = 0; i < 6; i++) void bucket.take(FOREVER).then(() => passed.push(clock.now() - start));
    await clock.advance(1000);
    expect(passed).toEqual([0, 0, 0, 100, 200, 300]);
  });

  it('saves up no more than a burst', async () => {
    const clock = new ManualClock();
    const bucket = createTokenBucket(clock, 10, 2);
    await clock.advance(60_000);
    let passed = 0;
    for (let i = 0; i < 5; i++) void bucket.take(FOREVER).then(() => passed++);
    await settle();
    expect(passed).toBe(2);
  });

  it('gives back the turn of a caller who stops waiting', async () => {
    const clock = new ManualClock();
    const bucket = createTokenBucket(clock, 1, 1);
    await bucket.take(FOREVER);
    const controller = new AbortController();
    const given = bucket.take(controller.signal);
    controller.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    const next = bucket.take(FOREVER);
    expect(clock.nextIn).toBe(1000);
    await clock.advance(1000);
    await next;
    expect(clock.pending).toBe(0);
  });
});
