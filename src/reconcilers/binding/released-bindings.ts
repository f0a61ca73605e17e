import type { Clock } from '../../kube/clock.js';
import { poolKey } from '../keys.js';
import type { BindingRef } from './owner.js';

/** Caches are behind for so long at most: a half-open watch is found before that. */
const MEMORY_MS = 5 * 60_000;

/**
 * Bindings that were let go a short while ago. A cache may go on showing one, or its export: to begin with it anew would
 * forget what its user had said, for instance that nobody is to wait for the provider.
 */
export class ReleasedBindings {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #until = new Map<string, number>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  add({ cluster, uid }: BindingRef): void {
    const now = this.#clock.now();
    // In the order in which they end.
    for (const [key, until] of this.#until) {
      if (until > now) break;
      this.#until.delete(key);
    }
    this.#until.set(poolKey(cluster, uid), now + MEMORY_MS);
  }

  has({ cluster, uid }: BindingRef): boolean {
    return (this.#until.get(poolKey(cluster, uid)) ?? 0) > this.#clock.now();
  }
}
