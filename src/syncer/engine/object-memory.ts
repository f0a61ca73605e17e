import type { ContestState } from './contest.js';
import type { JsonPath } from './json-pointer.js';

/**
 * What a process remembers about one object so that it does not repeat itself. Losing it costs a write or
 * two, never a wrong one.
 */
export interface ObjectMemory {
  /** Hash of the desired copy that was sent last. Sending it again is a correction. */
  readonly sent?: string;
  /** The server answered the copy of this hash with these deviations, twice: it will not do better. */
  readonly accepted?: { readonly hash: string; readonly fingerprint: string };
  /** Fields that the provider's schema does not know, of the desired copy with this hash (all fields in). */
  readonly unsent?: { readonly hash: string; readonly paths: readonly JsonPath[] };
  /** First generation of the copy of that UID that holds the consumer's generation. */
  readonly applied?: {
    readonly uid: string;
    readonly consumerGeneration: number;
    readonly copyGeneration: number;
  };
  /** The consumer's server stored the status of this digest as one of that digest. */
  readonly statusAccepted?: { readonly meant: string; readonly stored: string };
  readonly contest?: ContestState;
}

export const EMPTY_MEMORY: ObjectMemory = {};
