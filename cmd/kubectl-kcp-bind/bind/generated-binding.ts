import { GVR } from '../../../src/api/gvr.js';
import { KCP_CLUSTER_ANNOTATION } from '../../../src/api/markers.js';
import { generatedExportName } from '../../../src/api/names.js';
import { isStatus } from '../../../src/kube/errors.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { getOptional, listApiBindings } from '../objects.js';
import { pollUntil, type Look } from '../poll.js';
import type { Phase } from '../output/progress.js';
import { asApiBinding, type ApiBinding, type Binding, type PermissionClaim } from '../typed-objects.js';
import { answerClaims, claimKey, isApiBindings } from './client-claims.js';
import { createApiBinding } from './create-api-binding.js';
import { firstApiBindingTrouble } from './explain-api-binding.js';
import { apiBindingManifest, type ExportReference } from './manifests.js';

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
  const reference = expectedExport(binding, client);
  const name = await ensureApiBinding(context, session, reference);
  const look = async (): Promise<Look<ApiBinding>> => {
    const object = await session.client.get(GVR.apiBindings, { name }, { signal: context.signal });
    const current = asApiBinding(object);
    if (current.status?.phase === 'Bound') return { done: true, value: current };
    return { done: false, detail: firstApiBindingTrouble(current) ?? `APIBinding ${name} is not Bound yet` };
  };
  const bound = await pollUntil({ look, phase, clock: context.effects.clock, signal: context.signal });
  const claims = consentedClaims(bound, binding, client);
  if (claims.length === 0) return;
  const { resourceVersion } = bound.metadata;
  const body = {
    metadata: { ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    spec: {
      permissionClaims: [
        ...(bound.spec.permissionClaims ?? []).map((claim) => ({ ...claim })),
        ...claims.map((claim) => ({ ...claim })),
      ],
    },
  };
  await session.client.patch(GVR.apiBindings, { name }, 'merge', body, { signal: context.signal });
}

async function ensureApiBinding(
  context: CommandContext,
  session: Session,
  reference: ExportReference,
): Promise<string> {
  const bindings = await listApiBindings(session.client, context.signal);
  const existing = bindings.find(({ spec }) => spec.reference?.export?.name === reference.name);
  if (existing !== undefined) return existing.metadata.name;
  context.report.note(`Binding the API: creating APIBinding ${reference.name}`);
  const manifest = apiBindingManifest({ name: reference.name, export: reference, claims: [] });
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
 * leave again), and those accepted both in the binding and on the client's APIBinding.
 */
export function consentedClaims(
  bound: ApiBinding,
  binding: Binding,
  client: ApiBinding,
): ReturnType<typeof answerClaims> {
  const answered = new Set((bound.spec.permissionClaims ?? []).map(claimKey));
  const consents = new Set(
    (binding.spec.permissionClaims ?? []).filter(({ state }) => state === 'Accepted').map(claimKey),
  );
  const clientConsents = new Set(
    (client.spec.permissionClaims ?? []).filter(({ state }) => state === 'Accepted').map(claimKey),
  );
  const leaving = (claim: PermissionClaim): boolean =>
    isApiBindings(claim) && (claim.verbs ?? ['*']).every((verb) => verb === 'get' || verb === 'delete');
  const open = (bound.status?.exportPermissionClaims ?? []).filter((claim) => !answered.has(claimKey(claim)));
  return answerClaims(
    open.filter(
      (claim) => leaving(claim) || (consents.has(claimKey(claim)) && clientConsents.has(claimKey(claim))),
    ),
    { apiBindings: true },
  );
}

/** The client's APIBinding as it is now; undefined when it is gone. */
export async function readApiBinding(
  context: CommandContext,
  session: Session,
  name: string,
): Promise<ApiBinding | undefined> {
  const object = await getOptional(session.client, GVR.apiBindings, name, context.signal);
  return object === undefined ? undefined : asApiBinding(object);
}
