import {
  BINDING_ANNOTATION,
  BINDING_UID_LABEL,
  CLUSTER_LABEL,
  CONSUMER_GENERATION_ANNOTATION,
  COPIED_KEYS_ANNOTATION,
  DELETION_POLICY_ANNOTATION,
  DESIRED_HASH_ANNOTATION,
  EMPTY_LISTS_ANNOTATION,
  KUBE_BIND,
  ORPHANED_ANNOTATION,
} from '../../api/markers.js';
import type { JsonObject } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
import { guardedPatch } from './consumer-patch.js';
import type { GuardedPatch } from './consumer-patch.js';
import { member } from './field-access.js';
import { toPointer } from './json-pointer.js';

/** Every annotation and label that the sync itself puts on a copy. */
export const COPY_ANNOTATIONS: readonly string[] = [
  KUBE_BIND.clusterNamespace,
  KUBE_BIND.consumerNamespace,
  KUBE_BIND.consumerUid,
  KUBE_BIND.providerNamespace,
  KUBE_BIND.providerUid,
  KUBE_BIND.owner,
  CLUSTER_LABEL,
  BINDING_ANNOTATION,
  CONSUMER_GENERATION_ANNOTATION,
  DESIRED_HASH_ANNOTATION,
  EMPTY_LISTS_ANNOTATION,
  DELETION_POLICY_ANNOTATION,
  COPIED_KEYS_ANNOTATION,
];
export const COPY_LABELS: readonly string[] = [BINDING_UID_LABEL, KUBE_BIND.owner];

/** Takes the marks off a copy, so that it is an ordinary object of the provider from then on. */
export function stripMarks(copy: KubeObject): GuardedPatch {
  return guardedPatch(copy, removals(copy));
}

/**
 * The same for a related copy, with one note left on it: an ordinary object may be claimed, and then what was left
 * behind on one side would come back to the other.
 */
export function stripRelatedMarks(copy: KubeObject): GuardedPatch {
  const none: JsonObject[] =
    copy.metadata.annotations === undefined ? [{ op: 'add', path: '/metadata/annotations', value: {} }] : [];
  const note = {
    op: 'add',
    path: toPointer(['metadata', 'annotations', ORPHANED_ANNOTATION]),
    value: 'true',
  };
  return guardedPatch(copy, [...removals(copy), ...none, note]);
}

function removals(copy: KubeObject): readonly JsonObject[] {
  const { annotations, labels } = copy.metadata;
  const operations = [
    ...COPY_ANNOTATIONS.filter((key) => member(annotations, key) !== undefined).map((key) =>
      toPointer(['metadata', 'annotations', key]),
    ),
    ...COPY_LABELS.filter((key) => member(labels, key) !== undefined).map((key) =>
      toPointer(['metadata', 'labels', key]),
    ),
  ];
  return operations.map((path) => ({ op: 'remove', path }));
}
