import { ApiError, TransportError } from '../../src/kube/errors.js';
import type { Clock } from '../../src/kube/clock.js';
import type { Phase } from './output/progress.js';

/** What a look at the server says about the thing that is waited for. */
export type Look<T> =
  | { readonly done: true; readonly value: T }
  /** Not yet; `detail` is what is missing, for the user. */
  | { readonly done: false; readonly detail: string };

const FIRST_DELAY_MS = 300;
const MAX_DELAY_MS = 2000;

/**
 * Looks again and again until `look` is done. Disturbances that pass by themselves (no answer, 429, 5xx) are
 * shown and waited out; every other error ends it. Ends only by `signal` otherwise.
 */
export async function pollUntil<T>(options: {
  readonly look: () => Promise<Look<T>>;
  readonly phase: Phase;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): Promise<T> {
  const { look, phase, clock, signal } = options;
  let delay = FIRST_DELAY_MS;
  for (;;) {
    signal.throwIfAborted();
    try {
      const seen = await look();
      if (seen.done) return seen.value;
      phase.detail(seen.detail);
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      phase.detail('the API server does not answer; trying again');
    }
    await clock.sleep(delay, signal);
    delay = Math.min(MAX_DELAY_MS, delay * 1.5);
  }
}

/** The server was not reached, or says that it is too busy or not whole at the moment. */
function isPassing(error: unknown): boolean {
  if (error instanceof TransportError) return error.kind !== 'tls';
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}
