import { ApiError, KubeError, TransportError } from '../../../kube/errors.js';
import { isJsonObject } from '../../../kube/json-value.js';
import type { JsonObject } from '../../../kube/json-value.js';
import type { Gvr, ObjectName } from '../../../kube/object.js';

/**
 * What an error of a request about one object means.
 * - `stale`: the object is another one, or in another state, than the request was made for: read it again
 * - `gone`: 404 with a Status that names the object
 * - `namespaceGone`: its namespace is missing or terminating
 * - `refused`: the server does not want this object (validation, admission, size); others may pass
 * - `unexplained`: 500 without a reason: what servers say to an apply with fields that their schema lacks
 * - `internal`: 500 with a reason, a broken webhook for instance: this object again later, others may pass
 * - `forbidden`, `unauthorized`: the account
 * - `notServed`: the server does not serve the API here and now
 * - `unreachable`: no answer, or none that makes sense, or "later"
 */
export type FailureKind =
  | 'stale'
  | 'gone'
  | 'namespaceGone'
  | 'refused'
  | 'unexplained'
  | 'internal'
  | 'forbidden'
  | 'unauthorized'
  | 'notServed'
  | 'unreachable';

/** Reads codes, reasons and causes; never message texts. */
export function classifyFailure(error: unknown, gvr: Gvr, target: ObjectName): FailureKind {
  if (!(error instanceof ApiError)) return 'unreachable';
  switch (error.status) {
    case 401:
      return 'unauthorized';
    case 403:
      return hasCause(error, 'reason', 'NamespaceTerminating') ? 'namespaceGone' : 'forbidden';
    case 404:
      return classifyNotFound(error, gvr, target);
    case 409:
      return 'stale';
    case 422:
      // An apply with the uid of a former object of that name.
      return hasCause(error, 'field', 'metadata.uid') ? 'stale' : 'refused';
    case 500:
      return error.reason === '' ? 'unexplained' : 'internal';
    default:
      return REFUSALS.has(error.status) ? 'refused' : 'unreachable';
  }
}

/** Bad request, method, size, media type: the same request will not do better. */
const REFUSALS: ReadonlySet<number> = new Set([400, 405, 413, 415]);

function classifyNotFound(error: ApiError, gvr: Gvr, target: ObjectName): FailureKind {
  const details = error.body?.['details'];
  if (error.reason !== 'NotFound' || !isJsonObject(details)) return 'notServed';
  const kind = details['kind'];
  if (kind === 'namespaces' && gvr.resource !== 'namespaces') return 'namespaceGone';
  // The resource is named by its plural or its kind, depending on who answers; another resource's 404 says nothing.
  const sameGroup = details['group'] === undefined || details['group'] === gvr.group;
  return details['name'] === target.name && sameGroup ? 'gone' : 'notServed';
}

function hasCause(error: ApiError, key: 'reason' | 'field', value: string): boolean {
  return causesOf(error).some((cause) => cause[key] === value);
}

function causesOf(error: ApiError): readonly JsonObject[] {
  const details = error.body?.['details'];
  const causes = isJsonObject(details) ? details['causes'] : undefined;
  return Array.isArray(causes) ? causes.filter(isJsonObject) : [];
}

/** True for the end of our own work, not a failure of a server. */
export function isAborted(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || (error instanceof TransportError && error.kind === 'aborted');
}

/** Text of an error for conditions and events: the server's own words, bounded. */
export function failureText(error: unknown): string {
  if (!(error instanceof KubeError)) return 'unexpected error; the log of the controller says more';
  return bounded(error.message);
}

const MAX_TEXT = 1024;

/** No more than an event or a condition should hold. */
export function bounded(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
}
