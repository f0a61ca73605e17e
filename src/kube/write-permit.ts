/**
 * Until when the threads of this process may write, in memory that all of them share: a process that was stopped for
 * longer than its Lease and wakes up has threads that write before the main thread can tell them anything.
 */
export class WritePermit {
  /** What another thread makes the same permit from. */
  readonly memory: SharedArrayBuffer;
  readonly #until: BigInt64Array;
  readonly #now: () => bigint;

  /**
   * @param now nanoseconds of a clock that nobody sets and that is the same in all threads (`process.hrtime.bigint`)
   * @param memory of the permit that this one shares; absent: a new permit, which allows nothing yet
   */
  constructor(now: () => bigint, memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#until = new BigInt64Array(memory);
    this.#now = now;
  }

  /** Allows writes for so many milliseconds from now, whatever was allowed before; 0 allows none. */
  allowFor(ms: number): void {
    const left = ms > 0 ? BigInt(Math.floor(ms)) * 1_000_000n : 0n;
    Atomics.store(this.#until, 0, left === 0n ? 0n : this.#now() + left);
  }

  isValid(): boolean {
    return this.#now() < Atomics.load(this.#until, 0);
  }
}
