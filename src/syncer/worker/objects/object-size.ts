import { ApiError } from '../../../kube/errors.js';
import { isJsonObject } from '../../../kube/json-value.js';
import type { JsonObject } from '../../../kube/json-value.js';
import { stringifyJson } from '../../../kube/json.js';
import { isLikelyTooLarge } from '../../../kube/store-limit.js';
import type { KubeObject } from '../../../kube/object.js';

/** An object that is too large is tried again after this long at least: the whole of it is sent each time. */
export const TOO_LARGE_MS = 60_000;

/** A write that was refused, or looks refused, for its size. */
export interface TooLarge {
  readonly bytes: number;
  /** Says how large it is and what to do. */
  readonly advice: string;
}

/** Undefined where the size of what was sent is not the trouble. Pure. */
export function tooLarge(error: unknown, sent: KubeObject): TooLarge | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.status === 422) {
    if (!hasTooLongAnnotations(error)) return undefined;
    const bytes = bytesOf(sent.metadata.annotations ?? {});
    return { bytes, advice: `They are about ${inKiB(bytes)} large with those that the sync adds.` };
  }
  const bytes = bytesOf(sent);
  if (error.status !== 413 && !isLikelyTooLarge(error, bytes)) return undefined;
  const what = sent['status'] === undefined ? 'The object' : 'The status';
  return { bytes, advice: `${what} is about ${inKiB(bytes)} large: it may be more than is stored there.` };
}

/** Bytes of the JSON text. */
export function bytesOf(value: JsonObject): number {
  return Buffer.byteLength(stringifyJson(value));
}

function inKiB(bytes: number): string {
  return `${String(Math.ceil(bytes / 1024))} KiB`;
}

function hasTooLongAnnotations({ body }: ApiError): boolean {
  const details = body?.['details'];
  const causes = isJsonObject(details) ? details['causes'] : undefined;
  if (!Array.isArray(causes)) return false;
  return causes
    .filter(isJsonObject)
    .some(({ field, reason }) => field === 'metadata.annotations' && reason === 'FieldValueTooLong');
}
