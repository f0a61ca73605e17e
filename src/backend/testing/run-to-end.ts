import { settle, type ManualClock } from '../../kube/testing/manual-clock.js';

/** Moves the clock on, timer by timer, until the work is done; gives its result and the milliseconds that it took. */
export async function runToEnd<T>(clock: ManualClock, work: Promise<T>): Promise<[T, number]> {
  const start = clock.now();
  const state = { done: false };
  const end = (): void => {
    state.done = true;
  };
  work.then(end, end);
  await settle();
  while (!state.done && clock.nextIn !== undefined) await clock.advance(clock.nextIn);
  return [await work, clock.now() - start];
}
