import type { ConditionState } from '../../api/conditions.js';
import { GVR } from '../../api/gvr.js';
import type { AcceptedClaim } from '../../syncer/protocol/assignment.js';
import type { ReportedClaim } from '../../syncer/protocol/report.js';
import { groupResourceKey, groupResourceText } from '../claims.js';
import type { GroupResource, WorkspaceClaims } from '../claims.js';
import { detail, no, unknown, yes } from '../conditions.js';
import type { BindingSpec } from '../views.js';

/** A claim of the generated export. */
export interface ExportClaim extends GroupResource {
  readonly verbs: readonly string[];
}

/** Lets us leave even if the workspace's APIBinding to the client export went first. */
export const LEAVE_CLAIM: ExportClaim = {
  group: 'apis.kcp.io',
  resource: 'apibindings',
  verbs: ['get', 'delete'],
};
const RELATED_VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
export const NAMESPACES: GroupResource = { group: '', resource: 'namespaces' };

/** What kube-bind lets a provider claim; whatever else one asks for is given by nobody's consent. */
const CLAIMABLE = new Set(
  ['configmaps', 'secrets', 'serviceaccounts'].map((resource) => groupResourceKey({ group: '', resource })),
);

/** Consent to the claims of the provider's export, as it stands now. */
export interface Consent {
  /** Accepted in the binding and in the workspace: what the worker may read and write. */
  readonly accepted: readonly AcceptedClaim[];
  /** What the generated export claims, in a fixed order. */
  readonly exportClaims: readonly ExportClaim[];
  readonly condition: ConditionState;
}

/**
 * The conjunction of both consents: the binding's `spec.permissionClaims` and the workspace's APIBinding to
 * the client export. A claim that is not listed counts as rejected; nothing waits for it.
 *
 * @param asked claims of the provider's export as last reported; while there is no report, those that the
 *   generated export already carries, so that a restart takes nothing away and a withdrawal still counts
 */
export function decideConsent(
  spec: BindingSpec,
  asked: {
    readonly reported: readonly ReportedClaim[] | undefined;
    readonly carried: readonly GroupResource[];
  },
  workspace: WorkspaceClaims,
): Consent {
  const inBinding = new Set(
    (spec.permissionClaims ?? []).filter(({ state }) => state === 'Accepted').map(groupResourceKey),
  );
  const claims = asked.reported ?? asked.carried.map((claim) => ({ ...claim, selector: '' }));
  const wanted = [...new Map(claims.map((claim) => [groupResourceKey(claim), claim])).values()];
  const agreed = wanted.filter(
    (claim) =>
      CLAIMABLE.has(groupResourceKey(claim)) &&
      inBinding.has(groupResourceKey(claim)) &&
      workspace.allows(claim, 'get', 'list', 'watch'),
  );
  const exportClaims = agreed.map((claim) => grantedClaim(claim, workspace));
  // Related objects that come from the provider need their namespace; only with the workspace's consent.
  if (agreed.length > 0) exportClaims.push(grantedClaim(NAMESPACES, workspace));
  return {
    accepted: agreed.map(({ group, resource }) => ({ group, resource })),
    exportClaims: [LEAVE_CLAIM, ...exportClaims.filter(({ verbs }) => verbs.length > 0).sort(byName)],
    condition:
      asked.reported === undefined
        ? unknown('Unknown', "The provider's export has not been read yet.")
        : withNotes(consentCondition(wanted, inBinding, workspace), agreed.length > 0, workspace),
  };
}

/** What the workspace goes without because of claims of the client export that are no provider's business. */
function withNotes(
  condition: ConditionState,
  hasRelated: boolean,
  workspace: WorkspaceClaims,
): ConditionState {
  if (workspace.apiBinding === undefined) return condition;
  const notes: string[] = [];
  if (hasRelated && !workspace.allows(NAMESPACES, 'get', 'list', 'watch', 'create')) {
    notes.push(
      `Without the permission claim namespaces on APIBinding ${workspace.apiBinding}, related objects of the provider reach only namespaces that exist.`,
    );
  }
  if (!workspace.allows(GVR.events, 'create', 'patch')) {
    notes.push(
      `Without the permission claim events on APIBinding ${workspace.apiBinding}, no Events are written about objects.`,
    );
  }
  return { ...condition, message: [condition.message, ...notes].filter((part) => part !== '').join(' ') };
}

function grantedClaim({ group, resource }: GroupResource, workspace: WorkspaceClaims): ExportClaim {
  return { group, resource, verbs: workspace.granted({ group, resource }, RELATED_VERBS) };
}

function byName(a: GroupResource, b: GroupResource): number {
  return groupResourceKey(a) < groupResourceKey(b) ? -1 : 1;
}

function consentCondition(
  wanted: readonly ReportedClaim[],
  inBinding: ReadonlySet<string>,
  workspace: WorkspaceClaims,
): ConditionState {
  if (wanted.length === 0) return yes('NoClaims', 'The provider asks for no related resources.');
  const foreign = wanted.filter((claim) => !CLAIMABLE.has(groupResourceKey(claim)));
  const possible = wanted.filter((claim) => CLAIMABLE.has(groupResourceKey(claim)));
  const notInBinding = possible.filter((claim) => !inBinding.has(groupResourceKey(claim)));
  const notInWorkspace = possible.filter(
    (claim) => inBinding.has(groupResourceKey(claim)) && !workspace.allows(claim, 'get', 'list', 'watch'),
  );
  if (foreign.length + notInBinding.length + notInWorkspace.length === 0) return yes('Accepted');
  const parts: string[] = [];
  if (foreign.length > 0) {
    const list = foreign.map(groupResourceText).join(', ');
    parts.push(
      `The provider asks for ${list}, which no consent can give: only configmaps, secrets and serviceaccounts.`,
    );
  }
  if (notInBinding.length > 0) {
    const list = notInBinding.map((claim) => `${groupResourceText(claim)} (${claim.selector})`).join(', ');
    parts.push(
      `The provider asks for ${list}; to allow it, add it to spec.permissionClaims with state: Accepted.`,
    );
  }
  if (notInWorkspace.length > 0) {
    const list = notInWorkspace.map(groupResourceText).join(', ');
    const name = workspace.apiBinding ?? 'to the client export';
    const hint = notInWorkspace.map((claim) => workspace.hint(claim)).find((text) => text !== '') ?? '';
    parts.push(`Accept the permission claim ${list} on APIBinding ${name} of this workspace too.${hint}`);
  }
  return no('NotAccepted', detail(parts.join(' ')));
}
