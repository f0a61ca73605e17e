import { PageProblem } from './problems.js';

/** Lets so many requests talk with backends at a time, so that slow ones cannot fill the process. */
export class BackendGate {
  readonly #limit: number;
  #inside = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws PageProblem `busy` */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside >= this.#limit) throw new PageProblem('busy');
    this.#inside += 1;
    try {
      return await work();
    } finally {
      this.#inside -= 1;
    }
  }
}
