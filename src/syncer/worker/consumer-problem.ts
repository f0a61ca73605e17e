import type { ConditionState } from '../../api/conditions.js';
import { untrustedText } from '../../api/untrusted-text.js';

/** A request to the consumer's side failed; the cause says how. */
export class ConsumerError extends Error {
  override readonly name = 'ConsumerError';
}

/** `Syncing` when the virtual workspace does not answer. */
export function consumerProblem(error: ConsumerError): ConditionState {
  const cause = error.cause instanceof Error ? error.cause.message : '';
  return {
    status: 'False',
    reason: 'ConsumerUnreachable',
    message: `The workspace's objects cannot be read through the virtual workspace: ${untrustedText(cause, 300)}. It is tried again; nothing is deleted meanwhile.`,
  };
}
