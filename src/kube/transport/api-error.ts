import { ApiError } from '../errors.js';
import { isJsonObject, type JsonObject } from '../json-value.js';
import { parseJson } from '../json.js';

/** Bytes that are read of an error answer; a Status is far smaller. */
export const MAX_ERROR_BODY_BYTES = 256 * 1024;
const MAX_MESSAGE_CHARS = 16 * 1024;
const MAX_RETRY_AFTER_MS = 3_600_000;

/** Turns an answer of 400 and above into an ApiError. `what` is the request, for answers without a Status. */
export function apiErrorFromAnswer(answer: {
  readonly what: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly now: number;
}): ApiError {
  const status = readStatus(answer.body);
  return new ApiError({
    message: messageOf(status) ?? `${answer.what}: the server answered ${answer.status}`,
    status: answer.status,
    reason: textOf(status?.['reason']),
    retryAfterMs: parseRetryAfter(answer.headers['retry-after'], answer.now) ?? retryAfterOf(status),
    body: status,
  });
}

/** Turns the Status of an in-stream ERROR event into an ApiError; without a code it counts as 500. */
export function apiErrorFromStatus(status: JsonObject, what: string): ApiError {
  const code = status['code'];
  return new ApiError({
    message: messageOf(status) ?? `${what}: the server ended the watch with an error`,
    status: typeof code === 'number' && code >= 400 && code <= 599 ? code : 500,
    reason: textOf(status['reason']),
    retryAfterMs: retryAfterOf(status),
    body: status,
  });
}

/** Seconds or an HTTP date, as milliseconds from now; undefined when absent or malformed. At most an hour. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

function readStatus(body: Uint8Array): JsonObject | undefined {
  try {
    const value = parseJson(body, { maxBytes: MAX_ERROR_BODY_BYTES });
    return isJsonObject(value) && value['kind'] === 'Status' ? value : undefined;
  } catch {
    // Proxies answer with HTML or plain text; the HTTP status is all there is to say then.
    return undefined;
  }
}

function retryAfterOf(status: JsonObject | undefined): number | undefined {
  const details = status?.['details'];
  const seconds = isJsonObject(details) ? details['retryAfterSeconds'] : undefined;
  if (typeof seconds !== 'number' || seconds <= 0) return undefined;
  return Math.min(seconds * 1000, MAX_RETRY_AFTER_MS);
}

function messageOf(status: JsonObject | undefined): string | undefined {
  const message = textOf(status?.['message']);
  return message === '' ? undefined : message.slice(0, MAX_MESSAGE_CHARS);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
