import { setTimeout as sleep } from 'node:timers/promises';

/** Waits; ends early, without an error, when the signal comes. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}
