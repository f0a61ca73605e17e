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

describe('the time of a machine whose clock is set', () => {
  function machine() {
    let [wall, steady] = [1_000_000, 5];
    const clock = createSystemClock({ wall: () => wall, steady: () => steady });
    return {
      clock,
      pass: (ms: number): number => {
        wall += ms;
        steady += ms;
        return clock.now();
      },
      set: (ms: number): number => {
        wall += ms;
        return clock.now();
      },
    };
  }

  it('is the machine’s, also when that is put forward or stood still while it slept', () => {
    const { clock, pass, set } = machine();
    expect(clock.now()).toBe(1_000_000);
    expect(pass(10)).toBe(1_000_010);
    expect(set(3_600_000)).toBe(4_600_010);
    expect(pass(10)).toBe(4_600_020);
  });

  it('goes on when that is put back, and is the same again later', () => {
    const { pass, set } = machine();
    const before = pass(1000);
    expect(set(-3_600_000)).toBe(before);
    expect(pass(4000)).toBe(before + 3000);
    const [hour, at] = [3_600_000, before - 3_600_000 + 4000];
    expect(pass(3 * hour)).toBeGreaterThan(at + 3 * hour);
    expect(pass(2 * hour)).toBe(at + 5 * hour);
    expect(pass(10)).toBe(at + 5 * hour + 10);
  });
});
