import { GVR, type Gvr } from '../../../api/gvr.js';
import type { KubeClient, ListOptions } from '../../../kube/client.js';
import type { ServerCredentials } from '../../../kube/credentials.js';
import { ApiError, TransportError } from '../../../kube/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../kube/json-value.js';
import type { KubeObject, ObjectName, WatchEvent } from '../../../kube/object.js';
import type { RenewableClient } from '../provider-link.js';

export const CONTRACT = 'kube-bind-x';

interface Stream {
  readonly resource: string;
  /** Undefined ends the stream in order, an error breaks it. */
  push(event: WatchEvent | Error | undefined): void;
}

/** A provider with a backend of its own, in memory: one contract namespace, answers to requests, faults on demand. */
export class FakeProvider {
  readonly objects = new Map<string, KubeObject>();
  /** `create apiserviceexportrequests x`, without reads of namespaces and Secrets. */
  readonly writes: string[] = [];
  readonly calls: string[] = [];
  /** Credentials that clients use now, in order of their making. */
  readonly clients: ServerCredentials[] = [];
  /** Asked before each call; what it gives is the answer. */
  fault: (verb: string, gvr: Gvr | undefined, credentials: ServerCredentials) => Error | undefined = () =>
    undefined;
  /** Permission claims of exports that are made. */
  claims: readonly JsonObject[] = [];
  /** The backend answers requests. */
  answers = true;
  /** Reads of namespaces get no answer before their signal. */
  hangs = false;
  /** Answers of `raw`, by path. */
  discovery: Readonly<Record<string, JsonValue>> = {};
  #version = 0;
  readonly #streams = new Set<Stream>();

  constructor() {
    this.put(GVR.namespaces, { name: CONTRACT }, {}, 'uid-contract');
    this.put(
      GVR.clusterBindings,
      { namespace: CONTRACT, name: 'cluster' },
      { spec: { providerPrettyName: 'BigCorp' } },
    );
  }

