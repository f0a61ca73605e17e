import { usageError } from '../errors.js';
import type { ClaimState, Offer } from '../typed-objects.js';
import { claimName } from './client-claims.js';

/** What `--accept-claims` says. */
export type Acceptance =
  /** The flag was not given. */
  | { readonly kind: 'unsaid' }
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  /** Claims by name: `secrets`, `widgets.example.com`. */
  | { readonly kind: 'named'; readonly names: readonly string[] };

/** The related resources that kube-bind backends can ask for: all of the core group. */
const KNOWN_CLAIMS = ['configmaps', 'secrets', 'serviceaccounts'] as const;

/**
 * Reads the values of `--accept-claims`: `all`, `none`, or names, repeated or separated by commas.
 *
 * @throws PluginError USAGE
 */
export function readAcceptance(values: readonly string[]): Acceptance {
  const names = values.flatMap((value) => value.split(',')).map((name) => name.trim());
  if (names.length === 0) return { kind: 'unsaid' };
  if (names.includes(''))
    throw usageError('--accept-claims has an empty name', 'give all, none, or names of claims');
  const special = names.find((name) => name === 'all' || name === 'none');
  if (special === undefined) return { kind: 'named', names: [...new Set(names)] };
  if (names.length > 1)
    throw usageError(`--accept-claims ${special} stands alone`, `leave the other names out`);
  return { kind: special === 'all' ? 'all' : 'none' };
}

/** Answers an offer's claims. Without a word about a claim it is rejected. */
export function decideClaims(offer: Offer, acceptance: Acceptance): ClaimState[] {
  return (offer.permissionClaims ?? []).map((claim) => ({
    group: claim.group,
    resource: claim.resource,
    state: isAccepted(claimName(claim), acceptance) ? 'Accepted' : 'Rejected',
  }));
}

/**
 * The claims to write before the offers are known (`--dry-run`, `--wait=false`). `all` is then all that a
 * backend can ask for: what a template does not ask for has no effect.
 */
export function plannedClaims(acceptance: Acceptance): ClaimState[] {
  const names =
    acceptance.kind === 'all' ? KNOWN_CLAIMS : acceptance.kind === 'named' ? acceptance.names : [];
  return names.map((name) => {
    const dot = name.indexOf('.');
    const resource = dot === -1 ? name : name.slice(0, dot);
    return { group: dot === -1 ? '' : name.slice(dot + 1), resource, state: 'Accepted' };
  });
}

/** Names in `--accept-claims` that none of the offers asks for: most likely typing errors. */
export function unknownClaims(offers: readonly Offer[], acceptance: Acceptance): string[] {
  if (acceptance.kind !== 'named') return [];
  const asked = new Set(offers.flatMap((offer) => (offer.permissionClaims ?? []).map(claimName)));
  return acceptance.names.filter((name) => !asked.has(name));
}

/** New answers over old ones: a claim that the new ones do not mention keeps its old answer. */
export function mergeClaims(old: readonly ClaimState[], fresh: readonly ClaimState[]): ClaimState[] {
  const answers = new Map(old.map((claim) => [claimName(claim), claim]));
  for (const claim of fresh) answers.set(claimName(claim), claim);
  return [...answers.values()];
}

export function sameClaims(a: readonly ClaimState[], b: readonly ClaimState[]): boolean {
  const text = (claims: readonly ClaimState[]): string =>
    claims
      .map((claim) => `${claimName(claim)}=${claim.state}`)
      .sort()
      .join();
  return text(a) === text(b);
}

function isAccepted(name: string, acceptance: Acceptance): boolean {
  return acceptance.kind === 'all' || (acceptance.kind === 'named' && acceptance.names.includes(name));
}
