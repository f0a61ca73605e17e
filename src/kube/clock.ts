/** Time, passed in so that tests can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back after `ms`; the result cancels. Does not keep the process alive. */
  after(ms: number, callback: () => void): () => void;
}
