import { BINDINGS } from '../../../src/api/group.js';
import { isStatus } from '../../../src/kube/errors.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { listBindings } from '../objects.js';
import { asBinding, asObject, type Binding, type ClaimState } from '../typed-objects.js';
import type { JsonObject } from '../../../src/kube/json-value.js';
import type { KubeObject } from '../../../src/kube/object.js';
import { patchSpec } from '../guarded-patch.js';
import { mergeClaims, sameClaims } from './consent.js';
import { isLeaving } from './same-backend.js';
import { bindingManifest } from './manifests.js';
import { planBinding, type WantedBinding } from './plan-bindings.js';

/**
 * Makes sure that each wanted template has its binding; changes consent where the user said so.
 *
 * @throws PluginError CONFLICT before anything is written, when a name is taken
 */
export async function ensureBindings(
  context: CommandContext,
  session: Session,
  connection: string,
  wanted: readonly WantedBinding[],
): Promise<Binding[]> {
  const existing = (await listBindings(session.client, context.signal)) ?? [];
  const steps = wanted.map((one) => planBinding(existing, connection, one));
  for (const step of steps) if (step.kind === 'conflict') throw taken(step.binding);
  const bindings: Binding[] = [];
  for (const [index, step] of steps.entries()) {
    switch (step.kind) {
      case 'conflict':
        throw taken(step.binding);
      case 'adopt':
        context.report.note(`KubeBindBinding ${step.binding.metadata.name} exists already`);
        bindings.push(step.binding);
        break;
      case 'consent':
        context.report.note(
          `Changing the accepted permission claims of KubeBindBinding ${step.binding.metadata.name}`,
        );
        bindings.push(await changeConsent(context, session, step.binding, step.claims));
        break;
      case 'create': {
        const created = await create(
          context,
          session,
          bindingManifest({ ...step, connection, claims: step.claims }),
        );
        // Another run was quicker: what it made is looked at like any other.
        if (created === undefined) return ensureBindings(context, session, connection, wanted);
        context.report.note(`Created KubeBindBinding ${step.name}`);
        bindings.push(created);
        break;
      }
    }
    const left = wanted.slice(index + 1).map((one) => one.template);
    if (left.length > 0) context.remains(`these templates are not bound yet: ${left.join(', ')}`);
  }
  return bindings;
}

async function create(
  context: CommandContext,
  session: Session,
  manifest: ReturnType<typeof bindingManifest>,
): Promise<Binding | undefined> {
  try {
    return asBinding(await session.client.create(BINDINGS, manifest, { signal: context.signal }));
  } catch (error) {
    if (isStatus(error, 409)) return undefined;
    throw error;
  }
}

async function changeConsent(
  context: CommandContext,
  session: Session,
  binding: Binding,
  claims: readonly ClaimState[],
): Promise<Binding> {
  const target = { gvr: BINDINGS, object: asObject(binding) };
  const change = (object: KubeObject): JsonObject | undefined => {
    const old = asBinding(object).spec.permissionClaims ?? [];
    const merged = mergeClaims(old, claims);
    return sameClaims(old, merged) ? undefined : { permissionClaims: merged.map((claim) => ({ ...claim })) };
  };
  return asBinding(await patchSpec(session.client, target, change, context.signal));
}

function taken(binding: Binding): PluginError {
  const { name } = binding.metadata;
  if (isLeaving(binding)) {
    return new PluginError({
      code: 'CONFLICT',
      message: `KubeBindBinding ${name} is being deleted`,
      remedy: 'wait until it is gone (kubectl get kubebindbindings), or choose another name with --name',
    });
  }
  return new PluginError({
    code: 'CONFLICT',
    message: `KubeBindBinding ${name} exists and is for ${binding.spec.template ?? 'other resources'} of connection ${binding.spec.connection}`,
    remedy: 'choose another name with --name',
  });
}
