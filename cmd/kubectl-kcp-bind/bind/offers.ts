import { PluginError } from '../errors.js';
import { printable } from '../output/printable.js';
import type { Offer } from '../typed-objects.js';
import { claimName } from './client-claims.js';

/**
 * The offers of the given template names, each once, in the order of the names.
 *
 * @throws PluginError NOT_FOUND, listing what there is
 */
export function selectOffers(offers: readonly Offer[], names: readonly string[]): Offer[] {
  return [...new Set(names)].map((name) => {
    const found = offers.find((offer) => offer.template === name);
    if (found !== undefined) return found;
    throw new PluginError({
      code: 'NOT_FOUND',
      message: `the provider offers no template ${JSON.stringify(name)} (it offers: ${offerNames(offers)})`,
      remedy:
        'correct --template; a template that is new since the last login shows up after `kubectl kcp bind login`',
    });
  });
}

/** What an answer to the choice means: offers, or why it means none. */
export type ChoiceAnswer =
  | { readonly kind: 'chosen'; readonly offers: Offer[] }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unclear'; readonly part: string };

/** Reads numbers of the printed list and template names, separated by commas or blanks; `all` is all. */
export function readChoice(answer: string, offers: readonly Offer[]): ChoiceAnswer {
  const parts = answer.split(/[\s,]+/).filter((part) => part !== '');
  if (parts.length === 0) return { kind: 'nothing' };
  const chosen = new Set<Offer>();
  for (const part of parts) {
    const named = offers.find((offer) => offer.template === part);
    if (named !== undefined) chosen.add(named);
    else if (part === 'all') offers.forEach((offer) => chosen.add(offer));
    else {
      const numbered = /^\d{1,4}$/.test(part) ? offers[Number(part) - 1] : undefined;
      if (numbered === undefined) return { kind: 'unclear', part };
      chosen.add(numbered);
    }
  }
  return { kind: 'chosen', offers: offers.filter((offer) => chosen.has(offer)) };
}

/** The list that a person chooses from, a line or two for each offer. */
export function offerLines(offers: readonly Offer[]): string[] {
  return offers.flatMap((offer, index) => {
    const title = offer.title === undefined || offer.title === '' ? '' : ` - ${printable(offer.title, 100)}`;
    const serves = offerResources(offer);
    const claims = offerClaims(offer);
    return [
      `  ${index + 1}) ${printable(offer.template, 100)}${title}${serves === '' ? '' : ` [${serves}]`}`,
      ...(offer.description === undefined || offer.description === ''
        ? []
        : [`     ${printable(offer.description, 200)}`]),
      ...(claims === '' ? [] : [`     asks for: ${claims}`]),
    ];
  });
}

/** `cowboys.wildwest.dev` of each resource, comma separated. */
export function offerResources(offer: Offer): string {
  return (offer.resources ?? []).map((resource) => printable(claimName(resource), 100)).join(', ');
}

/** The related resources that an offer asks for, with the provider's selector. */
export function offerClaims(offer: Offer): string {
  return (offer.permissionClaims ?? [])
    .map((claim) => {
      const selector = claim.selector === undefined || claim.selector === '' ? '' : ` (${claim.selector})`;
      return printable(`${claimName(claim)}${selector}`, 200);
    })
    .join(', ');
}

export function offerNames(offers: readonly Offer[]): string {
  const names = offers.slice(0, 30).map((offer) => printable(offer.template, 60));
  if (offers.length > names.length) names.push('…');
  return names.length === 0 ? 'nothing' : names.join(', ');
}
