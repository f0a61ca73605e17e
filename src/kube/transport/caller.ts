import type { Clock } from '../clock.js';
import { ApiError, ProtocolError, TransportError, type KubeError } from '../errors.js';
import { parseJsonCut, type CutJson } from '../json-cut.js';
import { openScope, reasonOf, whileScoped, type AbortScope } from './abort-scope.js';
import { apiErrorFromAnswer, MAX_ERROR_BODY_BYTES } from './api-error.js';
import { asKubeError } from './failure.js';
import type { ResponseStream } from './response-stream.js';
import { isCompressed, readAll, type HttpRequest, type ResponseHead } from './response-stream.js';
import { retryDelay } from './retry-delay.js';
import type { TokenLease } from './token-lanes.js';
import type { Session } from './session.js';
import type { TokenBucket } from './token-bucket.js';

/** A request before authentication. */
export interface ApiRequest {
  readonly method: HttpRequest['method'];
  /** Below the session's base path, query included. */
  readonly path: string;
  readonly body?: { readonly type: string; readonly text: string } | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** What a call has used up of its repetitions. */
interface Repetitions {
  waits: number;
  reconnects: number;
}

/** Limits and effects that all calls of one client share. */
export interface CallerOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly userAgent: string;
  readonly requestTimeoutMs: number;
  readonly maxRetries: number;
  readonly maxBodyBytes: number;
  readonly maxDepth: number;
  readonly maxHeapBytes: number;
  readonly bucket: TokenBucket | undefined;
}

/** A stream whose head said 200. */
export interface OpenStream {
  readonly stream: ResponseStream;
  /** `GET https://host/path`, for messages. */
  readonly what: string;
}

/** Sends requests of one client: authentication, rate limit, deadline, repetition, errors. */
export class Caller {
  readonly #options: CallerOptions;
  readonly #session: () => Session;

  /** @param session asked anew for every try, since credentials may be swapped in between */
  constructor(options: CallerOptions, session: () => Session) {
    this.#options = options;
    this.#session = session;
  }

