import { GVR } from '../../api/gvr.js';
import { untrustedText } from '../../api/untrusted-text.js';
import type { RequestOptions } from '../../kube/client.js';
import { isObjectNotFound, ProtocolError } from '../../kube/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
import type { ProviderContract } from './contract.js';

const MAX_RESOURCES = 64;
const MAX_CLAIMS = 32;

export interface ExportedResource {
  readonly group: string;
  readonly resource: string;
  readonly versions: readonly string[];
}

export interface ExportedClaim {
  readonly group: string;
  readonly resource: string;
  readonly selector: JsonObject;
}

/** An APIServiceExport, as far as a consumer needs it. Its spec never changes. */
export interface ProviderExport {
  readonly name: string;
  readonly uid: string;
  readonly resources: readonly ExportedResource[];
  readonly permissionClaims: readonly ExportedClaim[];
  readonly informerScope: 'Cluster' | 'Namespaced';
  readonly isolation: 'Prefixed' | 'Namespaced' | 'None';
  /** Opaque; another value means that bound schemas changed. */
  readonly schemaHash: string;
  readonly terminating: boolean;
}

/** The export of this name; undefined when there is none. Rejects with the errors of KubeClient, ProtocolError included. */
export async function readExport(
  { client, namespace }: ProviderContract,
  name: string,
  options?: RequestOptions,
): Promise<ProviderExport | undefined> {
  try {
    return parseExport(await client.get(GVR.exports, { namespace, name }, options));
  } catch (error) {
    if (isObjectNotFound(error)) return undefined;
    throw error;
  }
}

/** @throws ProtocolError for a spec that is malformed or beyond the bounds */
export function parseExport(object: KubeObject): ProviderExport {
  const { name, uid, annotations, deletionTimestamp } = object.metadata;
  const spec = isJsonObject(object['spec']) ? object['spec'] : {};
  const what = `APIServiceExport ${untrustedText(name, 253)}`;
  const resources = readList(spec['resources'], MAX_RESOURCES, `${what}: spec.resources`);
  const claims = readList(spec['permissionClaims'] ?? [], MAX_CLAIMS, `${what}: spec.permissionClaims`);
  return {
    name,
    uid: uid ?? '',
    resources: resources.map((item) => ({ ...readResource(item, what), versions: readVersions(item) })),
    permissionClaims: claims.map((item) => {
      const selector = item['selector'];
      return { ...readResource(item, what), selector: isJsonObject(selector) ? selector : {} };
    }),
    informerScope: spec['informerScope'] === 'Cluster' ? 'Cluster' : 'Namespaced',
    isolation: readIsolation(spec['isolation'] ?? spec['clusterScopedIsolation']),
    schemaHash: untrustedText(annotations?.['kube-bind.io/source-spec-hash'], 256),
    terminating: deletionTimestamp !== undefined,
  };
}

/** A word that is not known means None, as it does for a konnector. */
function readIsolation(value: JsonValue | undefined): ProviderExport['isolation'] {
  return value === 'Prefixed' || value === 'Namespaced' ? value : 'None';
}

function readList(value: JsonValue | undefined, max: number, what: string): JsonObject[] {
  if (!Array.isArray(value)) throw new ProtocolError(`${what} is not a list`);
  if (value.length > max) throw new ProtocolError(`${what} has more than ${max} entries`);
  return value.map((item) => {
    if (isJsonObject(item)) return item;
    throw new ProtocolError(`${what} has an entry that is no object`);
  });
}

function readResource(item: JsonObject, what: string): { group: string; resource: string } {
  const group = item['group'] ?? '';
  const { resource } = item;
  if (typeof group !== 'string' || typeof resource !== 'string' || resource === '')
    throw new ProtocolError(`${what} names a resource without group and resource`);
  return { group: group.slice(0, 253), resource: resource.slice(0, 253) };
}

function readVersions(item: JsonObject): string[] {
  const { versions } = item;
  return Array.isArray(versions)
    ? versions.slice(0, 32).filter((version) => typeof version === 'string')
    : [];
}