  put(gvr: Gvr, target: ObjectName, content: JsonObject = {}, uid?: string): KubeObject {
    const key = keyOf(gvr, target);
    const current = this.objects.get(key);
    this.#version += 1;
    const { metadata, ...rest } = content;
    const object: KubeObject = {
      apiVersion: `${gvr.group}/${gvr.version}`,
      kind: gvr.resource,
      ...rest,
      metadata: {
        ...(isJsonObject(metadata) ? metadata : {}),
        name: target.name,
        ...(target.namespace !== undefined && { namespace: target.namespace }),
        uid: uid ?? current?.metadata.uid ?? `uid-${String(this.#version)}`,
        resourceVersion: String(this.#version),
      },
    };
    this.objects.set(key, object);
    this.#tell(gvr, { type: current === undefined ? 'ADDED' : 'MODIFIED', object });
    return structuredClone(object);
  }

  find(gvr: Gvr, target: ObjectName): KubeObject | undefined {
    return this.objects.get(keyOf(gvr, target));
  }

  remove(gvr: Gvr, target: ObjectName): void {
    const object = this.find(gvr, target);
    if (object === undefined) return;
    this.objects.delete(keyOf(gvr, target));
    this.#tell(gvr, { type: 'DELETED', object });
  }

  /** An export with its bound schema, as the backend makes them. */
  export(name: string, hash = 'h1', schema: JsonObject = cowboySchema()): void {
    const resources = [{ group: 'wildwest.dev', resource: 'cowboys', versions: ['v1'] }];
    const target = { namespace: CONTRACT, name };
    const annotations = { 'kube-bind.io/source-spec-hash': hash };
    const permissionClaims = [...this.claims];
    const spec = { resources, permissionClaims, informerScope: 'Namespaced', isolation: 'Prefixed' };
    this.put(GVR.boundSchemas, { namespace: CONTRACT, name: 'cowboys.wildwest.dev' }, { spec: schema });
    this.put(GVR.exports, target, { metadata: { annotations }, spec });
  }

  readonly connect = (credentials: ServerCredentials): RenewableClient => {
    const index = this.clients.push(credentials) - 1;
    const before = (verb: string, gvr?: Gvr, name = ''): void => {
      this.calls.push(`${verb} ${gvr?.resource ?? ''} ${name}`.trim());
      const error = this.fault(verb, gvr, this.clients[index] ?? credentials);
      if (error !== undefined) throw error;
      if (verb !== 'get' && verb !== 'list' && verb !== 'watch')
        this.writes.push(`${verb} ${gvr?.resource ?? ''} ${name}`);
    };
    const existing = (gvr: Gvr, target: ObjectName): KubeObject => {
      const object = this.find(gvr, target);
      if (object === undefined) throw status(404, 'NotFound', target.name);
      return object;
    };
    const watch = (gvr: Gvr, signal: AbortSignal): AsyncIterable<WatchEvent> => this.#watch(gvr, signal);
    const client: KubeClient = {
      baseUrl: credentials.server,
      get: async (gvr, target, options) => {
        before('get', gvr, target.name);
        if (this.hangs) await aborted(options?.signal);
        return structuredClone(existing(gvr, target));
      },
      list: async (gvr, options) => {
        before('list', gvr);
        return { items: this.#list(gvr, options), resourceVersion: String(this.#version) };
      },
      watch: async function* (gvr, { signal }) {
        before('watch', gvr);
        yield* watch(gvr, signal);
      },
      create: async (gvr, object) => {
        before('create', gvr, object.metadata.name);
        const target = nameOf(object);
        if (this.find(gvr, target) !== undefined) throw status(409, 'AlreadyExists', target.name);
        const created = this.put(gvr, target, object);
        if (this.answers && gvr.resource === GVR.exportRequests.resource) this.export(target.name);
        return created;
      },
      replace: () => Promise.reject(new Error('not in this fake')),
      patch: async (gvr, target, type, body) => {
        before(`patch ${type}`, gvr, target.name);
        const object = existing(gvr, target);
        const { status: now } = object;
        const next = isJsonObject(body) && isJsonObject(body['status']) ? body['status'] : {};
        return this.put(gvr, target, { ...object, status: { ...(isJsonObject(now) ? now : {}), ...next } });
      },
      delete: async (gvr, target) => {
        before('delete', gvr, target.name);
        existing(gvr, target);
        this.remove(gvr, target);
        return undefined;
      },
      raw: async (_method, path) => {
        const answer = this.discovery[path];
        if (answer === undefined) throw status(404, 'NotFound', '');
        return answer;
      },
      at: () => client,
      close: async () => {
        this.calls.push(`close ${credentials.server}`);
      },
    };
    return Object.assign(client, {
      setCredentials: (next: ServerCredentials) => {
        this.clients[index] = next;
      },
    });
  };

  #list(gvr: Gvr, options: ListOptions = {}): KubeObject[] {
    const prefix = `${gvr.resource} ${options.namespace === undefined ? '' : `${options.namespace}/`}`;
    return [...this.objects]
      .filter(([key]) => key.startsWith(prefix))
      .map(([, object]) => structuredClone(object));
  }

  async *#watch(gvr: Gvr, signal: AbortSignal): AsyncIterable<WatchEvent> {
    const waiting: (WatchEvent | Error | undefined)[] = [];
    let wake: () => void = () => undefined;
    const stream: Stream = {
      resource: gvr.resource,
      push: (event) => {
        waiting.push(event);
        wake();
      },
    };
    this.#streams.add(stream);
    const end = (): void => stream.push(undefined);
    signal.addEventListener('abort', end, { once: true });
    try {
      for (;;) {
        if (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        const event = waiting.shift();
        if (event === undefined) return;
        if (event instanceof Error) throw event;
        yield structuredClone(event);
      }
    } finally {
      this.#streams.delete(stream);
      signal.removeEventListener('abort', end);
    }
  }

  /** Breaks the watches that are open. */
  cut(): void {
    for (const stream of this.#streams) stream.push(new TransportError('socket hang up', 'reset'));
  }

  #tell(gvr: Gvr, event: WatchEvent): void {
    for (const stream of this.#streams) if (stream.resource === gvr.resource) stream.push(event);
  }
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = (): void => reject(new TransportError('aborted', 'aborted'));
    if (signal?.aborted === true) fail();
    signal?.addEventListener('abort', fail, { once: true });
  });
}

function keyOf(gvr: Gvr, { namespace, name }: ObjectName): string {
  return `${gvr.resource} ${namespace ?? ''}/${name}`;
}

function nameOf({ metadata: { name, namespace } }: KubeObject): ObjectName {
  return namespace === undefined ? { name } : { name, namespace };
}

/** An answer as API servers give it. */
export function status(code: number, reason: string, name: string): ApiError {
  return new ApiError({
    message: `${name}: ${reason}`,
    status: code,
    reason,
    body: { kind: 'Status', code, reason, details: { name } },
  });
}

/** Spec of a BoundSchema. */
export function cowboySchema(properties: JsonObject = { intent: { type: 'string' } }): JsonObject {
  const spec = { type: 'object', properties };
  return {
    group: 'wildwest.dev',
    informerScope: 'Namespaced',
    scope: 'Namespaced',
    names: { plural: 'cowboys', singular: 'cowboy', kind: 'Cowboy', listKind: 'CowboyList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec, status: { type: 'object' } } } },
      },
    ],
  };
}

/** A kubeconfig as backends give it. */
export function kubeconfig(server: string, token: string, namespace = CONTRACT): string {
  return `apiVersion: v1
kind: Config
current-context: default
clusters: [{name: default, cluster: {server: "${server}"}}]
users: [{name: default, user: {token: "${token}"}}]
contexts: [{name: default, context: {cluster: default, user: default, namespace: "${namespace}"}}]
`;
}
