import type { Gvr } from '../../api/gvr.js';
import type { KubeClient, ListOptions } from '../../kube/client.js';
import { ApiError } from '../../kube/errors.js';
import type { KubeObject, ObjectName } from '../../kube/object.js';

/** What was asked of the client, for instance `create secrets default/x`. */
export interface MemoryKube {
  readonly client: KubeClient;
  readonly objects: Map<string, KubeObject>;
  readonly calls: string[];
  /** Next calls of this verb reject with the error. */
  fail(verb: string, error: Error): void;
  recover(): void;
}

/** An API server's objects in memory, with the answers that matter: 404 and 409 with a Status, versions, pages. */
export function memoryKube(): MemoryKube {
  const objects = new Map<string, KubeObject>();
  const calls: string[] = [];
  const failures = new Map<string, Error>();
  let version = 0;

  const keyOf = (gvr: Gvr, target: ObjectName) => `${gvr.resource} ${target.namespace ?? ''}/${target.name}`;
  const called = (verb: string, key: string) => {
    calls.push(`${verb} ${key}`);
    const failure = failures.get(verb);
    if (failure !== undefined) throw failure;
  };
  const stored = (key: string, name: string): KubeObject => {
    const object = objects.get(key);
    if (object === undefined) throw status(404, 'NotFound', name);
    return object;
  };
  const put = (key: string, object: KubeObject): KubeObject => {
    version += 1;
    const next = structuredClone(object);
    next.metadata.resourceVersion = String(version);
    next.metadata.uid ??= `uid-${String(version)}`;
    objects.set(key, next);
    return structuredClone(next);
  };

  const client: KubeClient = {
    baseUrl: 'memory:',
    async get(gvr, target) {
      const key = keyOf(gvr, target);
      called('get', key);
      return structuredClone(stored(key, target.name));
    },
    async list(gvr: Gvr, options: ListOptions = {}) {
      called('list', gvr.resource);
      const [label, value] = (options.labelSelector ?? '').split('=');
      const all = [...objects]
        .filter(([key]) => key.startsWith(`${gvr.resource} `))
        .map(([, object]) => object)
        .filter((object) => label === '' || object.metadata.labels?.[label ?? ''] === value);
      const from = Number(options.continue ?? '0');
      const limit = options.limit ?? all.length;
      const next = from + limit;
      return {
        items: structuredClone(all.slice(from, next)),
        resourceVersion: String(version),
        ...(next < all.length ? { continue: String(next) } : {}),
      };
    },
    async create(gvr, object) {
      const key = keyOf(gvr, object.metadata);
      called('create', key);
      if (objects.has(key)) throw status(409, 'AlreadyExists', object.metadata.name);
      return put(key, object);
    },
    async replace(gvr, object) {
      const key = keyOf(gvr, object.metadata);
      called('replace', key);
      const current = stored(key, object.metadata.name);
      if (current.metadata.resourceVersion !== object.metadata.resourceVersion) {
        throw status(409, 'Conflict', object.metadata.name);
      }
      return put(key, { ...object, metadata: { ...current.metadata, ...object.metadata } });
    },
    async delete(gvr, target) {
      const key = keyOf(gvr, target);
      called('delete', key);
      stored(key, target.name);
      objects.delete(key);
      return undefined;
    },
    patch: () => Promise.reject(new Error('not in this fake')),
    raw: () => Promise.reject(new Error('not in this fake')),
    watch: () => {
      throw new Error('not in this fake');
    },
    at: () => client,
    close: async () => undefined,
  };
  return {
    client,
    objects,
    calls,
    fail: (verb, error) => failures.set(verb, error),
    recover: () => failures.clear(),
  };
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
