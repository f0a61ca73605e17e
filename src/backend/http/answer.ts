import { untrustedText } from '../../api/untrusted-text.js';
import { KubeError } from '../../kube/errors.js';
import type { ForeignResponse } from '../../kube/foreign-http.js';
import { parseJson } from '../../kube/json.js';
import { isJsonObject, type JsonObject } from '../../kube/json-value.js';
import { BackendError, type BackendErrorCode } from '../errors.js';

const MAX_BACKEND_TEXT = 300;
const MAX_DEPTH = 64;

/** What a request was about, for messages. */
export interface Question {
  /** Without the query. */
  readonly url: string;
  /** For instance `list the templates`. */
  readonly purpose: string;
  /** Texts that the backend may echo and nobody may see. */
  readonly secrets: readonly string[];
}

/** `<status> <content type>`, as far as the backend said one. */
export function describeAnswer(response: ForeignResponse): string {
  const type = untrustedText(response.headers['content-type'], 100);
  return `status ${response.status} and ${type === '' ? 'no content type' : `content type ${type}`}`;
}

/** The answer as a JSON object; undefined for any other content, whatever its type says. */
export function readJsonObject(response: ForeignResponse): JsonObject | undefined {
  const type = (response.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') return undefined;
  try {
    const value = parseJson(response.body, { maxDepth: MAX_DEPTH });
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}

/** The JSON object of a successful answer to a request that needs a login. */
export function successBody(response: ForeignResponse, question: Question): JsonObject {
  if (response.status !== 200) throw refusal(response, question);
  const body = readJsonObject(response);
  if (body === undefined)
    throw new BackendError(
      'BACKEND_INVALID_ANSWER',
      `${question.url} answered with ${describeAnswer(response)} where a JSON object was expected. ` +
        'Check that nothing between here and the backend rewrites its answers',
      { status: response.status },
    );
  return body;
}

const REFUSALS: Readonly<Record<number, { code: BackendErrorCode; remedy: string }>> = {
  401: {
    code: 'BACKEND_UNAUTHORIZED',
    remedy: 'Log in again: a login lasts for an hour and ends when the backend restarts',
  },
  403: {
    code: 'BACKEND_FORBIDDEN',
    remedy: "Ask the provider's administrator to let this user bind",
  },
  404: {
    code: 'BACKEND_NOT_FOUND',
    remedy: 'Look at what the provider offers now, and choose one of its templates',
  },
};

function refusal(response: ForeignResponse, question: Question): BackendError {
  const { code, remedy } = REFUSALS[response.status] ?? {
    code: 'BACKEND_REFUSED' as const,
    remedy:
      response.status >= 500
        ? 'Try again later; where a clusterID is set, check that the backend knows it'
        : "Ask the provider's administrator",
  };
  const text = backendText(response, question);
  const said = text === '' ? '' : `; it says: ${text}`;
  return new BackendError(
    code,
    `${question.url} refused to ${question.purpose} with ${describeAnswer(response)}${said}. ${remedy}`,
    { status: response.status },
  );
}

/** The backend's own words, cut, and without what we keep secret. */
function backendText(response: ForeignResponse, question: Question): string {
  const message = readJsonObject(response)?.['message'];
  if (typeof message !== 'string') return '';
  let text = message.slice(0, 4096);
  for (const secret of question.secrets) if (secret !== '') text = text.replaceAll(secret, '[hidden]');
  return untrustedText(text, MAX_BACKEND_TEXT);
}
