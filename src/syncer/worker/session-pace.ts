/** A binding in order whose provider cannot be watched is looked at so often: export and rotated kubeconfig. */
const LOOK_MS = 20_000;
/** One that is watched: identity of the contract namespace, and what changed without a word. */
const REST_MS = 5 * 60_000;
/** What only a person can mend is tried so often. */
const SLOW_MS = 30_000;

/** Milliseconds until a binding in order is looked at again. `beatInMs`: until its heartbeat is due, if it has one. */
export function restMs(watched: boolean, beatInMs: number, random: () => number): number {
  if (!watched) return jittered(LOOK_MS, random);
  return Math.min(Math.max(beatInMs, 1), jittered(REST_MS, random));
}

/** Milliseconds until something is tried again that only a person can mend. */
export function slowMs(random: () => number): number {
  return jittered(SLOW_MS, random);
}

function jittered(ms: number, random: () => number): number {
  return Math.round(ms * (1 + random() / 4));
}
