import type { Clock } from '../../kube/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Lease, LeaseTimes } from './lease.js';

export interface RunAsLeaderOptions {
  readonly lease: Lease;
  readonly times: LeaseTimes;
  readonly clock: Clock;
  /** 0 up to 1, for jitter. */
  readonly random: () => number;
  readonly log: Logger;
  /**
   * Runs while the Lease is held; `signal` is aborted when it is lost or the process is to end. It resolves
   * when everything it started has stopped.
   */
  readonly onStarted: (signal: AbortSignal) => Promise<void>;
  /** Ends waiting or leading. */
  readonly signal: AbortSignal;
}

/** - `stopped`: by the signal - `lost`: the Lease could not be renewed - `ended`: `onStarted` ended by itself */
export type LeaderOutcome = 'stopped' | 'lost' | 'ended';

/**
 * Waits for the Lease, leads once, gives the Lease back. After `lost`, call it again: every term
 * begins with empty caches. Rejects only with what `onStarted` rejects with.
 */
export async function runAsLeader(options: RunAsLeaderOptions): Promise<LeaderOutcome> {
  const { lease, onStarted, signal } = options;
  if (!(await acquire(options))) return 'stopped';
  const leading = new AbortController();
  const stop = (): void => leading.abort(signal.reason);
  // It may have come while the last try was under way.
  if (isAborted(signal)) stop();
  signal.addEventListener('abort', stop, { once: true });
  const renewing = renew(options, leading);
  try {
    await onStarted(leading.signal);
  } finally {
    signal.removeEventListener('abort', stop);
    leading.abort();
    await renewing;
    await lease.release();
  }
  if (isAborted(signal)) return 'stopped';
  return (await renewing) === 'lost' ? 'lost' : 'ended';
}

/** Narrowing of `aborted` would outlive an await. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

async function acquire({ lease, times, clock, random, log, signal }: RunAsLeaderOptions): Promise<boolean> {
  while (!signal.aborted) {
    try {
      if (await lease.tryHold(signal)) return true;
    } catch (error) {
      if (isAborted(signal)) return false;
      log.warn({ component: 'leader', err: error }, 'cannot get the lease; trying again');
    }
    // Two waiting replicas should not ask at the same moment for ever.
    const pause = times.retryMs * (1 + 0.2 * random());
    await clock.sleep(pause, signal).catch(() => undefined);
  }
  return false;
}

/** Renews until the deadline has passed without success, or leading has ended. */
async function renew(
  { lease, times, clock, log }: RunAsLeaderOptions,
  leading: AbortController,
): Promise<'lost' | 'ended'> {
  const { signal } = leading;
  for (;;) {
    await clock.sleep(times.retryMs, signal).catch(() => undefined);
    if (isAborted(signal)) return 'ended';
    try {
      await lease.tryHold(signal);
    } catch (error) {
      log.warn({ component: 'leader', err: error }, 'cannot renew the lease');
    }
    if (lease.isHeld()) continue;
    log.error({ component: 'leader' }, 'the lease is lost; all work stops');
    leading.abort(new Error('the lease is lost'));
    return 'lost';
  }
}
