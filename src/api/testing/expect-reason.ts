import { expect } from '@jest/globals';
import type {
  BindingConditionType,
  BindingReason,
  ConnectionConditionType,
  ConnectionReason,
} from '../conditions.js';

/** A reason of a condition of one of our kinds, as `kind/Condition/Reason`. */
export type ProducedReason =
  | { [T in ConnectionConditionType]: `connection/${T}/${ConnectionReason<T>}` }[ConnectionConditionType]
  | { [T in BindingConditionType]: `binding/${T}/${BindingReason<T>}` }[BindingConditionType];

/**
 * Asserts that the code under test has decided on a reason. `src/api/reasons-produced.test.ts` looks for the
 * literals in files that use this, and so for reasons that no test has seen: write them out, also in tables, and
 * only where the code decides. A reason that a test puts in, to see it passed on, is no case for this.
 *
 * @param outcome what the code gave: a condition, or whatever carries its reason
 */
export function expectReason(
  produced: ProducedReason,
  outcome: { readonly reason: string } | undefined,
): void {
  expect(outcome?.reason).toBe(produced.split('/')[2]);
}
