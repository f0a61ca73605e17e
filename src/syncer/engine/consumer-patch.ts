import { SYNCER_FINALIZER } from '../../api/markers.js';
import type { JsonObject } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';

/** A JSON patch that the server refuses with 409 unless the object is the one, and in the state, that was seen. */
export type GuardedPatch = readonly JsonObject[];

/**
 * Puts the guard before the operations. `replace` and not `test`: a failed test is answered with 422, like
 * a value that the schema refuses; a stale resourceVersion with 409 [measured].
 */
export function guardedPatch(object: KubeObject, operations: readonly JsonObject[]): GuardedPatch {
  const { uid, resourceVersion } = object.metadata;
  return [
    ...(uid === undefined ? [] : [{ op: 'replace', path: '/metadata/uid', value: uid }]),
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion ?? '' },
    ...operations,
  ];
}

export function hasSyncerFinalizer(consumer: KubeObject): boolean {
  return finalizersOf(consumer).includes(SYNCER_FINALIZER);
}

/** Adds our finalizer and leaves all others. */
export function addFinalizer(consumer: KubeObject): GuardedPatch {
  const present = consumer.metadata.finalizers !== undefined;
  return guardedPatch(consumer, [
    present
      ? { op: 'add', path: '/metadata/finalizers/-', value: SYNCER_FINALIZER }
      : { op: 'add', path: '/metadata/finalizers', value: [SYNCER_FINALIZER] },
  ]);
}

/** Takes our finalizer off and leaves all others. */
export function removeFinalizer(consumer: KubeObject): GuardedPatch {
  const operations: JsonObject[] = [];
  finalizersOf(consumer).forEach((finalizer, index) => {
    if (finalizer === SYNCER_FINALIZER)
      operations.unshift({ op: 'remove', path: `/metadata/finalizers/${String(index)}` });
  });
  return guardedPatch(consumer, operations);
}

function finalizersOf(object: KubeObject): readonly string[] {
  const finalizers: unknown = object.metadata.finalizers;
  return Array.isArray(finalizers) ? finalizers.filter((item) => typeof item === 'string') : [];
}
