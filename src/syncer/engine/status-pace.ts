/** One object's status is written at once so often, then once in STATUS_INTERVAL_MS. */
export const STATUS_BURST = 5;
export const STATUS_INTERVAL_MS = 1000;

/**
 * How fast a status may follow another, so that a provider that changes one all the time costs the workspace
 * no more than a write a second. `debtUntil` is when all writes so far are paid for, milliseconds since the epoch.
 */
export function paceStatus(
  debtUntil: number,
  now: number,
): { readonly waitMs: number } | { readonly debtUntil: number } {
  const debt = Math.max(debtUntil, now) + STATUS_INTERVAL_MS;
  const waitMs = debt - now - STATUS_BURST * STATUS_INTERVAL_MS;
  return waitMs > 0 ? { waitMs } : { debtUntil: debt };
}
