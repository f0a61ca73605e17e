import { KCP_CLUSTER_ANNOTATION } from '../../api/markers.js';
import type { KubeClient, ListOptions, WatchOptions } from '../client.js';
import { ApiError, TransportError } from '../errors.js';
import type { JsonObject } from '../json-value.js';
import type { KubeObject, ObjectList, WatchEvent } from '../object.js';

interface Change {
  readonly version: number;
  readonly event: Extract<WatchEvent, { type: 'ADDED' | 'MODIFIED' | 'DELETED' }>;
}

interface Stream {
  readonly push: (event: WatchEvent) => void;
  readonly end: (error?: Error) => void;
}

/** Names an object of a model server. */
export interface ModelName {
  readonly cluster: string;
  readonly namespace?: string;
  readonly name: string;
}

/** One resource on an API server, with the faults of a real one on demand. For tests. */
export class ModelServer {
  readonly objects = new Map<string, KubeObject>();
  readonly #log: Change[] = [];
  readonly #snapshots = new Map<string, KubeObject[]>();
  readonly #streams = new Set<Stream>();
  #version = 1;
  #uid = 0;
  #oldest = 0;
  #token = 0;

  /** Errors that the next lists and watches are answered with, one each. */
  readonly listFaults: Error[] = [];
  readonly watchFaults: Error[] = [];
  /** Asked before each list and watch; what it gives is the answer. */
  always: { list?: () => Error | undefined; watch?: () => Error | undefined } = {};
  readonly calls: { readonly verb: 'list' | 'watch'; readonly options: ListOptions | WatchOptions }[] = [];

  /** Not a number on purpose: nobody may compare them. */
  #text(version: number): string {
    return `rv-${version.toString(36)}`;
  }

  put(target: ModelName, content: JsonObject = {}): KubeObject {
    const key = keyOf(target);
    const existing = this.objects.get(key);
    this.#version += 1;
    const object: KubeObject = {
      apiVersion: 'test/v1',
      kind: 'Thing',
      metadata: {
        name: target.name,
        ...(target.namespace === undefined ? {} : { namespace: target.namespace }),
        uid: existing?.metadata.uid ?? `uid-${String((this.#uid += 1))}`,
        resourceVersion: this.#text(this.#version),
        annotations: { [KCP_CLUSTER_ANNOTATION]: target.cluster },
      },
      ...content,
    };
    this.objects.set(key, object);
    this.#record({ type: existing === undefined ? 'ADDED' : 'MODIFIED', object });
    return object;
  }

  remove(target: ModelName): void {
    const object = this.objects.get(keyOf(target));
    if (object === undefined) return;
    this.objects.delete(keyOf(target));
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: this.#text(this.#version) };
    this.#record({ type: 'DELETED', object: { ...object, metadata } });
  }

  get watches(): number {
    return this.#streams.size;
  }

  /** Sends an event as it is to every watch. */
  send(event: WatchEvent): void {
    for (const { push } of this.#streams) push(event);
  }

  bookmark(): void {
    this.send({ type: 'BOOKMARK', resourceVersion: this.#text(this.#version), initialEventsEnd: false });
  }

  /** Ends every watch, in order or with an error. */
  cut(error?: Error): void {
    for (const { end } of [...this.#streams]) end(error);
  }

  /** Forgets all history: older versions and tokens of lists under way answer 410. */
  compact(): void {
    this.#oldest = this.#version;
    this.#log.length = 0;
    this.#snapshots.clear();
  }

  client(baseUrl = 'https://model.test'): KubeClient {
    const refuse = (): never => {
      throw new TypeError('the model server lists and watches only');
    };
    const client: KubeClient = {
      baseUrl,
      list: async (_gvr, options = {}) => this.#list(options),
      watch: (_gvr, options) => this.#watch(options),
      get: refuse,
      create: refuse,
      replace: refuse,
      patch: refuse,
      delete: refuse,
      raw: refuse,
      at: () => client,
      close: async () => undefined,
    };
    return client;
  }

  async #list(options: ListOptions): Promise<ObjectList> {
    this.calls.push({ verb: 'list', options });
    await Promise.resolve();
    const fault = this.listFaults.shift() ?? this.always.list?.();
    if (fault !== undefined) throw fault;
    let [token, version, offset] = (options.continue ?? '').split(' ');
    if (token === '' || token === undefined) {
      token = `token-${String((this.#token += 1))}`;
      [version, offset] = [this.#text(this.#version), '0'];
      this.#snapshots.set(token, [...this.objects.values()]);
    }
    const snapshot = this.#snapshots.get(token);
    if (snapshot === undefined) throw expired();
    const start = Number(offset);
    const end = start + (options.limit ?? Number.POSITIVE_INFINITY);
    return {
      items: snapshot.slice(start, end),
      resourceVersion: version ?? '',
      ...(end < snapshot.length ? { continue: `${token} ${version ?? ''} ${String(end)}` } : {}),
    };
  }

  #watch(options: WatchOptions): AsyncIterable<WatchEvent> {
    this.calls.push({ verb: 'watch', options });
    const queue: WatchEvent[] = [];
    let over: { error: Error | undefined } | undefined;
    let wake = (): void => undefined;
    const stream: Stream = {
      push: (event) => {
        queue.push(event);
        wake();
      },
      end: (error) => {
        over ??= { error };
        this.#streams.delete(stream);
        wake();
      },
    };
    const fault = this.watchFaults.shift() ?? this.always.watch?.();
    const from = parseInt(options.resourceVersion.slice(3), 36);
    if (fault !== undefined) stream.end(fault);
    else if (from < this.#oldest) stream.end(expired());
    else {
      for (const { version, event } of this.#log) if (version > from) queue.push(event);
      this.#streams.add(stream);
      options.onOpen?.();
    }
    options.signal.addEventListener('abort', () => stream.end(new TransportError('aborted', 'aborted')));
    return {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          for (;;) {
            const value = queue.shift();
            if (value !== undefined) return { done: false, value };
            if (over?.error !== undefined) throw over.error;
            if (over !== undefined) return { done: true, value: undefined };
            await new Promise<void>((resolve) => (wake = resolve));
          }
        },
        return: async () => {
          stream.end();
          return { done: true, value: undefined };
        },
      }),
    };
  }

  #record(event: Change['event']): void {
    this.#log.push({ version: this.#version, event });
    this.send(event);
  }
}

export function expired(): ApiError {
  return new ApiError({ message: 'too old', status: 410, reason: 'Expired' });
}

export function refusal(status: number, retryAfterMs?: number): ApiError {
  return new ApiError({ message: `answer ${String(status)}`, status, reason: '', retryAfterMs });
}

function keyOf({ cluster, namespace, name }: ModelName): string {
  return `${cluster}|${namespace ?? ''}/${name}`;
}
