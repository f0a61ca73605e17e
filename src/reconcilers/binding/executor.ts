import { isDeepStrictEqual } from 'node:util';
import { BINDINGS } from '../../api/group.js';
import type { ReconcilerDeps } from '../deps.js';
import { setFinalizer } from '../finalizer.js';
import { poolKey, queueKey } from '../keys.js';
import type { Shared } from '../shared.js';
import { ApiBindingEffects } from './api-binding-effects.js';
import { ClientEffects } from './client-effects.js';
import type { GeneratedParts } from './generated-parts.js';
import type { GeneratedWorkspaces } from './generated-workspace.js';
import { isApiBindingStep, isOwnStep, isRemovalStep } from './plan.js';
import type { BindingStep, OwnStep } from './plan.js';
import type { StepContext } from './step-context.js';

/** Does the steps of `steps.ts` that concern bindings. Each may be done again. */
export class BindingExecutor {
  readonly #deps: ReconcilerDeps;
  readonly #shared: Shared;
  readonly #client: ClientEffects;
  readonly #apiBinding: ApiBindingEffects;

  constructor(
    deps: ReconcilerDeps,
    shared: Shared,
    tools: { readonly parts: GeneratedParts; readonly generatedWorkspaces: GeneratedWorkspaces },
  ) {
    this.#deps = deps;
    this.#shared = shared;
    this.#client = new ClientEffects(deps, tools.parts);
    this.#apiBinding = new ApiBindingEffects(deps, tools.generatedWorkspaces);
  }

  /** @throws PlanOutdatedError when the remaining steps have to be decided anew */
  async do(step: BindingStep, context: StepContext): Promise<void> {
    const { ref, assigned } = context.runtime;
    // The pool would see that nothing differs; so there is nothing that a crash could cut.
    if (step.name === 'binding.worker.assign' && isDeepStrictEqual(step.assignment, assigned)) return;
    this.#deps.metrics.step(step.name);
    await this.#shared.runStep(step.name, queueKey(ref.cluster, ref.name), () => this.#effect(step, context));
  }

  #effect(step: BindingStep, context: StepContext): Promise<void> {
    if (isOwnStep(step)) return this.#own(step, context);
    if (isApiBindingStep(step)) return this.#apiBinding.do(step, context);
    if (isRemovalStep(step)) return this.#client.remove(step, context);
    return this.#client.make(step, context);
  }

  async #own(step: OwnStep, context: StepContext): Promise<void> {
    switch (step.name) {
      case 'binding.finalizer.add':
        return this.#finalizer(context, true);
      case 'binding.finalizer.remove':
        return this.#finalizer(context, false);
      case 'binding.worker.assign':
        this.#deps.pool.assign(step.assignment);
        context.runtime.assigned = step.assignment;
        return;
      case 'binding.worker.release':
        return this.#release(context, step.remaining);
    }
  }

  async #finalizer({ runtime, object }: StepContext, present: boolean): Promise<void> {
    if (object === undefined) return;
    await setFinalizer(this.#deps.workspaces.workspace(runtime.ref.cluster), BINDINGS, object, present);
  }

  async #release({ runtime, object }: StepContext, remaining: readonly string[]): Promise<void> {
    const { ref } = runtime;
    runtime.assigned = undefined;
    await this.#deps.pool.release(poolKey(ref.cluster, ref.uid));
    if (object === undefined || remaining.length === 0) return;
    this.#shared.events.record(
      ref.cluster,
      { apiVersion: object.apiVersion, kind: object.kind, name: ref.name, uid: ref.uid },
      { type: 'Normal', reason: 'Released', message: `On the provider stays: ${remaining.join(', ')}` },
    );
  }
}
