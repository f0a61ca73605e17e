import type { StoreChange } from '../../../kube/cache/object-store.js';
import type { Clock } from '../../../kube/clock.js';
import { isEdit, isReport } from './change-kind.js';
import type { SideName } from './side.js';
import type { SyncDirection } from './sync-meter.js';

/**
 * How long changes take to the other side, from the watch event to the moment that both sides agree. Writes of our
 * own that a watch shows again are no changes, nor is what a first list brings. Holds nothing for objects that agree.
 */
export class SyncLag {
  readonly #clock: Clock;
  readonly #reached: (direction: SyncDirection, ms: number) => void;
  /** Since when, by direction and key; the oldest first. */
  readonly #since: Readonly<Record<SyncDirection, Map<string, number>>> = { up: new Map(), down: new Map() };

  constructor(clock: Clock, reached: (direction: SyncDirection, ms: number) => void) {
    this.#clock = clock;
    this.#reached = reached;
  }

  /** A watch shows a change of an object, or of its copy; `key` is the object's. */
  seen(side: SideName, key: string, change: StoreChange): void {
    const direction = side === 'consumer' ? 'up' : 'down';
    if (this.#since[direction].has(key) || !isNews(side, change)) return;
    this.#since[direction].set(key, this.#clock.now());
  }

  /** Both sides agree about the object. */
  agreed(key: string): void {
    const now = this.#clock.now();
    for (const direction of ['up', 'down'] as const) {
      const since = this.#since[direction].get(key);
      if (since === undefined) continue;
      this.#since[direction].delete(key);
      this.#reached(direction, now - since);
    }
  }

  /** There is nothing left to agree about. */
  forget(key: string): void {
    this.#since.up.delete(key);
    this.#since.down.delete(key);
  }

  /** Milliseconds since the oldest change that waits; 0: none waits. */
  get oldestMs(): number {
    const now = this.#clock.now();
    const [up = now] = this.#since.up.values();
    const [down = now] = this.#since.down.values();
    return Math.max(0, now - Math.min(up, down));
  }
}

function isNews(side: SideName, change: StoreChange): boolean {
  if (change.type === 'missing') return false;
  if (side === 'consumer') return isEdit(change.previous, change.object);
  const { previous, object } = change;
  return isReport(change) && previous?.metadata.resourceVersion !== object.metadata.resourceVersion;
}
