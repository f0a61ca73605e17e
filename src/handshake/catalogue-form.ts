import type { KubeBindBinding } from '../api/generated/kubebindbinding.js';
import { BINDING_KIND, GROUP, VERSION } from '../api/group.js';
import type { Offer, OfferedClaim } from '../api/offer.js';

/** Names of the form's fields; each may come many times. */
export const OFFER_FIELD = 'offer';
export const CLAIM_FIELD = 'claim';

/** What the tick of a claim sends. A template's name holds no slash. */
export function claimValue(
  template: string,
  claim: { readonly group: string; readonly resource: string },
): string {
  return `${template}/${claim.resource}/${claim.group}`;
}

/** A binding that the form asks for. */
export interface WantedBinding {
  readonly template: string;
  readonly permissionClaims: NonNullable<KubeBindBinding['spec']['permissionClaims']>;
}

/** The schema takes no more claims than this in one binding. */
const MAX_CLAIMS = 32;
/** Names that Kubernetes takes for an object. */
const OBJECT_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Offers that can become a binding named after them. Others need a binding that the user writes. */
export function bindableOffers(offers: readonly Offer[]): readonly Offer[] {
  return offers.filter(({ template }) => OBJECT_NAME.test(template));
}

/**
 * Reads the form. Only offers that the backend made count, and only their own claims; a claim without a tick is
 * Rejected, which is also what an absent one counts as.
 */
export function readCatalogueForm(
  form: Readonly<Record<string, unknown>>,
  offers: readonly Offer[],
): readonly WantedBinding[] {
  const chosen = new Set(texts(form[OFFER_FIELD]));
  const ticked = new Set(texts(form[CLAIM_FIELD]));
  return bindableOffers(offers)
    .filter(({ template }) => chosen.has(template))
    .map((offer) => ({ template: offer.template, permissionClaims: consent(offer, ticked) }));
}

function consent(offer: Offer, ticked: ReadonlySet<string>): WantedBinding['permissionClaims'] {
  const seen = new Map<string, OfferedClaim>();
  for (const claim of offer.permissionClaims) seen.set(claimValue(offer.template, claim), claim);
  return [...seen].slice(0, MAX_CLAIMS).map(([value, { group, resource }]) => ({
    group,
    resource,
    state: ticked.has(value) ? 'Accepted' : 'Rejected',
  }));
}

/** The KubeBindBinding for a wish. Its name is the template's, so that a second click finds the first one's work. */
export function bindingObject(connection: string, wanted: WantedBinding) {
  return {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: BINDING_KIND,
    metadata: { name: wanted.template },
    spec: {
      connection,
      template: wanted.template,
      ...(wanted.permissionClaims.length === 0 ? {} : { permissionClaims: wanted.permissionClaims }),
    },
  };
}

function texts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
