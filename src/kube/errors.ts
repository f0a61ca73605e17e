import type { JsonObject } from './json-value.js';

/**
 * Stable codes of everything that can go wrong between this program and a server.
 * - `KUBE_API`: the server answered with a Kubernetes Status (or any answer of 400 and above)
 * - `KUBE_TRANSPORT`: no answer: refused, reset, time-out, TLS
 * - `KUBE_PROTOCOL`: an answer that is not what the protocol says: no JSON, too large, too deep
 * - `KUBE_ADDRESS_DENIED`: the address policy refuses the address
 * - `KUBECONFIG_INVALID`: a kubeconfig that cannot or may not be used
 */
export type KubeErrorCode =
  'KUBE_API' | 'KUBE_TRANSPORT' | 'KUBE_PROTOCOL' | 'KUBE_ADDRESS_DENIED' | 'KUBECONFIG_INVALID';

/** Base of the errors in `src/kube`; `code` narrows. */
export abstract class KubeError extends Error {
  abstract readonly code: KubeErrorCode;
}

/** The server's refusal. `status` is the HTTP status, `reason` the Status' reason (may be empty). */
export class ApiError extends KubeError {
  readonly code = 'KUBE_API';
  override readonly name = 'ApiError';
  readonly status: number;
  readonly reason: string;
  /** Milliseconds that the server asks to wait, from Retry-After or `details.retryAfterSeconds`. */
  readonly retryAfterMs: number | undefined;
  /** The Status object, when the body was one. */
  readonly body: JsonObject | undefined;

  constructor(init: {
    message: string;
    status: number;
    reason: string;
    retryAfterMs?: number | undefined;
    body?: JsonObject | undefined;
  }) {
    super(init.message);
    this.status = init.status;
    this.reason = init.reason;
    this.retryAfterMs = init.retryAfterMs;
    this.body = init.body;
  }
}

/** Nothing usable came back from the network. `kind` says at which step. */
export class TransportError extends KubeError {
  readonly code = 'KUBE_TRANSPORT';
  override readonly name = 'TransportError';
  readonly kind: 'connect' | 'tls' | 'timeout' | 'reset' | 'aborted';

  constructor(message: string, kind: TransportError['kind'], options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** The answer breaks the protocol or a byte, depth or line budget. */
export class ProtocolError extends KubeError {
  readonly code = 'KUBE_PROTOCOL';
  override readonly name: string = 'ProtocolError';
}

/** The answer is larger than its byte budget; asked for less at a time it may fit. */
export class AnswerTooLargeError extends ProtocolError {
  override readonly name = 'AnswerTooLargeError';
}

/** A JSON text is nested deeper than its budget; what is not so deep in it can be read. */
export class JsonTooDeepError extends ProtocolError {
  override readonly name = 'JsonTooDeepError';
}

/** The address policy refuses to dial; the message names host, address and the flag that would allow it. */
export class AddressDeniedError extends KubeError {
  readonly code = 'KUBE_ADDRESS_DENIED';
  override readonly name = 'AddressDeniedError';
}

/** A kubeconfig is refused; `field` is the path in it, for instance `users[0].user.exec`. */
export class KubeconfigError extends KubeError {
  readonly code = 'KUBECONFIG_INVALID';
  override readonly name = 'KubeconfigError';
  readonly field: string;

  constructor(message: string, field: string) {
    super(message);
    this.field = field;
  }
}

/** The server answered with this HTTP status. */
export function isStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status;
}

/** 404 with a Status that names an object: the API is served and the object is not there. */
export function isObjectNotFound(error: unknown): error is ApiError {
  if (!isStatus(error, 404) || error.reason !== 'NotFound') return false;
  const details = error.body?.['details'];
  return typeof details === 'object' && details !== null && 'name' in details && details['name'] !== '';
}
