import { isJsonObject } from '../kube/json-value.js';
import type { JsonObject, JsonValue } from '../kube/json-value.js';
import type { PatchGuard } from './virtual-workspace.js';

/**
 * A merge patch that fits one object, and one state of it, only: the server compares uid and
 * resourceVersion of a patch with those of the object and answers 409.
 *
 * @throws TypeError for a patch that would replace or remove the object's metadata as a whole
 */
export function guardedMergePatch(guard: PatchGuard, patch: JsonValue): JsonObject {
  if (!isJsonObject(patch)) throw new TypeError('a merge patch of an object must be an object');
  const { metadata } = patch;
  if (metadata !== undefined && !isJsonObject(metadata))
    throw new TypeError('a merge patch may not replace metadata as a whole');
  return {
    ...patch,
    metadata: {
      ...metadata,
      uid: guard.uid,
      ...(guard.resourceVersion === undefined ? {} : { resourceVersion: guard.resourceVersion }),
    },
  };
}

/** A JSON Patch that is applied to one object, and one state of it, only. */
export function guardedJsonPatch(guard: PatchGuard, operations: readonly JsonValue[]): JsonValue[] {
  const tests: JsonValue[] = [{ op: 'test', path: '/metadata/uid', value: guard.uid }];
  if (guard.resourceVersion !== undefined)
    tests.push({ op: 'test', path: '/metadata/resourceVersion', value: guard.resourceVersion });
  return [...tests, ...operations];
}
