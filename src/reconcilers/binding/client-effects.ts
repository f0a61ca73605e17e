import { GVR } from '../../api/gvr.js';
import { ApiError } from '../../kube/errors.js';
import { stringifyJson } from '../../kube/json.js';
import { isLikelyTooLarge } from '../../kube/store-limit.js';
import { UPDATED_ANNOTATION } from '../../api/markers.js';
import { detail, timestamp } from '../conditions.js';
import type { ReconcilerDeps } from '../deps.js';
import type { GeneratedParts } from './generated-parts.js';
import {
  bindRole,
  contentRole,
  generatedExport,
  identitySecret,
  resourceSchema,
  serviceAccount,
} from './manifests.js';
import type { ExportPlan, SchemaPlan } from './manifests.js';
import { generatedNames } from './owner.js';
import type { PartStep, RemovalStep } from './plan.js';
import { PlanOutdatedError } from './step-context.js';
import type { StepContext } from './step-context.js';

/** 256 bits, as kcp's own identities have. */
const IDENTITY_BYTES = 32;
/** Answers to a schema that will not change by asking again. */
const REFUSALS: readonly number[] = [400, 413, 422];

/** What kcp says of a schema that it does not take; undefined for what may pass. */
function refusalOf(error: unknown, schema: SchemaPlan): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (REFUSALS.includes(error.status)) return detail(error.message);
  const bytes = Buffer.byteLength(stringifyJson(schema.spec));
  if (!isLikelyTooLarge(error, bytes)) return undefined;
  return `it has ${String(Math.ceil(bytes / 1024))} KiB, which may be more than kcp stores (${detail(error.message)})`;
}

/** The steps that write to the client workspace. */
export class ClientEffects {
  readonly #deps: ReconcilerDeps;
  readonly #parts: GeneratedParts;

  constructor(deps: ReconcilerDeps, parts: GeneratedParts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** @throws PlanOutdatedError when kcp refuses a schema; the runtime then holds its words */
  make(step: PartStep, context: StepContext): Promise<void> {
    const { ref } = context.runtime;
    const { namespace } = this.#deps.clientWorkspace;
    const parts = this.#parts;
    switch (step.name) {
      case 'binding.identity.create': {
        const key = this.#deps.randomBytes(IDENTITY_BYTES);
        return parts.create(GVR.secrets, identitySecret(ref, namespace, key));
      }
      case 'binding.schema.create':
        return this.#createSchema(context, step.schema);
      case 'binding.account.create':
        return parts.create(GVR.serviceAccounts, serviceAccount(ref, namespace));
      case 'binding.role.apply':
        return parts.apply(GVR.clusterRoles, contentRole(ref, namespace)[0]);
      case 'binding.role-binding.apply':
        return parts.applyRoleBinding(contentRole(ref, namespace)[1]);
      case 'binding.bind-role.apply':
        return this.#applyBindRole(context);
      case 'binding.bind-role.remove':
        return this.#removeRole(generatedNames(ref).bindRole);
      case 'binding.export.create':
        return parts.create(GVR.apiExports, generatedExport(step.plan));
      case 'binding.export.update':
        return this.#updateExport(context, step.plan);
      case 'binding.schema.remove-old':
        return parts.remove(GVR.apiResourceSchemas, { name: step.schema });
    }
  }

  remove(step: RemovalStep, context: StepContext): Promise<void> {
    switch (step.name) {
      case 'binding.export.delete':
        return this.#parts.remove(GVR.apiExports, { name: generatedNames(context.runtime.ref).exportName });
      case 'binding.schemas.delete':
        return this.#deleteSchemas(context);
      case 'binding.account.delete':
        return this.#deleteAccount(context);
      case 'binding.identity.delete':
        return this.#deleteIdentity(context);
    }
  }

  async #createSchema({ runtime, observed }: StepContext, schema: SchemaPlan): Promise<void> {
    try {
      await this.#parts.create(GVR.apiResourceSchemas, resourceSchema(runtime.ref, schema));
    } catch (error) {
      const message = refusalOf(error, schema);
      if (message === undefined) throw error;
      runtime.refusals.set(schema.name, { message, at: observed.now });
      throw new PlanOutdatedError('kcp refused a schema', { cause: error });
    }
  }

  async #updateExport({ runtime, observed }: StepContext, plan: ExportPlan): Promise<void> {
    const now = observed.generated;
    if (now === undefined) return;
    const wanted = generatedExport(plan);
    const metadata = {
      ...now.metadata,
      labels: { ...now.metadata.labels, ...wanted.metadata.labels },
      annotations: {
        ...now.metadata.annotations,
        ...wanted.metadata.annotations,
        [UPDATED_ANNOTATION]: timestamp(observed.now),
      },
    };
    const object = { ...now, metadata, spec: wanted['spec'] };
    // Also when the answer is lost.
    runtime.schemasReplaced = true;
    await this.#deps.clientWorkspace.client.replace(GVR.apiExports, object);
  }

  async #applyBindRole({ runtime }: StepContext): Promise<void> {
    const [role, binding] = bindRole(runtime.ref);
    await this.#parts.apply(GVR.clusterRoles, role);
    await this.#parts.applyRoleBinding(binding);
  }

  async #removeRole(name: string): Promise<void> {
    await this.#parts.remove(GVR.clusterRoleBindings, { name });
    await this.#parts.remove(GVR.clusterRoles, { name });
  }

  async #deleteSchemas({ runtime }: StepContext): Promise<void> {
    for (const { metadata } of await this.#parts.schemas(runtime.ref)) {
      await this.#parts.remove(GVR.apiResourceSchemas, { name: metadata.name });
    }
  }

  async #deleteAccount({ runtime }: StepContext): Promise<void> {
    const { namespace } = this.#deps.clientWorkspace;
    const { exportName, bindRole: byUsers } = generatedNames(runtime.ref);
    await this.#removeRole(byUsers);
    await this.#removeRole(exportName);
    await this.#parts.remove(GVR.serviceAccounts, { namespace, name: exportName });
  }

  async #deleteIdentity({ runtime }: StepContext): Promise<void> {
    const { namespace } = this.#deps.clientWorkspace;
    await this.#parts.remove(GVR.secrets, { namespace, name: generatedNames(runtime.ref).identitySecret });
    runtime.progress = { ...runtime.progress, cleaned: true };
  }
}
