import type { OfferedClaim } from '../api/offer.js';
import { untrustedText } from '../api/untrusted-text.js';
import { isJsonObject } from '../kube/json-value.js';

/** Most items of a selector that are spelt out. */
const SHOWN = 8;

/** Which objects a claim is about, for somebody who has never seen a selector. At least one entry. */
export function claimWords(claim: OfferedClaim): readonly string[] {
  const words = [
    ...labelWords(claim.selector['labelSelector']),
    ...nameWords(claim.selector['namedResources']),
    ...referenceWords(claim.selector['references']),
  ];
  return words.length === 0 ? ['none at the moment (the provider names no objects)'] : words;
}

/** `secrets`, or `widgets.example.org` outside of the core group. */
export function resourceName(of: { readonly group: string; readonly resource: string }): string {
  const resource = untrustedText(of.resource, 253);
  return of.group === '' ? resource : `${resource}.${untrustedText(of.group, 253)}`;
}

function labelWords(selector: unknown): string[] {
  if (!isJsonObject(selector)) return [];
  const labels = isJsonObject(selector['matchLabels']) ? Object.entries(selector['matchLabels']) : [];
  const terms = labels.map(([key, value]) => `${text(key)}=${text(value)}`);
  for (const expression of objects(selector['matchExpressions'])) {
    const values = Array.isArray(expression['values']) ? expression['values'].map(text).join(', ') : '';
    terms.push(`${text(expression['key'])} ${text(expression['operator'])} ${values}`.trim());
  }
  if (terms.length === 0) return ['none (the provider asks for all of them, which is never shared)'];
  return [`those labelled ${listed(terms, ' and ')}`];
}

function nameWords(value: unknown): string[] {
  const names = objects(value).map(({ name, namespace }) =>
    namespace === undefined ? `${text(name)} in any namespace` : `${text(namespace)}/${text(name)}`,
  );
  return names.length === 0 ? [] : [`those named ${listed(names, ', ')}`];
}

function referenceWords(value: unknown): string[] {
  return objects(value)
    .slice(0, SHOWN)
    .map((reference) => {
      const from = `${text(reference['resource'])}${reference['group'] ? `.${text(reference['group'])}` : ''}`;
      const path = isJsonObject(reference['jsonPath']) ? reference['jsonPath'] : {};
      const [name, namespace] = [text(path['name']), path['namespace']];
      const where =
        namespace === undefined || namespace === '' ? '' : `, in the namespace in ${text(namespace)}`;
      const whose = [name, text(namespace)].some(isOfStatus)
        ? ' (which the provider writes, and so chooses)'
        : '';
      return `those that objects of ${from} name in ${name}${where}${whose}`;
    });
}

/** Who reads only `spec.secretName` agrees to what he writes himself; a status is the provider's. */
function isOfStatus(path: string): boolean {
  return /^(\$?\.)?status([.[]|$)/.test(path);
}

function listed(items: readonly string[], separator: string): string {
  const rest = items.length - SHOWN;
  return items.slice(0, SHOWN).join(separator) + (rest > 0 ? ` and ${rest} more` : '');
}

function objects(value: unknown) {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function text(value: unknown): string {
  const clean = untrustedText(value, 120);
  return clean === '' ? '?' : clean;
}
