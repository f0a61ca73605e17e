import type { Trouble } from './object-failure.js';

/** What one pass over an object has come to. */
export type PassOutcome =
  | { readonly kind: 'settled' }
  /** Something has to happen on a server first, which the watches will show, or a time has to come. */
  | { readonly kind: 'waiting'; readonly retryInMs?: number; readonly trouble?: Trouble }
  /** The consumer's object is not there: what becomes of its copy is another matter. */
  | { readonly kind: 'absent' };
