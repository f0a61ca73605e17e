import type { ReflectorLimits } from '../../../kube/cache/reflector.js';
import type { Clock } from '../../../kube/clock.js';
import type { QueueFailure } from '../../../kube/run-queue.js';
import type { SyncerOptions } from '../../protocol/assignment.js';
import type { SyncPlaces, SyncPolicy, SyncTarget } from '../resource-sync.js';
import type { SyncEvent } from './object-teller.js';
import type { RequestMade } from './side.js';
import type { SyncMeter } from './sync-meter.js';

export type ObjectLimits = Pick<
  SyncerOptions,
  'absenceGraceMs' | 'requestTimeoutMs' | 'watchSilenceMs' | 'backoffBaseMs' | 'backoffMaxMs' | 'concurrency'
>;

export interface ResourceSyncOptions {
  readonly target: SyncTarget;
  readonly places: SyncPlaces;
  readonly policy: SyncPolicy;
  readonly limits: ObjectLimits;
  readonly clock: Clock;
  /** Numbers in [0, 1), for jitter. */
  readonly random: () => number;
  /** Ends everything, as `close` does. */
  readonly signal: AbortSignal;
  readonly emitEvent: (event: SyncEvent) => void;
  /** What `stats` says may have changed. */
  readonly onChange?: () => void;
  readonly onRequest?: (request: RequestMade) => void;
  /** Default: nothing is measured. */
  readonly meter?: SyncMeter;
  /** An attempt at an object failed; for the log. */
  readonly onFailure?: (failure: QueueFailure<string>) => void;
  /** Limits of the watches beside silence, for tests. */
  readonly reflector?: Partial<ReflectorLimits>;
}
