import { describe, expect, it } from '@jest/globals';
import { createSystemClock } from './system-clock.js';

const clock = createSystemClock();

describe('createSystemClock', () => {
  it('wakes a sleeper, and calls back, when it is time', async () => {
    const before = clock.now();
    const called = new Promise<void>((resolve) => clock.after(2, resolve));
    await clock.sleep(2);
    await called;
    expect(clock.now()).toBeGreaterThanOrEqual(before);
  });

  it('rejects with the reason of a signal, before and during the sleep', async () => {
    const controller = new AbortController();
    const sleeping = clock.sleep(60_000, controller.signal);
    controller.abort(new Error('enough'));
    await expect(sleeping).rejects.toThrow('enough');
    await expect(clock.sleep(60_000, controller.signal)).rejects.toThrow('enough');
  });

  it('does not call back after it was cancelled', async () => {
    let called = false;
    clock.after(1, () => {
      called = true;
    })();
    await clock.sleep(3);
    expect(called).toBe(false);
  });
});
