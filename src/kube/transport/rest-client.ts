import type {
  DeleteOptions,
  ListOptions,
  PatchOptions,
  PatchType,
  RequestOptions,
  WatchOptions,
} from '../client.js';
import type { Clock } from '../clock.js';
import type { ServerCredentials } from '../credentials.js';
import { JsonTooDeepError, ProtocolError, TransportError } from '../errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json-value.js';
import { stringifyJson } from '../json.js';
import type { Gvr, KubeObject, ObjectList, ObjectName, WatchEvent } from '../object.js';
import { basePath, checkRawPath, resourcePath, withQuery, type Query } from '../paths.js';
import type { ApiRequest, Caller } from './caller.js';
import type { ReloadableClient } from './reloadable-client.js';
import { decodeAnswer, decodeList } from './decode-object.js';
import type { SessionHolder } from './session-holder.js';
import { readWatch } from './watch-stream.js';

const JSON_TYPE = 'application/json';
/** Kubernetes calls a server-side apply YAML; every JSON text is YAML. */
const PATCH_TYPES: Readonly<Record<PatchType, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** What a client and the ones made with `at` have in common. */
export interface RestClientParts {
  readonly holder: SessionHolder;
  readonly caller: Caller;
  readonly clock: Clock;
  readonly maxLineBytes: number;
  readonly maxDepth: number;
  readonly maxHeapBytes: number;
  readonly requestTimeoutMs: number;
}

/** The Kubernetes API on top of a Caller. */
export class RestClient implements ReloadableClient {
  readonly #parts: RestClientParts;
  readonly #prefix: string;

  /** @param prefix path between the credentials' server and the API's root */
  constructor(parts: RestClientParts, prefix = '') {
    this.#parts = parts;
    this.#prefix = prefix;
  }

  get baseUrl(): string {
    const { origin, basePath: base } = this.#parts.holder.current;
    return origin + base + this.#prefix;
  }

  async get(gvr: Gvr, target: ObjectName, options?: RequestOptions): Promise<KubeObject> {
    return this.#object({ method: 'GET', path: resourcePath(gvr, target) }, options);
  }

