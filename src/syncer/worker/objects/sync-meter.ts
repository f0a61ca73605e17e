import type { ReflectorEvent } from '../../../kube/cache/reflector.js';
import type { SideName } from './side.js';

/** `up`: a change of the consumer's object; `down`: a change of what the provider says about the copy. */
export type SyncDirection = 'up' | 'down';

/** Work that waits, for metrics. */
export interface SyncLoad {
  /** Objects that want work now. */
  readonly queued: number;
  /** Milliseconds since the oldest change that has not reached the other side. 0: there is none. */
  readonly oldestMs: number;
}

/** What the sync of one resource tells about itself. No call throws. */
export interface SyncMeter {
  /** A change has reached the other side, so many milliseconds after a watch showed it. */
  reached(direction: SyncDirection, ms: number): void;
  watched(side: SideName, event: ReflectorEvent): void;
  /** Asked now and then until the function that this returns is called. */
  load(ask: () => SyncLoad): () => void;
}
