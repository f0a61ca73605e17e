import type { Dispatcher } from 'undici';
import { AnswerTooLargeError } from '../errors.js';

/** Bytes that may wait for the reader before the socket is paused. */
const HIGH_WATER_BYTES = 1024 * 1024;

/** One HTTP request as undici takes it, without its handler. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, sent as they are. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | undefined;
}

/** Status line and headers of an answer. */
export interface ResponseHead {
  readonly status: number;
  /** Lower-case names; of repeated headers all values, joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * One answer as a stream that is read by `next`. Unlike a node stream it hands out every byte that arrived
 * before an error, so that the last events before a broken connection are not lost.
 */
export class ResponseStream {
  readonly #head: Promise<ResponseHead>;
  readonly #chunks: Buffer[] = [];
  #queuedBytes = 0;
  #settleHead: { resolve(head: ResponseHead): void; reject(error: unknown): void } | undefined;
  readonly #release: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #wake: (() => void) | undefined;
  #aborted: Error | undefined;
  #outcome: { readonly error: unknown } | 'ended' | undefined;

  /** @param release called once, when the answer has ended in any way */
  constructor(dispatcher: Dispatcher, request: HttpRequest, release: () => void = () => undefined) {
    this.#release = release;
    this.#head = new Promise((resolve, reject) => {
      this.#settleHead = { resolve, reject };
    });
    // Somebody may stop before he has asked for the head.
    this.#head.catch(() => undefined);
    // Deadlines are ours: they span queueing, connecting and headers, which undici's do not.
    const options = { ...request, body: request.body ?? null, headersTimeout: 0, bodyTimeout: 0 };
    try {
      dispatcher.dispatch(options, this.#handler());
    } catch (error) {
      this.#finish({ error });
    }
  }

  /** Settles once with the final status and headers, or rejects with what the network said. */
  head(): Promise<ResponseHead> {
    return this.#head;
  }

  /** The next bytes; undefined at the proper end. Rejects, after all bytes are out, with why it broke off. */
  async next(): Promise<Buffer | undefined> {
    while (this.#chunks.length === 0 && this.#outcome === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#queuedBytes -= chunk.length;
      if (this.#queuedBytes < HIGH_WATER_BYTES && this.#controller?.paused === true)
        this.#controller.resume();
      return chunk;
    }
    if (this.#outcome === 'ended') return undefined;
    throw this.#outcome?.error;
  }

  /** Breaks off with this reason, drops what is unread and frees the connection; no effect after the end. */
  abort(reason: Error): void {
    this.#chunks.length = 0;
    if (this.#outcome !== undefined) return;
    this.#aborted = reason;
    this.#controller?.abort(reason);
    this.#finish({ error: reason });
  }

  /** Throws the reason that was given to `abort`, if it came before the end. */
  throwIfAborted(): void {
    if (this.#aborted !== undefined) throw this.#aborted;
  }

  #handler(): Dispatcher.DispatchHandler {
    return {
      onRequestStart: (controller) => {
        this.#controller = controller;
        // Aborted while it waited for a connection.
        if (this.#aborted !== undefined) controller.abort(this.#aborted);
      },
      onResponseStart: (_, status, headers) => {
        if (status >= 200) this.#settleHead?.resolve({ status, headers: flatten(headers) });
      },
      onResponseData: (controller, chunk) => {
        if (this.#outcome !== undefined) return;
        this.#chunks.push(chunk);
        this.#queuedBytes += chunk.length;
        if (this.#queuedBytes >= HIGH_WATER_BYTES) controller.pause();
        this.#notify();
      },
      onResponseEnd: () => this.#finish('ended'),
      onResponseError: (_, error) => this.#finish({ error }),
    };
  }

  #finish(outcome: { readonly error: unknown } | 'ended'): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    this.#settleHead?.reject(outcome === 'ended' ? new Error('ended without a head') : outcome.error);
    this.#notify();
    this.#release();
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/** True for an encoding that was not asked for; decoding it could multiply a small answer. */
export function isCompressed(head: ResponseHead): boolean {
  const encoding = head.headers['content-encoding'];
  return encoding !== undefined && encoding !== 'identity';
}

/** Reads the rest of an answer. Rejects with an AnswerTooLargeError above `maxBytes`. */
export async function readAll(stream: ResponseStream, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (let chunk = await stream.next(); chunk !== undefined; chunk = await stream.next()) {
    size += chunk.length;
    if (size > maxBytes)
      throw new AnswerTooLargeError(`the answer is larger than the limit of ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size);
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
