import { createHmac } from 'node:crypto';
import { backendBase } from './http/backend-url.js';

/** Changes only together with a migration: another identity is another account on every provider. */
const ENCODING = 'kcp-kube-bind/identity/v1';
const KEY_BYTES = 32;

/** What one account at a backend belongs to. */
export interface IdentitySubject {
  /** UID of the workspace's LogicalCluster: a workspace that is made again is another one. */
  readonly clusterUid: string;
  readonly connectionName: string;
  /** From `normalizeOrigin`: no backend may learn the identity that another one trusts. */
  readonly origin: string;
  readonly clusterID?: string | undefined;
  /** `spec.backend.account`. */
  readonly account?: string | undefined;
}

/**
 * The consumer identity for a backend, 43 characters of base64url. The backend hands the account out to whoever knows
 * it, so it cannot be computed without the installation's key, and must never be shown, logged or stored in a workspace.
 *
 * @throws RangeError for a key of less than 32 bytes
 */
export function consumerIdentity(key: Uint8Array, subject: IdentitySubject): string {
  if (key.byteLength < KEY_BYTES)
    throw new RangeError(`the installation key has less than ${KEY_BYTES} bytes`);
  const parts = [
    ENCODING,
    subject.clusterUid,
    subject.connectionName,
    subject.origin,
    subject.clusterID ?? '',
    subject.account ?? 'default',
  ];
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(`${Buffer.byteLength(part)}:${part}`);
  return mac.digest('base64url');
}

/**
 * One text for all URLs that mean the same backend: scheme, host in lower case, port unless it is the scheme's, and
 * the path prefix.
 *
 * @throws BackendError `BACKEND_INVALID_URL`
 */
export function normalizeOrigin(url: string): string {
  return backendBase(url).href.replace(/\/+$/, '');
}
