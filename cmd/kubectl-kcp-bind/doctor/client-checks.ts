import { GVR } from '../../../src/api/gvr.js';
import { ApiError } from '../../../src/kube/errors.js';
import { claimName, reviewClaims } from '../bind/client-claims.js';
import { answerClaims, SHIPPED_CLAIMS } from '../bind/client-claims.js';
import { describeExport, searchClientBinding } from '../bind/client-export.js';
import { firstApiBindingTrouble } from '../bind/explain-api-binding.js';
import { apiBindingManifest, type ExportReference } from '../bind/manifests.js';
import type { CommandContext, Session } from '../command-context.js';
import { listApiBindings } from '../objects.js';
import { printable } from '../output/printable.js';
import type { ApiBinding, PermissionClaim } from '../typed-objects.js';
import { failed, ok, skipped, warning, type Check } from './check.js';

/** Whether the workspace is bound to the client, or could be; and what its APIBinding answers to the claims. */
export async function checkClient(
  context: CommandContext,
  session: Session,
  reference: ExportReference,
): Promise<Check[]> {
  const search = searchClientBinding(await listApiBindings(session.client, context.signal), reference);
  if (search.kind === 'absent') {
    return [
      await tryToBind(context, session, { name: search.name, reference }),
      skipped('claims', 'the workspace is not bound to the client yet; `kubectl kcp bind URL` answers them'),
    ];
  }
  return [checkBound(search.binding), ...checkClaims(search.binding)];
}

/** kcp checks existence and the right to bind in a dry run too. */
async function tryToBind(
  context: CommandContext,
  session: Session,
  wanted: { readonly name: string; readonly reference: ExportReference },
): Promise<Check> {
  const { reference } = wanted;
  const where = `${reference.path}:${reference.name}`;
  const claims = answerClaims(SHIPPED_CLAIMS, { apiBindings: true });
  const manifest = apiBindingManifest({ name: wanted.name, export: reference, claims });
  const { group, resource, version } = GVR.apiBindings;
  try {
    const path = `/apis/${group}/${version}/${resource}?dryRun=All`;
    await session.client.raw('POST', path, manifest, { signal: context.signal });
    return ok('client-export', `${where} is there and may be bound; this workspace is not bound to it yet`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return failed(
      'client-export',
      `${where} is not there, or you may not bind it, or may not create APIBindings here: ${printable(error.message, 300)}`,
      'ask the platform admin whether the client is installed (kubectl kcp bind install), and where; name the place with --client-path',
    );
  }
}

function checkBound(binding: ApiBinding): Check {
  const name = printable(binding.metadata.name);
  const where = printable(describeExport(binding));
  if (binding.metadata.deletionTimestamp !== undefined) {
    return failed(
      'client-export',
      `APIBinding ${name} to ${where} is being deleted`,
      'unbind what is left with `kubectl kcp bind unbind`; without a controller `kubectl kcp bind cleanup` lets it go',
    );
  }
  const trouble = firstApiBindingTrouble(binding);
  if (binding.status?.phase !== 'Bound' || trouble !== undefined) {
    return failed(
      'client-export',
      `APIBinding ${name} to ${where} is not whole: ${trouble ?? 'kcp has not bound it yet'}`,
      'ask the platform admin whether the client export is still there',
    );
  }
  return ok('client-export', `bound to ${where} (APIBinding ${name})`);
}

/** What does not work without a claim, for those whose absence is felt. */
const WITHOUT: Readonly<Record<string, string>> = {
  'logicalclusters.core.kcp.io': 'no login is possible',
  'apibindings.apis.kcp.io': 'the plugin has to create the APIBinding of each API (it does)',
  secrets: 'no kubeconfig of a Secret and no related Secrets are read',
  configmaps: 'no related ConfigMaps are synced',
  serviceaccounts: 'no related ServiceAccounts are synced',
  namespaces: 'related resources from the provider get no namespaces',
  events: 'there are no events on objects',
};

function checkClaims(binding: ApiBinding): Check[] {
  const { rejected, starred, superfluous, unanswered } = reviewClaims(binding);
  const name = printable(binding.metadata.name);
  const at = `spec.permissionClaims of APIBinding ${name}`;
  const checks: Check[] = [];
  const missing = [...unanswered, ...starred];
  if (missing.length > 0) {
    checks.push(
      failed(
        'claims',
        `not accepted: ${missing.map(describe).join('; ')}`,
        `run \`kubectl kcp bind URL\` in a terminal, which asks; or accept them in ${at}`,
      ),
    );
  }
  if (rejected.length > 0) {
    checks.push(
      warning('claims', `rejected: ${rejected.map(describe).join('; ')}`, `to change that, edit ${at}`),
    );
  }
  if (superfluous.length > 0) {
    checks.push(
      warning(
        'claims',
        `answered though the client does not ask for them: ${superfluous.map(claimName).join(', ')}`,
        `take them out of ${at}; kcp reports them as invalid`,
      ),
    );
  }
  return checks.length === 0 ? [ok('claims', 'all claims of the client are accepted')] : checks;
}

function describe(claim: PermissionClaim): string {
  const text = printable(claimName(claim), 100);
  const without = WITHOUT[claimName(claim)];
  return without === undefined ? text : `${text} (without it ${without})`;
}
