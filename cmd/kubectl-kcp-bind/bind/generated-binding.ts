import { GVR } from '../../../src/api/gvr.js';
import { KCP_CLUSTER_ANNOTATION } from '../../../src/api/markers.js';
import { generatedExportName } from '../../../src/api/names.js';
import { isStatus } from '../../../src/kube/errors.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { listApiBindings } from '../objects.js';
import { pollUntil, type Look } from '../poll.js';
import type { Phase } from '../output/progress.js';
import {
  asApiBinding,
  asObject,
  type ApiBinding,
  type Binding,
  type PermissionClaim,
} from '../typed-objects.js';
import type { JsonObject } from '../../../src/kube/json-value.js';
import type { KubeObject } from '../../../src/kube/object.js';
import { patchSpec } from '../guarded-patch.js';
import { answerClaims, claimKey, isApiBindings, type AnsweredClaim } from './client-claims.js';
import { createApiBinding } from './create-api-binding.js';
import { firstApiBindingTrouble } from './explain-api-binding.js';
import { generatedApiBindingManifest, type ExportReference } from './manifests.js';

/** The controller may not create APIBindings here, and says which one is missing. */
export function needsApiBinding(binding: Binding): boolean {
  const bound = binding.status?.conditions?.find((condition) => condition.type === 'APIBound');
  return (
    bound?.status === 'False' &&
    bound.reason === 'ClaimMissing' &&
    binding.status?.apiExport?.name !== undefined &&
    binding.metadata.deletionTimestamp === undefined
  );
}

/**
 * The generated export of a binding, checked: a status can be written by whoever rules the workspace, and
 * must not make another user bind any other export. The name is computed from the binding's UID, the place is
 * the client's.
 *
 * @throws PluginError CONFLICT
 */
export function expectedExport(binding: Binding, client: ApiBinding): ExportReference {
  const { annotations, name, uid } = binding.metadata;
  const cluster = annotations?.[KCP_CLUSTER_ANNOTATION];
  const shown = binding.status?.apiExport;
  const places = [client.spec.reference?.export?.path, client.status?.apiExportClusterName];
  const path = shown?.path;
  const place =
    path === undefined ? places.find((known) => known !== undefined) : places.find((known) => known === path);
  if (
    cluster === undefined ||
    uid === undefined ||
    place === undefined ||
    shown?.name !== generatedExportName(cluster, uid)
  ) {
    throw new PluginError({
      code: 'CONFLICT',
      message: `the status of KubeBindBinding ${name} names an export that is not the one generated for it; it is not bound`,
      remedy: 'ask the platform admin; somebody else may have written the status',
    });
  }
  return { path: place, name: shown.name };
}

/**
 * Creates the APIBinding to a binding's generated export, as the user, and accepts on it what the user has
 * consented to before. Safe to repeat.
 */
export async function bindGeneratedExport(
  context: CommandContext,
  session: Session,
  parts: { readonly binding: Binding; readonly client: ApiBinding; readonly phase: Phase },
): Promise<void> {
  const { binding, client, phase } = parts;
  const name = await ensureApiBinding(context, session, { binding, client });
  const look = async (): Promise<Look<ApiBinding>> => {
    const object = await session.client.get(GVR.apiBindings, { name }, { signal: context.signal });
    const current = asApiBinding(object);
    if (current.status?.phase === 'Bound') return { done: true, value: current };
    return { done: false, detail: firstApiBindingTrouble(current) ?? `APIBinding ${name} is not Bound yet` };
  };
  const bound = await pollUntil({ look, phase, clock: context.effects.clock, signal: context.signal });
  await acceptConsented(context, session, { bound, binding, client });
}

/**
 * Accepts on the generated APIBinding what the user has consented to since it was made, where the controller
 * may not do that itself.
 */
export async function refreshGeneratedConsent(
  context: CommandContext,
  session: Session,
  parts: { readonly binding: Binding; readonly client: ApiBinding },
): Promise<void> {
  const { binding, client } = parts;
  const shown = binding.status?.apiExport?.name;
  if (shown === undefined || acceptsApiBindings(client)) return;
  const { name } = expectedExport(binding, client);
  const bindings = await listApiBindings(session.client, context.signal);
  const bound = bindings.find(({ spec }) => spec.reference?.export?.name === name);
  if (bound !== undefined) await acceptConsented(context, session, { bound, binding, client });
}

