import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** What is waited for, for the message of the time-out. */
  readonly what: string;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly interval?: number;
  readonly signal?: AbortSignal;
}

/**
 * Asks until the answer is neither undefined nor false, and resolves with it. An exception counts as "not
 * yet"; the last one is the cause of the time-out.
 */
export async function waitFor<T extends object | string | number | true>(
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  options: WaitOptions,
): Promise<T> {
  const deadline = Date.now() + (options.timeout ?? 120_000);
  let cause: unknown;
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (Date.now() > deadline) {
      throw new Error(`timed out waiting for ${options.what}`, { cause });
    }
    await sleep(options.interval ?? 100, undefined, options.signal ? { signal: options.signal } : {});
  }
}

/** Asserts that the answer stays true for `ms`; for "nothing happens" only. */
export async function staysTrue(
  ask: () => Promise<boolean> | boolean,
  options: { readonly what: string; readonly ms: number; readonly interval?: number },
): Promise<void> {
  const end = Date.now() + options.ms;
  while (Date.now() < end) {
    if (!(await ask())) throw new Error(`did not stay true: ${options.what}`);
    await sleep(options.interval ?? 250);
  }
}
