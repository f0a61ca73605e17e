import { backoffMs, retryDelayMs } from '../backoff.js';
import type { BackoffOptions } from '../backoff.js';
import { ApiError, isStatus, ProtocolError } from '../errors.js';

/** Where a reflector stands between two requests. */
export interface ReflectorState {
  /** From where to watch; undefined: list first. Opaque, compared for equality at most. */
  readonly resumeFrom: string | undefined;
  /** Failures since the last watch that lasted, 410 aside. */
  readonly attempt: number;
  /** 410s since then. They have a back-off of their own: the first one after an outage needs no long wait. */
  readonly expirations: number;
  /** Of these, refusals of a watch in a row: the version to resume from may be what is wrong. */
  readonly refusedResumes: number;
}

/** The sink threw; what it holds is unknown. */
export class SinkError extends Error {
  override readonly name = 'SinkError';
}

/** How one list or watch ended. */
export type ReflectorOutcome =
  | { readonly phase: 'list'; readonly resourceVersion: string }
  | { readonly phase: 'list'; readonly error: unknown }
  | {
      readonly phase: 'watch';
      /** Undefined: the server ended the watch in order. */
      readonly error: unknown;
      /** Of the last event or bookmark, else where the watch began. */
      readonly resourceVersion: string;
      /** Since the server accepted it; 0 where it never did. */
      readonly lastedMs: number;
      /** The server may show the same versions in another way by now. */
      readonly reshaped?: boolean;
    };

export type RelistCause = 'expired' | 'sink' | 'stuck' | 'reshaped';

export interface ReflectorStep {
  readonly state: ReflectorState;
  readonly delayMs: number;
  /** False where the server said how long to wait. */
  readonly wakeable: boolean;
  readonly relist?: RelistCause;
}

export interface PlanOptions {
  /** Between failed attempts. */
  readonly backoff: BackoffOptions;
  /** After a 404 or 403, which may be "not yet": by the number of failures. */
  readonly notServedBackoff: (attempt: number) => BackoffOptions;
  /** A watch that lasted this long was a good one, whatever ended it. */
  readonly stableMs: number;
  /** Refused watches in a row after which the version to resume from is given up. */
  readonly maxRefusedResumes: number;
}

export const INITIAL_STATE: ReflectorState = {
  resumeFrom: undefined,
  attempt: 0,
  expirations: 0,
  refusedResumes: 0,
};

/** 404 or 403: the resource is not served (yet), or may not be read (yet). Says nothing about its objects. */
export function isNotServed(error: unknown): boolean {
  return isStatus(error, 404) || isStatus(error, 403);
}

/** What to do after a list or a watch has ended, and when. */
export function planNext(
  state: ReflectorState,
  outcome: ReflectorOutcome,
  options: PlanOptions,
  random: () => number,
): ReflectorStep {
  if (outcome.phase === 'watch') return afterWatch(state, outcome, options, random);
  // A list that succeeds proves little: each watch from its version may be answered with 410. So the numbers
  // of failures stay until a watch has lasted.
  if ('resourceVersion' in outcome)
    return atOnce({ ...state, resumeFrom: outcome.resourceVersion, refusedResumes: 0 });
  return fail({ ...state, resumeFrom: undefined }, outcome.error, options, random);
}

function afterWatch(
  state: ReflectorState,
  { error, resourceVersion, lastedMs, reshaped }: Extract<ReflectorOutcome, { phase: 'watch' }>,
  options: PlanOptions,
  random: () => number,
): ReflectorStep {
  const lasted = lastedMs >= options.stableMs;
  const moved = resourceVersion !== state.resumeFrom;
  const before = lasted ? INITIAL_STATE : moved ? { ...state, refusedResumes: 0 } : state;
  const refusedResumes = blamesVersion(error) ? before.refusedResumes + 1 : 0;
  const next = { ...before, resumeFrom: resourceVersion, refusedResumes };
  if (error === undefined && lasted) return atOnce(next);
  const stuck = refusedResumes >= options.maxRefusedResumes;
  const relist = relistCause(error) ?? (reshaped === true ? 'reshaped' : stuck ? 'stuck' : undefined);
  if (relist === undefined) return fail(next, error, options, random);
  return { ...fail({ ...next, resumeFrom: undefined, refusedResumes: 0 }, error, options, random), relist };
}

function atOnce(state: ReflectorState): ReflectorStep {
  return { state, delayMs: 0, wakeable: true };
}

/** Counts the failure and waits as long as failures of its kind have come to. */
function fail(
  state: ReflectorState,
  error: unknown,
  options: PlanOptions,
  random: () => number,
): ReflectorStep {
  if (isStatus(error, 410)) {
    const delayMs = backoffMs(state.expirations, options.backoff, random);
    return { state: { ...state, expirations: state.expirations + 1 }, delayMs, wakeable: true };
  }
  const range = isNotServed(error) ? options.notServedBackoff(state.attempt) : options.backoff;
  const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : undefined;
  const delayMs = retryDelayMs(retryAfterMs, backoffMs(state.attempt, range, random));
  return { state: { ...state, attempt: state.attempt + 1 }, delayMs, wakeable: retryAfterMs === undefined };
}

function relistCause(error: unknown): RelistCause | undefined {
  if (isStatus(error, 410)) return 'expired';
  return error instanceof SinkError ? 'sink' : undefined;
}

/** Answers that a server gives to a version it cannot serve, "too large" for instance; 410 aside. */
const VERSION_REFUSALS: readonly number[] = [400, 422, 500, 504];

/**
 * A server that was restored from a backup refuses the version for ever, and says so in several ways.
 * Throttling, missing rights, a resource that is not served and a server that is away are no such sign.
 */
function blamesVersion(error: unknown): boolean {
  return (
    error instanceof ProtocolError || (error instanceof ApiError && VERSION_REFUSALS.includes(error.status))
  );
}
