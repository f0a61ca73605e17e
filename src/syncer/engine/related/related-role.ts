import { BINDING_UID_LABEL, CLUSTER_LABEL, KUBE_BIND, ORPHANED_ANNOTATION } from '../../../api/markers.js';
import type { KubeObject } from '../../../kube/object.js';
import type { CopyMarks } from '../desired-copy.js';
import { member } from '../field-access.js';
import { isCopyOfBinding } from '../ownership.js';
import type { End } from './related-copy.js';
import { staysHome } from './related-kinds.js';
import type { RelatedKind } from './related-kinds.js';

/**
 * What an object of a claimed kind is, by its marks. Never by its name.
 * - `original`: nobody's copy; the claim decides whether it travels
 * - `ours`: a copy that this binding made: the only thing that is ever changed or deleted
 * - `sibling`: a copy that another binding of the same workspace and contract made
 * - `foreign`: what never travels and is never touched: somebody else's copy, one left behind, a kubeconfig of ours
 */
export type RelatedRole = 'original' | 'ours' | 'sibling' | 'foreign';

export function roleOf(object: KubeObject, at: End, kind: RelatedKind, marks: CopyMarks): RelatedRole {
  if (isCopyOfBinding(object, marks)) return 'ours';
  if (staysHome(object, kind) || annotation(object, ORPHANED_ANNOTATION) !== undefined) return 'foreign';
  if (!looksLikeCopy(object, at)) return 'original';
  const sameParties =
    annotation(object, KUBE_BIND.clusterNamespace) === marks.contractNamespace &&
    annotation(object, CLUSTER_LABEL) === marks.cluster;
  return sameParties ? 'sibling' : 'foreign';
}

/**
 * A copy says that the other side owns it. An object that says its own side does is an original there, although a
 * binding on that server's other side may have put it there: chains of providers work like that.
 */
function looksLikeCopy(object: KubeObject, at: End): boolean {
  const owner = member(object.metadata.labels, KUBE_BIND.owner);
  if (owner === at) return false;
  return owner !== undefined || member(object.metadata.labels, BINDING_UID_LABEL) !== undefined;
}

function annotation(object: KubeObject, key: string): string | undefined {
  const value = member(object.metadata.annotations, key);
  return typeof value === 'string' ? value : undefined;
}
