import type { JsonObject, JsonValue } from './json-value.js';
import type { Gvr, KubeObject, ObjectList, ObjectName, WatchEvent } from './object.js';

export type PatchType = 'merge' | 'json' | 'apply';

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the whole answer must be there. */
  readonly timeoutMs?: number | undefined;
}

export interface ListOptions extends RequestOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export interface WatchOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly resourceVersion: string;
  /** Milliseconds after which the server is asked to end the watch. */
  readonly serverTimeoutMs: number;
  /** Milliseconds of silence (no event, no bookmark) after which the connection counts as dead. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** Called when the server has accepted the watch, before the first event, which may be long in coming. */
  readonly onOpen?: (() => void) | undefined;
}

export interface PatchOptions extends RequestOptions {
  readonly subresource?: 'status' | undefined;
  /** Needed for `apply`. */
  readonly fieldManager?: string | undefined;
  readonly force?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface DeleteOptions extends RequestOptions {
  /** Preconditions: the server answers 409 where they do not hold. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
}

/**
 * One API server (or one path below it: a kcp workspace, a virtual workspace). Every method rejects
 * with one of the classes of `errors.ts`.
 */
export interface KubeClient {
  /** URL that all paths are joined to, for messages. */
  readonly baseUrl: string;
  get(gvr: Gvr, target: ObjectName, options?: RequestOptions): Promise<KubeObject>;
  list(gvr: Gvr, options?: ListOptions): Promise<ObjectList>;
  /** Ends normally when the server ends the stream; rejects with ApiError(410) when it has expired. */
  watch(gvr: Gvr, options: WatchOptions): AsyncIterable<WatchEvent>;
  /** Takes the namespace from the object's metadata. */
  create(gvr: Gvr, object: KubeObject, options?: RequestOptions): Promise<KubeObject>;
  /** PUT; metadata.resourceVersion must be there. */
  replace(
    gvr: Gvr,
    object: KubeObject,
    options?: RequestOptions & { subresource?: 'status' },
  ): Promise<KubeObject>;
  patch(
    gvr: Gvr,
    target: ObjectName,
    type: PatchType,
    body: JsonValue,
    options?: PatchOptions,
  ): Promise<KubeObject>;
  /** Resolves with the object still terminating, or undefined where the server says only Success. */
  delete(gvr: Gvr, target: ObjectName, options?: DeleteOptions): Promise<KubeObject | undefined>;
  /** Any other path, for instance `/apis` or a TokenRequest; `path` starts with a slash. */
  raw(method: 'GET' | 'POST', path: string, body?: JsonObject, options?: RequestOptions): Promise<JsonValue>;
  /** The same server, credentials and connections under `baseUrl + path`. */
  at(path: string): KubeClient;
  /** Ends every connection; idempotent. Clients made with `at` share them: close the first one only. */
  close(): Promise<void>;
}
