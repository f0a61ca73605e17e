import type { Offer, OfferedClaim } from '../../api/offer.js';
import { untrustedText } from '../../api/untrusted-text.js';
import { CLAIM_FIELD, OFFER_FIELD, claimValue } from '../catalogue-form.js';
import { claimWords, resourceName } from '../claim-words.js';
import { markup } from '../html.js';
import type { Html } from '../html.js';
import { csrfField } from './page.js';
import type { Page } from './page.js';

export interface CatalogueView {
  readonly action: string;
  readonly csrf: string;
  readonly progressHref: string;
  readonly host: string;
  readonly workspacePath: string;
  readonly connection: string;
  /** Offers that the workspace does not have yet. */
  readonly offers: readonly Offer[];
  /** How many it has. */
  readonly taken: number;
  /** Nothing was ticked in the form that was sent. */
  readonly nothingChosen: boolean;
  readonly startedByTerminal: boolean;
}

/** Lets a person pick from the offers and say which related resources may be shared. */
export function cataloguePage(view: CatalogueView): Page {
  const { host, workspacePath } = view;
  return {
    title: `Offers of ${host}`,
    body: markup`<p class="over">Connected to ${host}</p>
<h1>Choose what ${workspacePath} gets</h1>
${view.startedByTerminal && markup`<p class="hint">If your terminal asks you to choose, do it there and close this page.</p>`}
${view.taken > 0 && markup`<p><a href="${view.progressHref}">Look at what the workspace has already (${view.taken})</a></p>`}
${view.nothingChosen && markup`<p class="bad" role="alert">Nothing was chosen. Tick at least one offer.</p>`}
${view.offers.length === 0 ? markup`<div class="card"><p>There is nothing more to choose. You can close this page.</p></div>` : offersForm(view)}
<p class="hint">You can also stop here and create bindings for connection ${view.connection} at any time, with kubectl.</p>`,
  };
}

function offersForm(view: CatalogueView): Html {
  return markup`<form method="post" action="${view.action}">
${csrfField(view.csrf)}
${view.offers.map((offer, index) => offerCard(offer, index, view.host))}
<p><button type="submit">Add to ${view.workspacePath}</button></p>
</form>`;
}

function offerCard(offer: Offer, index: number, host: string): Html {
  const title = untrustedText(offer.title, 200);
  const description = untrustedText(offer.description, 2000);
  const id = `offer-${index}`;
  return markup`<section class="card" aria-labelledby="${id}">
<h2 id="${id}">${title === '' ? offer.template : title}</h2>
${description !== '' && markup`<p>${description}</p>`}
<p>${scopeWords(offer)}: ${offer.resources.map((resource) => markup`<code>${resourceName(resource)}</code> `)}</p>
<label class="tick"><input type="checkbox" name="${OFFER_FIELD}" value="${offer.template}"> <span>Add <strong>${offer.template}</strong> to the workspace</span></label>
${offer.permissionClaims.length > 0 && claimsFieldset(offer, host)}
</section>
`;
}

function claimsFieldset(offer: Offer, host: string): Html {
  return markup`<fieldset>
<legend>${offer.template} asks for related objects</legend>
<p class="hint">What you allow is copied both ways: ${host} reads such objects of the workspace, and may create and change them here. What you leave out is not shared, and some features may not work. You can change this later.</p>
${offer.permissionClaims.map((claim) => claimTick(offer, claim))}
</fieldset>`;
}

function claimTick(offer: Offer, claim: OfferedClaim): Html {
  const isSecret = claim.group === '' && claim.resource === 'secrets';
  const warning = isSecret && markup` <span class="bad">Secrets hold passwords and keys.</span>`;
  return markup`<label class="tick"><input type="checkbox" name="${CLAIM_FIELD}" value="${claimValue(offer.template, claim)}"> <span>Allow <strong>${resourceName(claim)}</strong>: ${claimWords(claim).join('; or ')}.${warning}</span></label>
`;
}

function scopeWords(offer: Offer): string {
  const count = offer.resources.length === 1 ? 'One API' : `${offer.resources.length} APIs`;
  if (offer.scope === undefined) return count;
  return `${count}, ${offer.scope === 'Namespaced' ? 'in namespaces' : 'for the whole workspace'}`;
}
