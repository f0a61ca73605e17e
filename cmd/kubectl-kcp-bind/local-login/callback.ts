import { timingSafeEqual } from 'node:crypto';
import { decodeBase64Text } from '../../../src/backend/http/base64-text.js';
import { readBindAnswer, type BindResult } from '../../../src/backend/http/bind-answer.js';
import { NONCE_PARAMETER, parseCallback } from '../../../src/backend/http/callback.js';
import { BackendError } from '../../../src/backend/errors.js';
import { parseJson } from '../../../src/kube/json.js';
import { KubeError } from '../../../src/kube/errors.js';
import { isJsonObject } from '../../../src/kube/json-value.js';

/** What ties a callback to the login that this run has begun. */
export interface ExpectedCallback {
  readonly nonce: string;
  readonly sessionId: string;
}

/** What a request to the loopback listener means. */
export type CallbackJudgement =
  /** The login has succeeded: a token for the backend's API. */
  | { readonly kind: 'token'; readonly token: string }
  /** The provider's own web page has made the bind request already. */
  | { readonly kind: 'bound'; readonly result: BindResult }
  /** The login has failed, and ours it was. Both texts come from outside. */
  | { readonly kind: 'failure'; readonly error: string; readonly description: string }
  /** Not ours, or damaged: it is refused, and the wait goes on. */
  | { readonly kind: 'stray'; readonly why: string };

/** The backend's answer in base64 and its dialects: 64 KiB of kubeconfig and some requests. */
const MAX_RESPONSE = 1024 * 1024;
const MAX_DEPTH = 64;

/**
 * Judges the query with which a browser comes back. Any page and any program of this machine can send one: what does
 * not carry the nonce, or whose token or response belongs to another session, changes nothing.
 */
export function judgeCallback(query: URLSearchParams, expected: ExpectedCallback): CallbackJudgement {
  const values = single(query);
  if (!same(values[NONCE_PARAMETER], expected.nonce)) {
    return { kind: 'stray', why: 'it does not belong to a login of this command' };
  }
  if (Object.hasOwn(values, 'binding_response')) return judgeResponse(values, expected);
  const callback = parseCallback(values);
  if (callback.kind === 'failure') {
    const { description, error } = callback;
    // Nothing that makes sense is no end of the login either.
    if (error === 'invalid_callback') return { kind: 'stray', why: description };
    return { kind: 'failure', error, description };
  }
  if (!same(callback.sessionId, expected.sessionId)) {
    return { kind: 'stray', why: 'its token belongs to another login' };
  }
  return { kind: 'token', token: callback.token };
}

function judgeResponse(
  values: Readonly<Record<string, string>>,
  expected: ExpectedCallback,
): CallbackJudgement {
  if (!same(values['session_id'], expected.sessionId)) {
    return { kind: 'stray', why: 'its response belongs to another login' };
  }
  const encoded = values['binding_response'] ?? '';
  const text = encoded.length > MAX_RESPONSE ? undefined : decodeBase64Text(encoded);
  if (text === undefined) return { kind: 'stray', why: 'its response is damaged' };
  try {
    const body = parseJson(Buffer.from(text), { maxDepth: MAX_DEPTH });
    if (!isJsonObject(body)) return { kind: 'stray', why: 'its response is no JSON object' };
    return { kind: 'bound', result: readBindAnswer(body, 'the page of the provider') };
  } catch (error) {
    if (error instanceof BackendError || error instanceof KubeError) {
      return { kind: 'stray', why: 'its response cannot be read' };
    }
    throw error;
  }
}

/** A parameter that comes twice counts as missing. */
function single(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries(
    [...new Set(query.keys())].flatMap((key) => {
      const all = query.getAll(key);
      return all.length === 1 ? [[key, all[0] ?? '']] : [];
    }),
  );
}

function same(given: string | undefined, expected: string): boolean {
  if (given === undefined) return false;
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
