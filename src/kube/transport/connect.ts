import type { Clock } from '../clock.js';
import type { ServerCredentials } from '../credentials.js';
import type { Dialler } from '../dialler/dialler.js';
import { DEFAULT_MAX_JSON_BYTES, DEFAULT_MAX_JSON_DEPTH, DEFAULT_MAX_JSON_HEAP_BYTES } from '../json.js';
import { Caller } from './caller.js';
import type { ReloadableClient } from './reloadable-client.js';
import { RestClient } from './rest-client.js';
import { SessionHolder } from './session-holder.js';
import { createTokenBucket } from './token-bucket.js';

/** What a client may cost, whatever the server sends. */
export interface Budgets {
  /** Bytes of one whole answer, a page of a list for instance. Default 64 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Bytes of one event of a watch. Default 8 MiB. */
  readonly maxLineBytes?: number | undefined;
  /** Bytes of the headers of an answer. Default 32 KiB. */
  readonly maxHeaderBytes?: number | undefined;
  /** Nesting of JSON. Default 512. */
  readonly maxDepth?: number | undefined;
  /** Bytes of heap that one answer or event may take once it is parsed, about. Default 256 MiB. */
  readonly maxHeapBytes?: number | undefined;
}

/** Effects and limits of one client. */
export interface ConnectOptions {
  readonly dialler: Dialler;
  readonly userAgent: string;
  /** Milliseconds for a whole request, waits and repetitions included, where the call does not say. */
  readonly requestTimeoutMs: number;
  /** Connections for requests at the same time; watches have others. Default 4. */
  readonly connections?: number | undefined;
  readonly budgets?: Budgets | undefined;
  readonly clock: Clock;
  /** 0 up to 1, for jitter. */
  readonly random: () => number;
  /** Repetitions after 429, and 503 with Retry-After. Default 3. */
  readonly maxRetries?: number | undefined;
  /** Requests a second, with bursts of twice as many. Absent: no limit of ours. */
  readonly qps?: number | undefined;
}

/**
 * Makes a client; connects at the first request.
 *
 * @throws KubeconfigError for a malformed `server`
 * @throws AddressDeniedError for a proxy that the dialler does not allow
 */
export function connect(credentials: ServerCredentials, options: ConnectOptions): ReloadableClient {
  const { clock, random, budgets = {}, qps } = options;
  const maxDepth = budgets.maxDepth ?? DEFAULT_MAX_JSON_DEPTH;
  const maxHeapBytes = budgets.maxHeapBytes ?? DEFAULT_MAX_JSON_HEAP_BYTES;
  const holder = new SessionHolder(credentials, {
    dialler: options.dialler,
    connections: options.connections ?? 4,
    connectTimeoutMs: Math.min(options.requestTimeoutMs, 10_000),
    maxHeaderBytes: budgets.maxHeaderBytes ?? 32 * 1024,
    clock,
  });
  const caller = new Caller(
    {
      clock,
      random,
      userAgent: options.userAgent,
      requestTimeoutMs: options.requestTimeoutMs,
      maxRetries: options.maxRetries ?? 3,
      maxBodyBytes: budgets.maxBodyBytes ?? DEFAULT_MAX_JSON_BYTES,
      maxDepth,
      maxHeapBytes,
      bucket: qps === undefined ? undefined : createTokenBucket(clock, qps, Math.max(1, Math.ceil(2 * qps))),
    },
    () => holder.current,
  );
  const maxLineBytes = budgets.maxLineBytes ?? 8 * 1024 * 1024;
  return new RestClient({
    holder,
    caller,
    clock,
    maxLineBytes,
    maxDepth,
    maxHeapBytes,
    requestTimeoutMs: options.requestTimeoutMs,
  });
}
