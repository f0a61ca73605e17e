/**
 * Corrections of one copy that somebody else keeps changing. Times in milliseconds since the epoch.
 */
export interface ContestState {
  /** When the last corrections were made, oldest first; no more than CORRECTIONS. */
  readonly times: readonly number[];
  /** How often in a row the limit was reached. */
  readonly rounds: number;
}

export const CORRECTIONS = 5;
export const CONTEST_WINDOW_MS = 10 * 60_000;
const MAX_PAUSE_MS = 60 * 60_000;

export const NO_CONTEST: ContestState = { times: [], rounds: 0 };

/**
 * Milliseconds until the next correction may be made; 0 for now. After five corrections in ten minutes the
 * pause is ten minutes, then twenty, up to an hour.
 */
export function pauseBeforeCorrection(state: ContestState, now: number): number {
  const last = state.times.at(-1);
  if (last === undefined || state.rounds === 0) return 0;
  const pause = Math.min(CONTEST_WINDOW_MS * 2 ** Math.min(state.rounds - 1, 10), MAX_PAUSE_MS);
  return Math.max(0, last + pause - now);
}

/** The state after one more correction. */
export function corrected(state: ContestState, now: number): ContestState {
  const last = state.times.at(-1);
  // A copy that was left alone for twice the longest pause is contested no more.
  const calm = last === undefined || now - last > 2 * MAX_PAUSE_MS;
  const recent = state.times.filter((time) => now - time < CONTEST_WINDOW_MS);
  const times = [...recent, now].slice(-CORRECTIONS);
  if (calm) return { times, rounds: 0 };
  // Once contested, each further correction is one round: it came straight after a pause.
  if (state.rounds > 0) return { times, rounds: state.rounds + 1 };
  return { times, rounds: times.length >= CORRECTIONS ? 1 : 0 };
}