  /**
   * The whole answer as JSON, apart from what is too deep in it. Rejects with ApiError, TransportError, ProtocolError
   * or AddressDeniedError.
   */
  async json(request: ApiRequest, options: CallOptions = {}): Promise<CutJson> {
    const { maxBodyBytes, maxDepth, maxHeapBytes } = this.#options;
    return this.#call(request, options, async (scope, what) => {
      const { stream } = await this.#exchange(request, 'requests', scope, what);
      const body = await whileScoped(scope, stream, () => readAll(stream, maxBodyBytes));
      return parseJsonCut(body, { maxBytes: maxBodyBytes, maxDepth, maxHeapBytes });
    });
  }

  /** Resolves when a watch's headers are there. From then on the caller owns the stream. */
  async open(request: ApiRequest, options: CallOptions = {}): Promise<OpenStream> {
    return this.#call(request, options, (scope, what) => this.#exchange(request, 'watches', scope, what));
  }

  async #call<T>(
    request: ApiRequest,
    options: CallOptions,
    attempt: (scope: AbortScope, what: string) => Promise<T>,
  ): Promise<T> {
    const { clock, requestTimeoutMs } = this.#options;
    const what = this.#describe(request);
    const timeoutMs = options.timeoutMs ?? requestTimeoutMs;
    const scope = openScope({ clock, timeoutMs, signal: options.signal, what });
    const done: Repetitions = { waits: 0, reconnects: 0 };
    try {
      for (;;) {
        try {
          return await attempt(scope, what);
        } catch (error) {
          await this.#beforeNextTry(scope.signal.aborted ? reasonOf(scope) : asKubeError(error, what), {
            done,
            scope,
            repeatable: request.method === 'GET',
          });
        }
      }
    } finally {
      scope.dispose();
    }
  }

  /** Resolves when the request should be sent again; rejects with the error when it is final. */
  async #beforeNextTry(
    error: KubeError,
    { done, scope, repeatable }: { done: Repetitions; scope: AbortScope; repeatable: boolean },
  ): Promise<void> {
    const { clock, maxRetries, random } = this.#options;
    // A kept-alive connection may be closed by the server at the moment it is used again.
    if (repeatable && error instanceof TransportError && error.kind === 'reset' && done.reconnects === 0) {
      done.reconnects++;
      return;
    }
    const delay = error instanceof ApiError ? retryDelay(error, done.waits, random()) : undefined;
    if (delay === undefined || done.waits >= maxRetries || clock.now() + delay >= scope.deadline) throw error;
    done.waits++;
    await clock.sleep(delay, scope.signal);
  }

  async #exchange(
    request: ApiRequest,
    kind: 'requests' | 'watches',
    scope: AbortScope,
    what: string,
  ): Promise<OpenStream> {
    await this.#options.bucket?.take(scope.signal);
    for (let renewed = false; ; renewed = true) {
      const { session, lease } = await this.#authenticate(scope.signal);
      const { stream, head } = await this.#send(request, { kind, session, lease, scope });
      if (head.status < 400) {
        checkHead(head, stream, what);
        return { stream, what };
      }
      const error = await this.#refusal(stream, head, scope, what);
      if (head.status !== 401 || renewed || !(await session.bearer.refresh(lease.token))) throw error;
    }
  }

  /** Asks again when the credentials were swapped meanwhile: the old session takes no more requests. */
  async #authenticate(signal: AbortSignal): Promise<{ session: Session; lease: TokenLease }> {
    for (;;) {
      const session = this.#session();
      const lease = await session.bearer.lease(signal);
      if (session === this.#session()) return { session, lease };
      lease.release();
    }
  }

  /** Sends, and waits for the head of the answer. */
  async #send(
    request: ApiRequest,
    how: {
      readonly kind: 'requests' | 'watches';
      readonly session: Session;
      readonly lease: TokenLease;
      readonly scope: AbortScope;
    },
  ): Promise<{ stream: ResponseStream; head: ResponseHead }> {
    const { kind, session, lease, scope } = how;
    try {
      scope.signal.throwIfAborted();
      const stream = session.connections.send(kind, this.#http(request, session, lease.token));
      return { stream, head: await whileScoped(scope, stream, () => stream.head()) };
    } finally {
      lease.release();
    }
  }

  #http(request: ApiRequest, session: Session, token: string | undefined): HttpRequest {
    return {
      method: request.method,
      path: session.basePath + request.path,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': this.#options.userAgent,
        ...session.identityHeaders,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(request.body === undefined ? {} : { 'content-type': request.body.type }),
      },
      body: request.body?.text,
    };
  }

  async #refusal(
    stream: ResponseStream,
    head: ResponseHead,
    scope: AbortScope,
    what: string,
  ): Promise<ApiError> {
    let body: Uint8Array = new Uint8Array();
    try {
      body = await whileScoped(scope, stream, () => readAll(stream, MAX_ERROR_BODY_BYTES));
    } catch (error) {
      // Too large or broken off: the HTTP status still says what matters.
      if (scope.signal.aborted) throw error;
    }
    return apiErrorFromAnswer({ what, ...head, body, now: this.#options.clock.now() });
  }

  /** Without the query, which may be long and says little. */
  #describe(request: ApiRequest): string {
    const { origin, basePath } = this.#session();
    return `${request.method} ${origin}${basePath}${request.path.split('?', 1)[0] ?? ''}`;
  }
}

/** Throws a ProtocolError, and frees the connection, for an answer that we do not read. */
function checkHead(head: ResponseHead, stream: ResponseStream, what: string): void {
  const redirect = `the server answered ${head.status}; redirects are not followed`;
  const problem =
    head.status >= 300
      ? redirect
      : isCompressed(head)
        ? 'the answer is compressed, which was not asked for'
        : undefined;
  if (problem === undefined) return;
  const error = new ProtocolError(`${what}: ${problem}`);
  stream.abort(error);
  throw error;
}
