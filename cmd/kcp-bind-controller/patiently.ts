import type { Clock } from '../../src/kube/clock.js';
import { ApiError, TransportError } from '../../src/kube/errors.js';
import type { Logger } from '../../src/telemetry/logger.js';

/** Milliseconds between two tries while the client workspace's server cannot be asked. */
const PAUSE_MS = 2000;

/**
 * Does something that needs the client workspace, again and again while its server is away: kcp may start after the
 * controller, or restart under it. Everything else that goes wrong is for a person, and rejects.
 */
export async function patiently<T>(
  attempt: () => Promise<T>,
  options: { readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal },
): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (options.signal.aborted || !isAway(error)) throw error;
      options.log.warn({ err: error }, 'the client workspace cannot be asked now; trying again');
      await options.clock.sleep(PAUSE_MS, options.signal);
    }
  }
}

function isAway(error: unknown): boolean {
  return (
    error instanceof TransportError ||
    (error instanceof ApiError && (error.status >= 500 || error.status === 429))
  );
}
