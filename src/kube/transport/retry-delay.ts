import type { ApiError } from '../errors.js';
import { isJsonObject } from '../json-value.js';

/**
 * Milliseconds to wait before the same request is sent again, or undefined when the answer is final.
 *
 * An API server under load answers 429 with a Retry-After header before it has looked at the request: it is
 * safe to repeat, also for writes. The storage layer's 429 is another thing: on kcp a removed stored version
 * answers "storage is (re)initializing" for ever. It is told apart by its body: a Status whose details carry
 * `retryAfterSeconds`, which load shedding does not send. Callers see that one at once.
 *
 * @param attempt 0 for the first repetition
 * @param random 0 up to 1; waits grow by at most a quarter, so that many clients do not come back together
 */
export function retryDelay(error: ApiError, attempt: number, random: number): number | undefined {
  if (error.status !== 429 && error.status !== 503) return undefined;
  if (error.status === 503 && error.retryAfterMs === undefined) return undefined;
  if (comesFromStorage(error)) return undefined;
  const base = error.retryAfterMs ?? Math.min(1000 * 2 ** attempt, 30_000);
  return Math.ceil(Math.max(base, 50) * (1 + random / 4));
}

function comesFromStorage(error: ApiError): boolean {
  const details = error.body?.['details'];
  return isJsonObject(details) && details['retryAfterSeconds'] !== undefined;
}
