import { createHash } from 'node:crypto';

/**
 * Names of everything that the controller makes. Each is computed from a logical cluster and a UID, both
 * set by kcp, so no name depends on what a tenant writes and none is ever used again.
 */

/** Lower-case hex of SHA-256 over the parts, each preceded by its length so that parts cannot run together. */
export function digest(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${String(Buffer.byteLength(part))}:${part}`);
  return hash.digest('hex');
}

/** Key of a binding or connection: 20 hex digits over (logical cluster, UID). */
export function ownerKey(cluster: string, uid: string): string {
  return digest('owner', cluster, uid).slice(0, 20);
}

/** Name of a binding's generated APIExport, ServiceAccount, role and role binding: holds the binding's UID. */
export function generatedExportName(cluster: string, uid: string): string {
  return `kbb-${uid}-${ownerKey(cluster, uid).slice(0, 8)}`;
}

/** Name of the Secret with a generated export's identity. */
export function identitySecretName(cluster: string, uid: string): string {
  return `${generatedExportName(cluster, uid)}-identity`;
}

/** Name of the generated APIBinding in the consumer workspace. */
export function generatedBindingName(cluster: string, uid: string): string {
  return generatedExportName(cluster, uid);
}

/**
 * Name of an APIResourceSchema: `k<binding key>-<content hash>.<plural>.<group>`.
 * It starts with a letter and belongs to one generated export only (kcp fixes a schema's storage by the
 * first export that serves it).
 */
export function schemaName(
  owner: { readonly cluster: string; readonly uid: string },
  resource: { readonly plural: string; readonly group: string },
  contentHash: string,
): string {
  const prefix = `${schemaPrefix(owner)}${contentHash.slice(0, 12)}`;
  return `${prefix}.${resource.plural}.${resource.group === '' ? 'core' : resource.group}`;
}

/** True for names that `schemaName` gives to schemas of this binding. */
export function isSchemaOf(owner: { readonly cluster: string; readonly uid: string }, name: string): boolean {
  return name.startsWith(schemaPrefix(owner));
}

function schemaPrefix(owner: { readonly cluster: string; readonly uid: string }): string {
  return `k${ownerKey(owner.cluster, owner.uid).slice(0, 12)}-`;
}

/** Name of the Secret in the client workspace that holds a connection's account and login. */
export function connectionStateName(cluster: string, uid: string): string {
  return `connection-${ownerKey(cluster, uid)}`;
}
