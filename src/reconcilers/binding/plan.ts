import type { BindingStatus } from '../views.js';
import type { AssignmentContent } from './assignment.js';
import type { BindingConditions } from './observation.js';
import type { Consent } from './consent.js';
import type { ExportPlan, SchemaPlan } from './manifests.js';

/** Effects that make and keep the generated export and its APIBinding. */
export type PartStep =
  | { readonly name: 'binding.identity.create' }
  | { readonly name: 'binding.schema.create'; readonly schema: SchemaPlan }
  | { readonly name: 'binding.account.create' }
  | { readonly name: 'binding.role.apply' }
  | { readonly name: 'binding.role-binding.apply' }
  | { readonly name: 'binding.bind-role.apply' | 'binding.bind-role.remove' }
  | { readonly name: 'binding.export.create' | 'binding.export.update'; readonly plan: ExportPlan }
  | { readonly name: 'binding.schema.remove-old'; readonly schema: string };

/** Effects on our APIBinding in the consumer workspace. */
export type ApiBindingStep =
  | { readonly name: 'binding.api-binding.create'; readonly consent: Consent }
  | {
      readonly name: 'binding.api-binding.update';
      readonly consent: Consent;
      readonly uid: string;
      readonly resourceVersion: string | undefined;
    }
  | { readonly name: 'binding.api-binding.delete'; readonly uid: string };

/** Effects that take the generated export apart. */
export interface RemovalStep {
  readonly name:
    'binding.export.delete' | 'binding.schemas.delete' | 'binding.account.delete' | 'binding.identity.delete';
}

/** Effects on the binding itself and on its worker. */
export type OwnStep =
  | { readonly name: 'binding.finalizer.add' }
  | { readonly name: 'binding.worker.assign'; readonly assignment: AssignmentContent }
  | { readonly name: 'binding.worker.release'; readonly remaining: readonly string[] }
  | { readonly name: 'binding.finalizer.remove' };

/** A named effect of `steps.ts` with what it needs. */
export type BindingStep = PartStep | ApiBindingStep | RemovalStep | OwnStep;

export function isApiBindingStep(step: BindingStep): step is ApiBindingStep {
  return step.name.startsWith('binding.api-binding.');
}

export function isRemovalStep(step: BindingStep): step is RemovalStep {
  return step.name.endsWith('.delete') && !isApiBindingStep(step);
}

export function isOwnStep(step: BindingStep): step is OwnStep {
  return step.name.startsWith('binding.finalizer.') || step.name.startsWith('binding.worker.');
}

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
