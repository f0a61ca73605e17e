import { GROUP } from '../api/group.js';
import { unsupported } from './problem.js';

/** Groups that every kcp workspace serves itself: a bound API of such a group would shadow or be shadowed. */
const SERVED_BY_KCP = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'events.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'rbac.authorization.k8s.io',
]);

/** Group names without a dot that Kubernetes, and therefore kcp, allows. */
const SINGLE_WORD = new Set(['apps', 'batch', 'extensions', 'policy', 'autoscaling']);

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const APPROVAL_ANNOTATION = 'api-approved.kubernetes.io';

/** Throws SchemaProblem for a group that cannot or must not be imported. */
export function checkGroup(group: string, path: string): void {
  if (group === '' || group === 'core')
    throw unsupported(
      path,
      'the core API group cannot be imported: workspaces serve it themselves; ask the provider for an API of its own group',
    );
  if (group.length > 253 || !SUBDOMAIN.test(group))
    throw unsupported(path, `group "${group.slice(0, 253)}" is not a lower-case DNS name`);
  if (!group.includes('.') && !SINGLE_WORD.has(group))
    throw unsupported(path, `group "${group}" has no dot, which kcp does not allow`);
  if (group === GROUP || group === 'kcp.io' || group.endsWith('.kcp.io') || SERVED_BY_KCP.has(group))
    throw unsupported(
      path,
      `group "${group}" belongs to kcp or to this client and cannot be imported; ask the provider for an API of its own group`,
    );
}

/**
 * Annotations that the APIResourceSchema of a group needs. Kubernetes protects the groups of its own community;
 * its approval annotation may say "unapproved", which is the truth for a copy of somebody's API.
 */
export function schemaAnnotations(group: string): Record<string, string> {
  const guarded = ['k8s.io', 'kubernetes.io'].some((name) => group === name || group.endsWith(`.${name}`));
  return guarded ? { [APPROVAL_ANNOTATION]: 'unapproved, imported from a kube-bind provider' } : {};
}
