import { BINDING_UID_LABEL, CLUSTER_LABEL, KUBE_BIND } from '../../api/markers.js';
import type { KubeObject } from '../../kube/object.js';
import type { CopyMarks } from './desired-copy.js';
import { member } from './field-access.js';

/** Whose copy an object on the provider is, by its marks. Never by its name. */
export type CopyOwner =
  | { readonly kind: 'ours' }
  /** Made for this very object by the konnector: its marks, not ours. */
  | { readonly kind: 'konnector' }
  /** No marks at all, or not enough of them to prove anything. */
  | { readonly kind: 'unmarked' }
  /** Our contract namespace, another consumer object. `live`: that one may still exist somewhere. */
  | { readonly kind: 'otherConsumerObject'; readonly uid: string; readonly live: boolean }
  /** Another contract namespace: another consumer's. */
  | { readonly kind: 'otherContract'; readonly contractNamespace: string };

/**
 * Reads the marks of a provider's object that lies where the copy of `consumer` belongs.
 *
 * An object with another consumer UID at the place of a live consumer object cannot belong to any other
 * object of this workspace, since an object's name never changes. It may belong to another workspace that
 * shares the contract namespace: then its cluster mark is another one, and it counts as live.
 */
export function classifyCopy(
  copy: KubeObject,
  consumer: { readonly uid: string },
  marks: Pick<CopyMarks, 'cluster' | 'contractNamespace'>,
): CopyOwner {
  const contractNamespace = annotation(copy, KUBE_BIND.clusterNamespace);
  const uid = annotation(copy, KUBE_BIND.consumerUid);
  if (contractNamespace === undefined || contractNamespace === '') return { kind: 'unmarked' };
  if (contractNamespace !== marks.contractNamespace) return { kind: 'otherContract', contractNamespace };
  if (uid === undefined || uid === '') return { kind: 'unmarked' };
  const cluster = annotation(copy, CLUSTER_LABEL);
  const elsewhere = cluster !== undefined && cluster !== marks.cluster;
  if (uid !== consumer.uid || elsewhere) return { kind: 'otherConsumerObject', uid, live: elsewhere };
  return { kind: cluster === undefined ? 'konnector' : 'ours' };
}

/** True for a copy that this binding made, whichever consumer object it belongs to. */
export function isCopyOfBinding(copy: KubeObject, marks: CopyMarks): boolean {
  return (
    annotation(copy, KUBE_BIND.clusterNamespace) === marks.contractNamespace &&
    annotation(copy, CLUSTER_LABEL) === marks.cluster &&
    member(copy.metadata.labels, BINDING_UID_LABEL) === marks.bindingUid
  );
}

/**
 * True for an object that carries a mark of ours for this consumer object, however many others somebody has taken off.
 * No proof of anything, since the provider may write marks: only a reason to say what was left.
 */
export function wasCopyOf(object: KubeObject, consumerUid: string, marks: CopyMarks): boolean {
  return (
    annotation(object, KUBE_BIND.consumerUid) === consumerUid ||
    member(object.metadata.labels, BINDING_UID_LABEL) === marks.bindingUid
  );
}

function annotation(object: KubeObject, key: string): string | undefined {
  const value = member(object.metadata.annotations, key);
  return typeof value === 'string' ? value : undefined;
}
