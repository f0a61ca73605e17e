import { GVR } from '../../../src/api/gvr.js';
import { isStatus } from '../../../src/kube/errors.js';
import { PluginError } from '../errors.js';
import type { CommandContext, Session } from '../command-context.js';
import { listApiBindings } from '../objects.js';
import { printable } from '../output/printable.js';
import { pollUntil, type Look } from '../poll.js';
import { asApiBinding, asObject, type ApiBinding, type PermissionClaim } from '../typed-objects.js';
import { patchSpec } from '../guarded-patch.js';
import {
  answerClaims,
  claimKey,
  claimName,
  reviewClaims,
  SHIPPED_CLAIMS,
  withoutStars,
} from './client-claims.js';
import { describeExport, searchClientBinding, type ClientBindingSearch } from './client-export.js';
import { createApiBinding } from './create-api-binding.js';
import { apiBindingManifest, type ExportReference } from './manifests.js';
import { isYes } from '../output/prompt.js';
import { firstApiBindingTrouble } from './explain-api-binding.js';

/** How the client export is bound. */
export interface ClientBindingOptions {
  readonly reference: ExportReference;
  /** The user named the path: another one is then an error, not a note. */
  readonly pathGiven: boolean;
  /** False: claim `apibindings.apis.kcp.io` is rejected. */
  readonly apiBindingsClaim: boolean;
}

/**
 * Looks for the workspace's APIBinding to the client export.
 *
 * @throws PluginError CONFLICT when it is bound elsewhere than the user says, or is being deleted
 */
export async function findClientBinding(
  context: CommandContext,
  session: Session,
  options: ClientBindingOptions,
): Promise<Exclude<ClientBindingSearch, { kind: 'elsewhere' }>> {
  const bindings = await listApiBindings(session.client, context.signal);
  const search = searchClientBinding(bindings, options.reference);
  if (search.kind === 'absent') return search;
  const { binding } = search;
  const name = printable(binding.metadata.name);
  if (binding.metadata.deletionTimestamp !== undefined) {
    throw new PluginError({
      code: 'CONFLICT',
      message: `the workspace's APIBinding ${name} to the client export is being deleted`,
      remedy: 'wait until it is gone (kubectl get apibindings), then run the command again',
    });
  }
  if (search.kind === 'elsewhere') {
    const where = printable(describeExport(binding));
    if (options.pathGiven) {
      throw new PluginError({
        code: 'CONFLICT',
        message: `the workspace is bound to ${where} (APIBinding ${name}), not to ${options.reference.path}:${options.reference.name}`,
        remedy: 'leave --client-path out to use that client, or unbind it first',
      });
    }
    context.report.note(`Using the client ${where}, which this workspace is bound to (APIBinding ${name})`);
  }
  return { kind: 'found', binding };
}

/**
 * Makes sure that the workspace is bound to the client export, and waits until it is Bound. Creates the
 * APIBinding where none is; changes an existing one only with the user's consent.
 */
export async function ensureClientBinding(
  context: CommandContext,
  session: Session,
  options: ClientBindingOptions,
): Promise<ApiBinding> {
  const search = await findClientBinding(context, session, options);
  if (search.kind === 'found') {
    const { binding } = search;
    const isBound = binding.status?.phase === 'Bound';
    const bound = isBound ? binding : await waitBound(context, session, binding.metadata.name);
    return completeClaims(context, session, await listVerbs(context, session, bound));
  }
  const { reference } = options;
  const claims = answerClaims(SHIPPED_CLAIMS, { apiBindings: options.apiBindingsClaim });
  const accepted = claims.filter((claim) => claim.state === 'Accepted').map(claimName);
  context.report.note(
    `Binding this workspace to the client ${reference.path}:${reference.name}; accepted permission claims: ${accepted.join(', ')}`,
  );
  const manifest = apiBindingManifest({ name: search.name, export: reference, claims });
  let created: ApiBinding;
  try {
    created = asApiBinding(await createApiBinding(context, session.client, manifest));
  } catch (error) {
    // Another run was quicker: what it made is used.
    if (isStatus(error, 409)) return ensureClientBinding(context, session, options);
    if (isStatus(error, 403)) throw mayNotBind(reference, error);
    throw error;
  }
  const bound = await waitBound(context, session, created.metadata.name);
  return alignClaims(context, session, bound);
}