async function acceptConsented(
  context: CommandContext,
  session: Session,
  parts: { readonly bound: ApiBinding; readonly binding: Binding; readonly client: ApiBinding },
): Promise<void> {
  const { bound, binding, client } = parts;
  const target = { gvr: GVR.apiBindings, object: asObject(bound) };
  const change = (object: KubeObject): JsonObject | undefined => {
    const current = asApiBinding(object);
    const claims = consentedClaims(current, binding, client);
    if (claims.length === 0) return undefined;
    const all = [...(current.spec.permissionClaims ?? []), ...claims];
    return { permissionClaims: all.map((claim) => ({ ...claim })) };
  };
  await patchSpec(session.client, target, change, context.signal);
}

async function ensureApiBinding(
  context: CommandContext,
  session: Session,
  parts: { readonly binding: Binding; readonly client: ApiBinding },
): Promise<string> {
  const reference = expectedExport(parts.binding, parts.client);
  const bindings = await listApiBindings(session.client, context.signal);
  const existing = bindings.find(({ spec }) => spec.reference?.export?.name === reference.name);
  if (existing !== undefined) return existing.metadata.name;
  context.report.note(`Binding the API: creating APIBinding ${reference.name}`);
  const { name, uid = '' } = parts.binding.metadata;
  const manifest = generatedApiBindingManifest({ export: reference, binding: { name, uid } });
  try {
    await createApiBinding(context, session.client, manifest);
  } catch (error) {
    if (isStatus(error, 409)) return reference.name;
    if (!isStatus(error, 403)) throw error;
    throw new PluginError({
      code: 'FORBIDDEN',
      message: `you may not create the APIBinding to ${reference.path}:${reference.name} in this workspace`,
      remedy: 'ask an admin of the workspace to run the same command',
      cause: error,
    });
  }
  return reference.name;
}

/**
 * Unanswered claims of the generated export that may be accepted: its own `apibindings` (with which it can
 * leave again), those accepted both in the binding and on the client's APIBinding, and with any of these
 * `namespaces`, where the client's APIBinding accepts it.
 */
export function consentedClaims(bound: ApiBinding, binding: Binding, client: ApiBinding): AnsweredClaim[] {
  const answered = new Set((bound.spec.permissionClaims ?? []).map(claimKey));
  const asked = bound.status?.exportPermissionClaims ?? [];
  const inBinding = acceptedKeys(binding.spec.permissionClaims);
  const inWorkspace = acceptedKeys(client.spec.permissionClaims);
  const agreed = asked.filter((claim) => inBinding.has(claimKey(claim)) && inWorkspace.has(claimKey(claim)));
  const allowed = asked.filter(
    (claim) =>
      isLeaveClaim(claim) ||
      agreed.includes(claim) ||
      (agreed.length > 0 && isNamespaces(claim) && inWorkspace.has(claimKey(claim))),
  );
  return answerClaims(
    allowed.filter((claim) => !answered.has(claimKey(claim))),
    { apiBindings: true },
  );
}

function acceptedKeys(
  claims: readonly (PermissionClaim & { state: string })[] | undefined,
): ReadonlySet<string> {
  return new Set((claims ?? []).filter(({ state }) => state === 'Accepted').map(claimKey));
}

/** `apibindings [get, delete]`, and no more than that. */
function isLeaveClaim(claim: PermissionClaim): boolean {
  return isApiBindings(claim) && (claim.verbs ?? ['*']).every((verb) => verb === 'get' || verb === 'delete');
}

function isNamespaces(claim: PermissionClaim): boolean {
  return (claim.group ?? '') === '' && claim.resource === 'namespaces';
}

/** The controller may create APIBindings in this workspace itself. */
function acceptsApiBindings(client: ApiBinding): boolean {
  return (client.spec.permissionClaims ?? []).some(
    (claim) => isApiBindings(claim) && claim.state === 'Accepted',
  );
}
