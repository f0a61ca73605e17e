import type { Offer, OfferedClaim } from '../../state/records.js';
import type { ConnectionStatus } from '../views.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../kube/json-value.js';
import { untrustedText } from '../../api/untrusted-text.js';

type StatusOffer = NonNullable<ConnectionStatus['offers']>[number];

/** What the schema of `status.offers` takes, and a budget that keeps the whole object far below etcd's limit. */
const LIMITS = {
  offers: 256,
  resources: 64,
  versions: 32,
  claims: 32,
  selectorWords: 512,
  totalBytes: 256 * 1024,
};

/**
 * The offers as status shows them: a copy for reading, bounded, with each selector in short words. What does
 * not fit the budget is left out from the end.
 */
export function offersForStatus(offers: readonly Offer[]): StatusOffer[] {
  const shown: StatusOffer[] = [];
  const seen = new Set<string>();
  let bytes = 0;
  for (const offer of offers) {
    if (shown.length === LIMITS.offers) break;
    if (seen.has(offer.template) || offer.template === '' || offer.template.length > 253) continue;
    const entry = offerForStatus(offer);
    bytes += Buffer.byteLength(JSON.stringify(entry));
    if (bytes > LIMITS.totalBytes) break;
    seen.add(offer.template);
    shown.push(entry);
  }
  return shown;
}

function offerForStatus(offer: Offer): StatusOffer {
  const title = untrustedText(offer.title, 256);
  const description = untrustedText(offer.description, 4096);
  return {
    template: offer.template,
    ...(title === '' ? {} : { title }),
    ...(description === '' ? {} : { description }),
    ...(offer.scope === undefined ? {} : { scope: offer.scope }),
    resources: offer.resources.slice(0, LIMITS.resources).map(({ group, resource, versions }) => ({
      group: untrustedText(group, 253),
      resource: untrustedText(resource, 253),
      versions: versions.slice(0, LIMITS.versions).map((version) => untrustedText(version, 63)),
    })),
    permissionClaims: offer.permissionClaims.slice(0, LIMITS.claims).map((claim) => ({
      group: untrustedText(claim.group, 253),
      resource: untrustedText(claim.resource, 253),
      selector: selectorWords(claim),
    })),
  };
}

/** A provider's selector for people: `labels app=x; named a/b; referenced by widgets.example.org`. */
export function selectorWords(claim: Pick<OfferedClaim, 'selector'>): string {
  const selector = claim.selector as JsonObject;
  const words = [
    labelWords(selector['labelSelector']),
    nameWords(selector['namedResources']),
    referenceWords(selector['references']),
  ]
    .filter((part) => part !== '')
    .join('; ');
  return untrustedText(words === '' ? 'nothing' : words, LIMITS.selectorWords);
}

function labelWords(value: JsonValue | undefined): string {
  if (!isJsonObject(value)) return '';
  const labels = isJsonObject(value['matchLabels']) ? value['matchLabels'] : {};
  const parts = Object.entries(labels).map(
    ([key, text]) => `${key}=${typeof text === 'string' ? text : '?'}`,
  );
  const expressions = Array.isArray(value['matchExpressions']) ? value['matchExpressions'].length : 0;
  if (expressions > 0) parts.push(`${expressions} expression${expressions === 1 ? '' : 's'}`);
  return parts.length === 0 ? 'all' : `labels ${parts.slice(0, 8).join(', ')}`;
}

function nameWords(value: JsonValue | undefined): string {
  if (!Array.isArray(value) || value.length === 0) return '';
  const names = value.filter(isJsonObject).map(({ name, namespace }) => {
    const text = typeof name === 'string' ? name : '?';
    return typeof namespace === 'string' ? `${namespace}/${text}` : text;
  });
  return `named ${names.slice(0, 8).join(', ')}${names.length > 8 ? ', …' : ''}`;
}

function referenceWords(value: JsonValue | undefined): string {
  if (!Array.isArray(value) || value.length === 0) return '';
  const sources = value.filter(isJsonObject).map(({ group, resource }) => {
    const text = typeof resource === 'string' ? resource : '?';
    return typeof group === 'string' && group !== '' ? `${text}.${group}` : text;
  });
  return `referenced by ${sources.slice(0, 8).join(', ')}${sources.length > 8 ? ', …' : ''}`;
}