async function waitBound(context: CommandContext, session: Session, name: string): Promise<ApiBinding> {
  const phase = context.report.progress.phase(`Waiting until APIBinding ${name} is Bound`);
  context.remains(`APIBinding ${name} is not Bound yet`);
  const look = async (): Promise<Look<ApiBinding>> => {
    const object = await session.client.get(GVR.apiBindings, { name }, { signal: context.signal });
    const binding = asApiBinding(object);
    if (binding.status?.phase === 'Bound') return { done: true, value: binding };
    return { done: false, detail: firstApiBindingTrouble(binding) ?? 'kcp has not bound it yet' };
  };
  const binding = await pollUntil({ look, phase, clock: context.effects.clock, signal: context.signal });
  phase.done(`APIBinding ${name} is Bound`);
  return binding;
}

/** After a fresh creation: the installed export may ask for other claims than the shipped one. */
async function alignClaims(
  context: CommandContext,
  session: Session,
  binding: ApiBinding,
): Promise<ApiBinding> {
  const { unanswered } = reviewClaims(binding);
  if (unanswered.length > 0) {
    context.report.warn(
      `the installed client also asks for ${namesOf(unanswered)}, which this plugin does not know; accept it in APIBinding ${binding.metadata.name} if you trust it`,
    );
  }
  return changeClaims(context, session, binding, (current) => {
    const { superfluous } = reviewClaims(current);
    if (superfluous.length === 0) return undefined;
    const keys = new Set(superfluous.map(claimKey));
    return (current.spec.permissionClaims ?? []).filter((claim) => !keys.has(claimKey(claim)));
  });
}

/** An APIBinding of apis.kcp.io/v1alpha1 accepts `*`, for which kcp grants nothing. */
async function listVerbs(
  context: CommandContext,
  session: Session,
  binding: ApiBinding,
): Promise<ApiBinding> {
  const { starred } = reviewClaims(binding);
  if (starred.length === 0) return binding;
  context.report.note(
    `Listing the verbs of the accepted permission claims ${namesOf(starred)} on APIBinding ${printable(binding.metadata.name)}: kcp grants nothing for *`,
  );
  return changeClaims(context, session, binding, withoutStars);
}

/** An APIBinding that was there before: claims that nobody answered are put to the user. */
async function completeClaims(
  context: CommandContext,
  session: Session,
  binding: ApiBinding,
): Promise<ApiBinding> {
  const { unanswered } = reviewClaims(binding);
  if (unanswered.length === 0) return binding;
  const { name } = binding.metadata;
  if (!context.prompt.available) {
    context.report.warn(
      `APIBinding ${name} does not answer the claims ${namesOf(unanswered)}; what needs them will not work. Accept them in its spec.permissionClaims`,
    );
    return binding;
  }
  const question = `The client asks for permission claims that APIBinding ${name} does not answer: ${namesOf(unanswered)}. Accept them? [y/N] `;
  if (!isYes(await context.prompt.ask(question, context.signal))) return binding;
  const agreed = new Set(unanswered.map(claimKey));
  return changeClaims(context, session, binding, (current) => {
    const open = reviewClaims(current).unanswered.filter((claim) => agreed.has(claimKey(claim)));
    if (open.length === 0) return undefined;
    return [...(current.spec.permissionClaims ?? []), ...answerClaims(open, { apiBindings: true })];
  });
}

async function changeClaims(
  context: CommandContext,
  session: Session,
  binding: ApiBinding,
  change: (current: ApiBinding) => readonly object[] | undefined,
): Promise<ApiBinding> {
  const target = { gvr: GVR.apiBindings, object: asObject(binding) };
  const changed = await patchSpec(
    session.client,
    target,
    (object) => {
      const claims = change(asApiBinding(object));
      return claims === undefined ? undefined : { permissionClaims: claims.map((claim) => ({ ...claim })) };
    },
    context.signal,
  );
  return asApiBinding(changed);
}

function namesOf(claims: readonly PermissionClaim[]): string {
  return claims.map((claim) => printable(claimName(claim), 100)).join(', ');
}

function mayNotBind(reference: ExportReference, cause: unknown): PluginError {
  return new PluginError({
    code: 'NOT_INSTALLED',
    message: `the client export ${reference.path}:${reference.name} is not there, or you may not bind it, or may not create APIBindings here`,
    remedy: `ask the platform admin whether the kube-bind client is installed, and where; name the place with --client-path`,
    cause,
  });
}
