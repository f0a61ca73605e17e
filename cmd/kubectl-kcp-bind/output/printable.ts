import { untrustedText } from '../../../src/api/untrusted-text.js';

/** Longest text from outside that is shown in one piece. */
const MAX_SHOWN = 2000;

/**
 * Makes text from a workspace or a provider safe for a terminal, on one line: escape sequences and
 * bidirectional characters could otherwise rewrite what the user reads.
 */
export function printable(text: string, max = MAX_SHOWN): string {
  return untrustedText(text, max);
}
