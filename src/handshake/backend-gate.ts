import type { LogicalCluster } from '../kube/object.js';
import { PageProblem } from './problems.js';

/** How many requests may talk with backends at a time. */
export interface BackendGateLimits {
  readonly all: number;
  /** Of one workspace: its backend, which may be slow on purpose, must not shut the others' out. */
  readonly ofOneWorkspace: number;
}

/** Lets so many requests talk with backends at a time, so that slow ones cannot fill the process. */
export class BackendGate {
  readonly #limits: BackendGateLimits;
  readonly #inside = new Map<LogicalCluster, number>();
  #all = 0;

  constructor(limits: BackendGateLimits) {
    this.#limits = limits;
  }

  /** @throws PageProblem `busy` */
  async pass<T>(cluster: LogicalCluster, work: () => Promise<T>): Promise<T> {
    const inside = this.#inside.get(cluster) ?? 0;
    if (this.#all >= this.#limits.all || inside >= this.#limits.ofOneWorkspace) throw new PageProblem('busy');
    this.#count(cluster, 1);
    try {
      return await work();
    } finally {
      this.#count(cluster, -1);
    }
  }

  #count(cluster: LogicalCluster, change: 1 | -1): void {
    const inside = (this.#inside.get(cluster) ?? 0) + change;
    if (inside === 0) this.#inside.delete(cluster);
    else this.#inside.set(cluster, inside);
    this.#all += change;
  }
}
