import type { Offer, OfferedClaim, OfferedResource } from '../../api/offer.js';
import { untrustedText } from '../../api/untrusted-text.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kube/json-value.js';

/** Bounds of `status.offers` in the KubeBindConnection's schema, and of what fits into a Secret and a status. */
const MAX_OFFERS = 256;
const MAX_RESOURCES = 64;
const MAX_VERSIONS = 32;
const MAX_CLAIMS = 32;
const MAX_NAMESPACES = 64;
const MAX_SELECTOR_BYTES = 4096;
const MAX_TOTAL_BYTES = 384 * 1024;

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/**
 * The backend's templates as offers, in the backend's order. An offer is taken whole or not at all: cutting its
 * resources or claims would change what the user consents to. Left out are templates that are malformed or beyond
 * the bounds, second ones of a name, and all that do not fit the total size any more.
 */
export function templatesToOffers(templates: readonly JsonValue[]): Offer[] {
  const offers = new Map<string, Offer>();
  let bytes = 0;
  for (const template of templates) {
    if (offers.size >= MAX_OFFERS) break;
    const offer = isJsonObject(template) ? readOffer(template) : undefined;
    if (offer === undefined || offers.has(offer.template)) continue;
    const size = Buffer.byteLength(JSON.stringify(offer));
    if (bytes + size > MAX_TOTAL_BYTES) continue;
    bytes += size;
    offers.set(offer.template, offer);
  }
  return [...offers.values()];
}

function readOffer(template: JsonObject): Offer | undefined {
  const metadata = template['metadata'];
  const spec = template['spec'];
  if (!isJsonObject(metadata) || !isJsonObject(spec)) return undefined;
  const name = metadata['name'];
  if (!isName(name)) return undefined;
  const resources = readAll(spec['resources'], MAX_RESOURCES, readResource);
  const permissionClaims = readAll(spec['permissionClaims'] ?? [], MAX_CLAIMS, readClaim);
  const namespaces = readAll(spec['namespaces'] ?? [], MAX_NAMESPACES, readNamespace);
  if (resources === undefined || resources.length === 0) return undefined;
  if (permissionClaims === undefined || namespaces === undefined) return undefined;
  return {
    template: name,
    ...readCaption(spec),
    resources,
    permissionClaims,
    ...(namespaces.length === 0 ? {} : { namespaces }),
    ...readPolicy(spec),
  };
}

function readCaption(spec: JsonObject): Pick<Offer, 'description' | 'scope'> {
  const description = untrustedText(spec['description'], 4096);
  const scope = spec['scope'];
  return {
    ...(description === '' ? {} : { description }),
    ...(scope === 'Cluster' || scope === 'Namespaced' ? { scope } : {}),
  };
}

function readPolicy(spec: JsonObject): Pick<Offer, 'schemaUpdatePolicy'> {
  const policy = spec['schemaUpdatePolicy'];
  return policy === 'Never' || policy === 'Always' ? { schemaUpdatePolicy: policy } : {};
}

/** All items, or undefined where the list is none, too long, or has an item that cannot be read. */
function readAll<T>(
  list: JsonValue | undefined,
  max: number,
  read: (item: JsonObject) => T | undefined,
): T[] | undefined {
  if (!Array.isArray(list) || list.length > max) return undefined;
  const items: T[] = [];
  for (const item of list) {
    const value = isJsonObject(item) ? read(item) : undefined;
    if (value === undefined) return undefined;
    items.push(value);
  }
  return items;
}

function readResource(item: JsonObject): OfferedResource | undefined {
  const group = readGroup(item);
  const resource = item['resource'];
  const versions = item['versions'] ?? [];
  if (group === undefined || !isName(resource)) return undefined;
  if (!Array.isArray(versions) || versions.length > MAX_VERSIONS) return undefined;
  if (!versions.every((version) => isName(version) && version.length <= 63)) return undefined;
  return { group, resource, versions: versions.filter((version) => typeof version === 'string') };
}

function readClaim(item: JsonObject): OfferedClaim | undefined {
  const group = readGroup(item);
  const resource = item['resource'];
  const selector = item['selector'] ?? {};
  if (group === undefined || !isName(resource) || !isJsonObject(selector)) return undefined;
  if (hasBigint(selector) || Buffer.byteLength(JSON.stringify(selector)) > MAX_SELECTOR_BYTES)
    return undefined;
  return { group, resource, selector };
}

/** No selector has a number in it, and such large ones would not survive the way through a Secret. */
function hasBigint(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint';
  return Object.values(value).some(hasBigint);
}

function readNamespace(item: JsonObject): string | undefined {
  const name = item['name'];
  return isName(name) && name.length <= 63 ? name : undefined;
}

/** The core group is a key that is missing. */
function readGroup(item: JsonObject): string | undefined {
  const group = item['group'] ?? '';
  return group === '' || isName(group) ? group : undefined;
}

function isName(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.length <= 253 && SUBDOMAIN.test(value);
}
