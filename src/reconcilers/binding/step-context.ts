import type { KubeObject } from '../../kube/object.js';
import type { BindingObservation } from './observation.js';
import type { Runtime } from './runtime.js';

/** What a step works on. */
export interface StepContext {
  readonly runtime: Runtime;
  readonly observed: BindingObservation;
  /** Undefined when the binding is gone. */
  readonly object: KubeObject | undefined;
}

/** Thrown by a step after which the rest of the plan is outdated. */
export class PlanOutdatedError extends Error {
  override readonly name = 'PlanOutdatedError';
}
