import type { ApiBinding, PermissionClaim } from '../typed-objects.js';

/** A claim as an APIBinding of apis.kcp.io/v1alpha2 answers it. */
export interface AnsweredClaim {
  group: string;
  resource: string;
  verbs: string[];
  /** Part of the claim's key: always written, so that applying the same again changes nothing. */
  identityHash: string;
  selector: { matchAll: true };
  state: 'Accepted' | 'Rejected';
}

const WRITE = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/**
 * What the client export as it is shipped asks for (apiexport/apiexport.yaml; a test compares). Users cannot
 * read the export before they are bound to it, so the plugin knows it.
 */
export const SHIPPED_CLAIMS: readonly Required<PermissionClaim>[] = [
  { group: 'core.kcp.io', resource: 'logicalclusters', identityHash: '', verbs: ['get', 'list', 'watch'] },
  { group: 'apis.kcp.io', resource: 'apibindings', identityHash: '', verbs: WRITE },
  { group: '', resource: 'secrets', identityHash: '', verbs: WRITE },
  { group: '', resource: 'configmaps', identityHash: '', verbs: WRITE },
  { group: '', resource: 'serviceaccounts', identityHash: '', verbs: WRITE },
  { group: '', resource: 'namespaces', identityHash: '', verbs: ['get', 'list', 'watch', 'create'] },
  { group: '', resource: 'events', identityHash: '', verbs: ['get', 'create', 'patch'] },
];

/** Answers claims: all accepted, `apis.kcp.io/apibindings` only with `apiBindings`. */
export function answerClaims(
  claims: readonly PermissionClaim[],
  options: { readonly apiBindings: boolean },
): AnsweredClaim[] {
  return claims.map((claim) => ({
    group: claim.group ?? '',
    resource: claim.resource,
    verbs: claim.verbs ?? [],
    identityHash: claim.identityHash ?? '',
    selector: { matchAll: true },
    state: isApiBindings(claim) && !options.apiBindings ? 'Rejected' : 'Accepted',
  }));
}

/** Differences between what a bound export asks for and what its APIBinding answers. */
export interface ClaimReview {
  /** Asked for, and neither accepted nor rejected. */
  readonly unanswered: readonly PermissionClaim[];
  /** Answered, but not asked for: kcp reports them as invalid. */
  readonly superfluous: readonly PermissionClaim[];
  /** Asked for and rejected. */
  readonly rejected: readonly PermissionClaim[];
  /**
   * As asked for, and accepted with the verb `*`, as every APIBinding of apis.kcp.io/v1alpha1 does. kcp then grants
   * nothing: it takes `*` for one more verb, which the export does not claim.
   */
  readonly starred: readonly PermissionClaim[];
}

export function reviewClaims(binding: Pick<ApiBinding, 'spec' | 'status'>): ClaimReview {
  const asked = binding.status?.exportPermissionClaims ?? [];
  const answered = binding.spec.permissionClaims ?? [];
  const askedKeys = new Set(asked.map(claimKey));
  const answers = new Map(answered.map((claim) => [claimKey(claim), claim]));
  return {
    unanswered: asked.filter((claim) => !answers.has(claimKey(claim))),
    superfluous: answered.filter((claim) => !askedKeys.has(claimKey(claim))),
    rejected: asked.filter((claim) => answers.get(claimKey(claim))?.state === 'Rejected'),
    starred: asked.filter((claim) => {
      const answer = answers.get(claimKey(claim));
      return answer?.state === 'Accepted' && hasStar(answer) && !hasStar(claim);
    }),
  };
}

/** The answers of an APIBinding with the verbs that are asked for in place of `*`. Grants no more than before. */
export function withoutStars(binding: Pick<ApiBinding, 'spec' | 'status'>): readonly object[] | undefined {
  const starred = new Map(reviewClaims(binding).starred.map((claim) => [claimKey(claim), claim]));
  if (starred.size === 0) return undefined;
  return (binding.spec.permissionClaims ?? []).map((claim) => {
    const asked = starred.get(claimKey(claim));
    return asked === undefined ? claim : { ...claim, verbs: asked.verbs ?? [] };
  });
}

function hasStar(claim: PermissionClaim): boolean {
  return claim.verbs?.includes('*') === true;
}

/** `secrets`, `apibindings.apis.kcp.io` */
export function claimName(claim: { readonly group?: string; readonly resource: string }): string {
  return claim.group === undefined || claim.group === ''
    ? claim.resource
    : `${claim.resource}.${claim.group}`;
}

export function claimKey(claim: PermissionClaim): string {
  return `${claim.group ?? ''}/${claim.resource}/${claim.identityHash ?? ''}`;
}

/** The controller may not read the Secrets of this workspace. */
export function rejectsSecrets(binding: Pick<ApiBinding, 'spec' | 'status'>): boolean {
  return reviewClaims(binding).rejected.some(
    ({ group, resource }) => (group ?? '') === '' && resource === 'secrets',
  );
}

export function isApiBindings(claim: PermissionClaim): boolean {
  return claim.group === 'apis.kcp.io' && claim.resource === 'apibindings';
}
