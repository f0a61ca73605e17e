import { CREDENTIALS_LABEL } from '../../../api/markers.js';
import { GVR } from '../../../api/gvr.js';
import type { Gvr } from '../../../api/gvr.js';
import type { KubeObject } from '../../../kube/object.js';
import { member } from '../field-access.js';

/** A resource that providers may claim. */
export interface RelatedKind {
  readonly gvr: Gvr;
  readonly kind: string;
  /** Top-level fields that are copied; all others are left alone on the copy. */
  readonly fields: readonly string[];
}

/** All that kube-bind lets a provider claim. */
export const RELATED_KINDS: readonly RelatedKind[] = [
  { gvr: GVR.secrets, kind: 'Secret', fields: ['data', 'type', 'immutable'] },
  { gvr: GVR.configMaps, kind: 'ConfigMap', fields: ['data', 'binaryData', 'immutable'] },
  // Not `secrets`: each server keeps that list for tokens of its own.
  {
    gvr: GVR.serviceAccounts,
    kind: 'ServiceAccount',
    fields: ['imagePullSecrets', 'automountServiceAccountToken'],
  },
];

export function relatedKind(group: string, resource: string): RelatedKind | undefined {
  return RELATED_KINDS.find(({ gvr }) => gvr.group === group && gvr.resource === resource);
}

/** Tokens are good on their own server only, and the other one would delete or refill the copy. */
const TOKEN_TYPES = new Set(['kubernetes.io/service-account-token', 'bootstrap.kubernetes.io/token']);
/** What every server puts into every namespace by itself. */
const SERVER_MADE = new Set(['ConfigMap/kube-root-ca.crt', 'ServiceAccount/default']);

/**
 * True for what never moves, whatever a claim says: kubeconfigs of connections, tokens of ServiceAccounts, and what
 * each server makes for itself.
 */
export function staysHome(object: KubeObject, { kind }: RelatedKind): boolean {
  if (member(object.metadata.labels, CREDENTIALS_LABEL) !== undefined) return true;
  if (SERVER_MADE.has(`${kind}/${object.metadata.name}`)) return true;
  const type = object['type'];
  return kind === 'Secret' && typeof type === 'string' && TOKEN_TYPES.has(type);
}
