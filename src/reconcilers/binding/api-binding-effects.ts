import { GVR } from '../../api/gvr.js';
import { ApiError, isObjectNotFound, isStatus } from '../../kube/errors.js';
import type { ReconcilerDeps } from '../deps.js';
import { mayBind } from './api-bound.js';
import type { GeneratedWorkspaces } from './generated-workspace.js';
import { acceptedClaims, generatedApiBinding } from './manifests.js';
import { generatedNames } from './owner.js';
import type { BindingRef } from './owner.js';
import type { ApiBindingStep } from './plan.js';
import type { StepContext } from './step-context.js';

/** The steps that make, change and delete our APIBinding in the consumer workspace. */
export class ApiBindingEffects {
  readonly #deps: ReconcilerDeps;
  readonly #generated: GeneratedWorkspaces;

  constructor(deps: ReconcilerDeps, generated: GeneratedWorkspaces) {
    this.#deps = deps;
    this.#generated = generated;
  }

  async do(step: ApiBindingStep, { runtime, observed }: StepContext): Promise<void> {
    const { ref } = runtime;
    const workspace = this.#deps.workspaces.workspace(ref.cluster);
    switch (step.name) {
      case 'binding.api-binding.create': {
        const object = generatedApiBinding(ref, observed.home, step.consent.exportClaims);
        await workspace.create(GVR.apiBindings, object);
        return;
      }
      case 'binding.api-binding.update':
        await workspace.mergePatch(
          GVR.apiBindings,
          { name: generatedNames(ref).apiBinding },
          { uid: step.uid, resourceVersion: step.resourceVersion },
          { spec: { permissionClaims: acceptedClaims(step.consent.exportClaims) } },
        );
        return;
      case 'binding.api-binding.delete':
        return this.#delete(ref, step.uid, mayBind(observed));
    }
  }

  /** Through the client export while its claim holds, else through the generated export's own claim. */
  async #delete(ref: BindingRef, uid: string, claimed: boolean): Promise<void> {
    const target = { name: generatedNames(ref).apiBinding };
    if (claimed) {
      try {
        await this.#deps.workspaces.workspace(ref.cluster).delete(GVR.apiBindings, target, { uid });
        return;
      } catch (error) {
        if (isObjectNotFound(error)) return;
        if (!isStatus(error, 403) && !isStatus(error, 404)) throw error;
      }
    }
    await this.#deleteThroughOwnExport(ref, uid);
  }

  async #deleteThroughOwnExport(ref: BindingRef, uid: string): Promise<void> {
    const { exportName, apiBinding } = generatedNames(ref);
    let failure: Error = new ApiError({
      message: `the virtual workspace of ${exportName} is served nowhere`,
      status: 404,
      reason: '',
    });
    for (const { client } of this.#generated.in(exportName, ref.cluster)) {
      try {
        await client.delete(GVR.apiBindings, { name: apiBinding }, { uid });
        return;
      } catch (error) {
        if (isObjectNotFound(error)) return;
        if (error instanceof Error) failure = error;
      }
    }
    throw failure;
  }
}
