import type { Clock } from '../../kube/clock.js';

const BURST = 30;
const PER_SECOND = 1;

/** Lets a binding say something about its objects now and then: thirty events at once, then one a second. */
export function createEventBudget(clock: Clock): () => boolean {
  let tokens = BURST;
  let last = clock.now();
  return () => {
    const now = clock.now();
    tokens = Math.min(BURST, tokens + (Math.max(0, now - last) / 1000) * PER_SECOND);
    last = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