  async list(gvr: Gvr, options: ListOptions = {}): Promise<ObjectList> {
    const { namespace, labelSelector, fieldSelector, limit, resourceVersion } = options;
    const query = { labelSelector, fieldSelector, limit, continue: options.continue, resourceVersion };
    const path = withQuery(resourcePath(gvr, { namespace }), query);
    const request = this.#request({ method: 'GET', path });
    return decodeList(await this.#parts.caller.json(request, options), this.#name(request));
  }

  async *watch(gvr: Gvr, options: WatchOptions): AsyncGenerator<WatchEvent, void, undefined> {
    const { namespace, labelSelector, fieldSelector, resourceVersion, signal, silenceMs } = options;
    const { holder, caller, clock, maxLineBytes, maxDepth, maxHeapBytes, requestTimeoutMs } = this.#parts;
    const query: Query = {
      watch: true,
      allowWatchBookmarks: true,
      timeoutSeconds: Math.max(1, Math.ceil(options.serverTimeoutMs / 1000)),
      labelSelector,
      fieldSelector,
      resourceVersion,
    };
    const request = this.#request({
      method: 'GET',
      path: withQuery(resourcePath(gvr, { namespace }), query),
    });
    const session = holder.current;
    const timeoutMs = Math.min(requestTimeoutMs, silenceMs);
    const open = await caller.open(request, { signal, timeoutMs });
    options.onOpen?.();
    const limits = {
      clock,
      silenceMs,
      maxDurationMs: options.serverTimeoutMs + silenceMs,
      maxLineBytes,
      maxDepth,
      maxHeapBytes,
    };
    yield* readWatch(open, limits, (end) => {
      const onAbort = (): void =>
        end(new TransportError(`${open.what}: aborted`, 'aborted', { cause: signal.reason }));
      signal.addEventListener('abort', onAbort, { once: true });
      const untrack = holder.track(end);
      if (signal.aborted) onAbort();
      // The credentials may have been swapped while the watch was being opened with the old ones.
      else if (holder.current !== session) end();
      return () => {
        signal.removeEventListener('abort', onAbort);
        untrack();
      };
    });
  }

  async create(gvr: Gvr, object: KubeObject, options?: RequestOptions): Promise<KubeObject> {
    const path = resourcePath(gvr, { namespace: object.metadata.namespace });
    return this.#object({ method: 'POST', path, body: jsonBody(object) }, options);
  }

  async replace(
    gvr: Gvr,
    object: KubeObject,
    options?: RequestOptions & { subresource?: 'status' },
  ): Promise<KubeObject> {
    const { namespace, name, resourceVersion } = object.metadata;
    // Without it some resources would take the PUT unconditionally, over somebody else's change.
    if (resourceVersion === undefined || resourceVersion === '')
      throw new ProtocolError(`cannot replace ${gvr.resource} ${name}: metadata.resourceVersion is missing`);
    const path = resourcePath(gvr, { namespace, name, subresource: options?.subresource });
    return this.#object({ method: 'PUT', path, body: jsonBody(object) }, options);
  }

  // eslint-disable-next-line max-params -- the contract of KubeClient
  async patch(
    gvr: Gvr,
    target: ObjectName,
    type: PatchType,
    body: JsonValue,
    options: PatchOptions = {},
  ): Promise<KubeObject> {
    const query = {
      fieldManager: options.fieldManager,
      // The server refuses `force` on any other kind of patch.
      force: type === 'apply' ? options.force : undefined,
      dryRun: options.dryRun === true ? 'All' : undefined,
    };
    const path = withQuery(resourcePath(gvr, { ...target, subresource: options.subresource }), query);
    const content = { type: PATCH_TYPES[type], text: stringifyJson(body) };
    return this.#object({ method: 'PATCH', path, body: content }, options);
  }

  async delete(gvr: Gvr, target: ObjectName, options: DeleteOptions = {}): Promise<KubeObject | undefined> {
    const { uid, resourceVersion, propagationPolicy } = options;
    const preconditions = { uid, resourceVersion };
    const body: JsonObject = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: uid === undefined && resourceVersion === undefined ? undefined : preconditions,
      propagationPolicy,
    };
    const request = this.#request({
      method: 'DELETE',
      path: resourcePath(gvr, target),
      body: jsonBody(body),
    });
    const answer = await this.#parts.caller.json(request, options);
    const { value } = answer;
    if (isJsonObject(value) && value['kind'] === 'Status') return undefined;
    return decodeAnswer(answer, this.#name(request));
  }

  async raw(
    method: 'GET' | 'POST',
    path: string,
    body?: JsonObject,
    options?: RequestOptions,
  ): Promise<JsonValue> {
    checkRawPath(path);
    const request = this.#request({ method, path, body: body === undefined ? undefined : jsonBody(body) });
    const { value, cut } = await this.#parts.caller.json(request, options);
    if (cut) throw new JsonTooDeepError(`${this.#name(request)}: the answer is nested too deep`);
    return value;
  }

  at(path: string): RestClient {
    return new RestClient(this.#parts, this.#prefix + basePath(path));
  }

  setCredentials(credentials: ServerCredentials): void {
    this.#parts.holder.replace(credentials);
  }

  async close(): Promise<void> {
    await this.#parts.holder.close();
  }

  async #object(request: ApiRequest, options: RequestOptions | undefined): Promise<KubeObject> {
    const full = this.#request(request);
    return decodeAnswer(await this.#parts.caller.json(full, options), this.#name(full));
  }

  #request(request: ApiRequest): ApiRequest {
    return { ...request, path: this.#prefix + request.path };
  }

  #name(request: ApiRequest): string {
    return `${request.method} ${request.path.split('?', 1)[0] ?? ''}`;
  }
}

function jsonBody(value: JsonValue): { type: string; text: string } {
  return { type: JSON_TYPE, text: stringifyJson(value) };
}
