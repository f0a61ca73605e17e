import { ApiError } from '../../../../kube/errors.js';
import type { JsonObject } from '../../../../kube/json-value.js';
import type { KubeObject, ObjectMeta } from '../../../../kube/object.js';
import type { ApplyResult } from '../../../engine/testing/model-apply.js';

/** A refusal as an API server words it. */
export function apiError(status: number, reason: string, message: string, details?: JsonObject): ApiError {
  const body: JsonObject = { kind: 'Status', status: 'Failure', reason, message, code: status };
  if (details !== undefined) body['details'] = details;
  return new ApiError({ status, reason, message, body });
}

export const staleVersion = (): ApiError => apiError(409, 'Conflict', 'the object has been modified');

export const otherUid = (): ApiError =>
  apiError(422, 'Invalid', 'metadata.uid: field is immutable', {
    causes: [{ reason: 'FieldValueInvalid', field: 'metadata.uid' }],
  });

/** Preconditions that an applied object carries. */
export function checkApplied(old: KubeObject | undefined, { uid, resourceVersion }: ObjectMeta): void {
  if (uid === undefined && resourceVersion === undefined) return;
  if (old === undefined) throw apiError(409, 'Conflict', 'uid mismatch: no existing object was found');
  if (resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion) throw staleVersion();
  if (uid !== undefined && uid !== old.metadata.uid) throw otherUid();
}

export function refusedApply(result: Exclude<ApplyResult, { kind: 'merged' }>): ApiError {
  switch (result.kind) {
    case 'unknown':
      return apiError(500, '', `failed to create typed patch object: ${result.fields.join(', ')}`);
    case 'conflict':
      return apiError(409, 'Conflict', result.fields.join(', '), {
        causes: [{ reason: 'FieldManagerConflict', field: result.fields.join() }],
      });
    case 'null':
      return apiError(422, 'Invalid', `${result.field}: Invalid value: "null"`, {
        causes: [{ reason: 'FieldValueTypeInvalid', field: result.field }],
      });
  }
}
