import type { Gvr } from '../../api/gvr.js';
import type { KubeClient, WatchOptions } from '../../kube/client.js';
import { ApiError } from '../../kube/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kube/json-value.js';
import type { KubeObject, ObjectName, WatchEvent } from '../../kube/object.js';
import type { ProviderContract } from '../provider/contract.js';

type Verb = 'get' | 'create' | 'patch' | 'delete' | 'watch';

export function apiError(status: number, reason: string, details: JsonObject = { name: 'x' }): ApiError {
  return new ApiError({ message: `${reason} (${status})`, status, reason, body: { details } });
}

/** The objects of one contract namespace, behind the part of KubeClient that a consumer uses. For tests. */
export class FakeProvider implements KubeClient {
  readonly baseUrl = 'https://provider.test';
  readonly objects = new Map<string, KubeObject>();
  /** Every write, as `verb resource/name`. */
  readonly writes: string[] = [];
  /** Bodies of the patches. */
  readonly patches: JsonValue[] = [];
  /** Asked before each call; what it gives is thrown. */
  fault: (verb: Verb, gvr: Gvr, name: string) => Error | undefined = () => undefined;
  /** Called after each write and before each watch, to play the backend. */
  react: (verb: Verb, gvr: Gvr, name: string) => void = () => undefined;
  #version = 100;

  get contract(): ProviderContract {
    return { client: this, namespace: 'contract' };
  }

  put(gvr: Gvr, name: string, content: JsonObject = {}): KubeObject {
    const { metadata, ...rest } = content;
    const existing = this.objects.get(keyOf(gvr, name));
    const object: KubeObject = {
      apiVersion: `${gvr.group}/${gvr.version}`,
      kind: gvr.resource,
      ...existing,
      ...rest,
      metadata: {
        uid: `uid-${String(this.#version)}`,
        ...existing?.metadata,
        name,
        ...(isJsonObject(metadata) ? metadata : {}),
        resourceVersion: String((this.#version += 1)),
      },
    };
    this.objects.set(keyOf(gvr, name), object);
    return object;
  }

  async get(gvr: Gvr, { name }: ObjectName): Promise<KubeObject> {
    this.#check('get', gvr, name);
    return this.#find(gvr, name);
  }

  async create(gvr: Gvr, object: KubeObject): Promise<KubeObject> {
    const { name } = object.metadata;
    this.#check('create', gvr, name);
    if (this.objects.has(keyOf(gvr, name))) throw apiError(409, 'AlreadyExists');
    const created = this.put(gvr, name, object);
    this.#wrote('create', gvr, name);
    return created;
  }

  async patch(...parameters: Parameters<KubeClient['patch']>): Promise<KubeObject> {
    const [gvr, { name }, type, body, options] = parameters;
    this.#check('patch', gvr, name);
    if (type !== 'merge' || options?.subresource !== 'status' || !isJsonObject(body))
      throw new Error('not played');
    const object = this.#find(gvr, name);
    const guard = isJsonObject(body['metadata']) ? body['metadata'] : {};
    const { uid, resourceVersion } = object.metadata;
    if (guard['uid'] !== uid || guard['resourceVersion'] !== resourceVersion) throw apiError(409, 'Conflict');
    const status = { ...asObject(object['status']), ...asObject(body['status']) };
    this.patches.push(body);
    const patched = this.put(gvr, name, { status });
    this.#wrote('patch', gvr, name);
    return patched;
  }

  async delete(gvr: Gvr, { name }: ObjectName, options?: { uid?: string | undefined }): Promise<undefined> {
    this.#check('delete', gvr, name);
    const object = this.#find(gvr, name);
    if (options?.uid !== undefined && options.uid !== object.metadata.uid) throw apiError(409, 'Conflict');
    this.objects.delete(keyOf(gvr, name));
    this.#wrote('delete', gvr, name);
  }

  /** Gives the object once, as it is after the reaction, and ends. */
  async *watch(gvr: Gvr, options: WatchOptions): AsyncIterable<WatchEvent> {
    const name = options.fieldSelector?.replace('metadata.name=', '') ?? '';
    this.#check('watch', gvr, name);
    this.react('watch', gvr, name);
    const object = this.objects.get(keyOf(gvr, name));
    if (object !== undefined) yield { type: 'MODIFIED', object };
  }

  list(): never {
    throw new Error('not played');
  }
  replace(): never {
    throw new Error('not played');
  }
  raw(): never {
    throw new Error('not played');
  }
  at(): never {
    throw new Error('not played');
  }
  async close(): Promise<void> {
    this.objects.clear();
  }

  #find(gvr: Gvr, name: string): KubeObject {
    const object = this.objects.get(keyOf(gvr, name));
    if (object === undefined) throw apiError(404, 'NotFound', { name });
    return object;
  }

  #check(verb: Verb, gvr: Gvr, name: string): void {
    const error = this.fault(verb, gvr, name);
    if (error !== undefined) throw error;
  }

  #wrote(verb: Verb, gvr: Gvr, name: string): void {
    this.writes.push(`${verb} ${gvr.resource}/${name}`);
    this.react(verb, gvr, name);
  }
}

function keyOf(gvr: Gvr, name: string): string {
  return `${gvr.resource}/${name}`;
}

function asObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
