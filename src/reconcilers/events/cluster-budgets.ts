import type { Clock } from '../../kube/clock.js';
import type { LogicalCluster } from '../../kube/object.js';

const BURST = 25;
const REFILL_MS = 2_000;
const MAX_CLUSTERS = 10_000;

/** Events that one workspace may have: a burst, then one each two seconds. */
export class ClusterBudgets {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #budgets = new Map<LogicalCluster, { tokens: number; at: number }>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  take(cluster: LogicalCluster): boolean {
    const now = this.#clock.now();
    const budget = this.#budgets.get(cluster) ?? { tokens: BURST, at: now };
    const refilled = Math.floor((now - budget.at) / REFILL_MS);
    const tokens = Math.min(BURST, budget.tokens + refilled);
    const at = budget.at + refilled * REFILL_MS;
    this.#budgets.delete(cluster);
    this.#budgets.set(cluster, { tokens: Math.max(0, tokens - 1), at });
    if (this.#budgets.size > MAX_CLUSTERS) {
      const [oldest] = this.#budgets.keys();
      if (oldest !== undefined) this.#budgets.delete(oldest);
    }
    return tokens > 0;
  }
}
