import type { BindingStatus } from '../views.js';
import type { AssignmentContent } from './assignment.js';
import type { BindingConditions } from './observation.js';
import type { ProvisionStep } from './provision.js';

/** A named effect of `steps.ts` with what it needs. */
export type BindingStep =
  | { readonly name: 'binding.finalizer.add' }
  | { readonly name: 'binding.worker.assign'; readonly assignment: AssignmentContent }
  | ProvisionStep
  | { readonly name: 'binding.api-binding.delete'; readonly uid: string }
  | { readonly name: 'binding.export.delete' }
  | { readonly name: 'binding.schemas.delete' }
  | { readonly name: 'binding.account.delete' }
  | { readonly name: 'binding.identity.delete' }
  | { readonly name: 'binding.worker.release'; readonly remaining: readonly string[] }
  | { readonly name: 'binding.finalizer.remove' };

export type BindingPhase = NonNullable<BindingStatus['phase']>;

export interface BindingPlan {
  /** Done in this order; the next run decides anew from what is there then. */
  readonly steps: readonly BindingStep[];
  /** Absent: nothing is said in status. */
  readonly status?: { readonly phase: BindingPhase; readonly conditions: BindingConditions };
  /** Milliseconds after which to look again, where no event will tell. */
  readonly lookAgainMs?: number;
}

/** How soon what nobody tells is looked at again. */
export const POLL_MS = 2_000;
export const SLOW_POLL_MS = 15_000;
