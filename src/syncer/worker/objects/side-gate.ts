import { backoffMs } from '../../../kube/backoff.js';
import type { BackoffOptions } from '../../../kube/backoff.js';
import type { Clock } from '../../../kube/clock.js';

/** Why a whole server is left alone for a while. */
export type GateReason = 'forbidden' | 'unauthorized' | 'notServed' | 'unreachable';

export interface GateProblem {
  readonly reason: GateReason;
  readonly message: string;
}

/** Thrown in place of a request that would only meet the same trouble again. */
export class GateClosedError extends Error {
  override readonly name = 'GateClosedError';
  readonly code = 'SYNC_GATE_CLOSED';
  /** Milliseconds until the next try. */
  readonly retryInMs: number;

  constructor(message: string, retryInMs: number) {
    super(message);
    this.retryInMs = retryInMs;
  }
}

/** So many objects in a row are refused with 403 before that is taken for the account's trouble. */
const FORBIDDEN_IN_A_ROW = 3;

export interface SideGateOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly backoff: BackoffOptions;
  readonly onChange?: () => void;
}

/**
 * Keeps thousands of objects from asking a server that answers nobody: after a failure that concerns all of
 * them the gate closes for a growing, jittered while, and opens for good with the next success.
 */
export class SideGate {
  readonly #options: SideGateOptions;
  #problem: GateProblem | undefined;
  #closedUntil = 0;
  #failures = 0;
  #forbidden = 0;

  constructor(options: SideGateOptions) {
    this.#options = options;
  }

  /** What is wrong with the server now. */
  get problem(): GateProblem | undefined {
    return this.#problem;
  }

  /** @throws GateClosedError while the gate is closed */
  pass(): void {
    const left = this.#closedUntil - this.#options.clock.now();
    if (left > 0) throw new GateClosedError(this.#problem?.message ?? 'waiting', left);
  }

  /** A request got the answer of a server that works for us. */
  succeeded(): void {
    this.#forbidden = 0;
    this.#failures = 0;
    this.#closedUntil = 0;
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    this.#options.onChange?.();
  }

  /** A request failed in a way that will meet every other one too. */
  failed(problem: GateProblem): void {
    const { clock, random, backoff, onChange } = this.#options;
    const now = clock.now();
    // Requests that were under way together count as one failure.
    if (this.#closedUntil > now) return;
    this.#closedUntil = now + backoffMs(this.#failures, backoff, random);
    this.#failures += 1;
    const known = this.#problem?.reason === problem.reason;
    this.#problem = problem;
    if (!known) onChange?.();
  }

  /** One object was refused with 403: its own trouble, unless nobody gets through. */
  forbidden(message: string): void {
    this.#forbidden += 1;
    if (this.#forbidden >= FORBIDDEN_IN_A_ROW || this.#problem?.reason === 'forbidden')
      this.failed({ reason: 'forbidden', message });
  }
}
