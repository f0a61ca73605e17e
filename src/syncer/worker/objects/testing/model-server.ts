import { KCP_CLUSTER_ANNOTATION } from '../../../../api/markers.js';
import type {
  DeleteOptions,
  KubeClient,
  ListOptions,
  PatchOptions,
  PatchType,
  WatchOptions,
} from '../../../../kube/client.js';
import { ApiError } from '../../../../kube/errors.js';
import { isJsonObject } from '../../../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../../../kube/json-value.js';
import { jsonEqual } from '../../../../kube/json.js';
import type {
  Gvr,
  KubeObject,
  ObjectList,
  ObjectMeta,
  ObjectName,
  WatchEvent,
} from '../../../../kube/object.js';
import { modelApply, modelUpdate, unknownFields } from './model-apply.js';
import type { Managers } from './model-apply.js';
import { stepsOf, toFieldsV1 } from './model-fields.js';
import { applyJsonPatch } from './model-json-patch.js';
import { METADATA, schemaOf } from './model-schema.js';
import type { ModelSchema } from './model-schema.js';

interface Stored {
  object: KubeObject;
  managers: Managers;
}

export interface ModelRequest {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'replace' | 'patch' | 'apply' | 'delete' | 'dryRun';
  readonly target: string;
  readonly subresource?: string | undefined;
}

/**
 * An API server for one resource, in memory: apply with field managers, JSON patch, status, finalizers,
 * watches. Faithful to what was measured on kcp and Kubernetes, oddities included.
 */
export class ModelServer {
  readonly #gvr: Gvr;
  readonly #kind: string;
  readonly #cluster: string | undefined;
  schema: ModelSchema;
  readonly #objects = new Map<string, Stored>();
  readonly #history: WatchEvent[] = [];
  readonly #watchers = new Set<() => void>();
  #version = 100;
  #uids = 0;
  /** Requests that came in, watches and lists included. */
  readonly requests: ModelRequest[] = [];
  /** Called for each request before it has an effect, and after; what it throws goes to the client. */
  intercept: (request: ModelRequest, when: 'before' | 'after') => void = () => undefined;
  /** Watches show nothing while true. */
  muted = false;
  /** Changes what is stored, as a mutating webhook would. */
  mutate: (object: KubeObject) => KubeObject = (object) => object;
  /** Refuses what is to be stored, with 422. */
  validate: (object: KubeObject, old: KubeObject | undefined) => string | undefined = () => undefined;

  constructor(options: { gvr: Gvr; kind: string; schema: ModelSchema; cluster?: string }) {
    this.#gvr = options.gvr;
    this.#kind = options.kind;
    this.schema = options.schema;
    this.#cluster = options.cluster;
  }

  /** Requests that may change something, in words. */
  get writes(): string[] {
    return this.requests
      .filter(({ verb }) => !['get', 'list', 'watch', 'dryRun'].includes(verb))
      .map(
        ({ verb, target, subresource }) =>
          `${verb} ${target}${subresource === undefined ? '' : `/${subresource}`}`,
      );
  }

  object(target: string): KubeObject | undefined {
    const stored = this.#objects.get(target);
    return stored && this.#present(stored);
  }

  all(): KubeObject[] {
    return [...this.#objects.values()].map((stored) => this.#present(stored));
  }

  /** Shows what was held back. */
  unmute(): void {
    this.muted = false;
    for (const wake of this.#watchers) wake();
  }

  /** Somebody creates or changes an object, in another way than through the client under test. */
  edit(
    target: ObjectName,
    change: (object: KubeObject) => KubeObject,
    manager = 'someone',
  ): KubeObject | undefined {
    const key = nameOf(target);
    const old = this.#objects.get(key);
    const base: KubeObject = old?.object ?? {
      apiVersion: `${this.#gvr.group}/${this.#gvr.version}`,
      kind: this.#kind,
      metadata: { ...target } as ObjectMeta,
    };
    try {
      return this.#store(key, old, change(structuredClone(base)), (next) =>
        this.#updated(old, next, manager),
      );
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  }

  editStatus(target: ObjectName, status: JsonValue | undefined): void {
    const key = nameOf(target);
    const old = this.#objects.get(key);
    if (old === undefined) return;
    const next = { ...old.object };
    delete next['status'];
    if (status !== undefined) next['status'] = status;
    this.#store(key, old, next, () => old.managers);
  }

  /** An object is not there any more, without having been deleted. */
  vanish(target: ObjectName): void {
    const stored = this.#objects.get(nameOf(target));
    if (stored !== undefined) this.#drop(nameOf(target), stored);
  }

  remove(target: ObjectName): void {
    this.#delete(nameOf(target));
  }

  client(): KubeClient {
    const guarded = async <T>(request: ModelRequest, run: () => T): Promise<T> => {
      this.requests.push(request);
      await Promise.resolve();
      this.intercept(request, 'before');
      const answer = run();
      this.intercept(request, 'after');
      // A watch is served while the answer is on its way.
      await Promise.resolve();
      return answer;
    };
    return {
      baseUrl: 'https://model.test',
      get: (_gvr, target) =>
        guarded({ verb: 'get', target: nameOf(target) }, () => this.#present(this.#find(nameOf(target)))),
      list: (_gvr, options) => guarded({ verb: 'list', target: '' }, () => this.#list(options)),
      watch: (_gvr, options) => this.#watch(options),
      create: (_gvr, object) =>
        guarded({ verb: 'create', target: nameOf(object.metadata) }, () => this.#create(object, false)),
      replace: (_gvr, object, options) =>
        guarded({ verb: 'replace', target: nameOf(object.metadata), subresource: options?.subresource }, () =>
          this.#replaceStatus(object),
        ),
      patch: (_gvr, target, type, body, options) =>
        guarded(
          {
            verb: options?.dryRun === true ? 'dryRun' : type === 'apply' ? 'apply' : 'patch',
            target: nameOf(target),
          },
          () => this.#patch(target, type, body, options ?? {}),
        ),
      delete: (_gvr, target, options) =>
        guarded({ verb: 'delete', target: nameOf(target) }, () =>
          this.#checkedDelete(nameOf(target), options),
        ),
      raw: (_method, _path, body) =>
        guarded({ verb: 'dryRun', target: '' }, () => this.#create(body as KubeObject, true)),
      at: () => this.client(),
      close: async () => undefined,
    };
  }

  #list({ namespace, labelSelector }: ListOptions = {}): ObjectList {
    const items = this.all().filter((object) => selected(object, namespace, labelSelector));
    return { items, resourceVersion: String(this.#version) };
  }

  async *#watch({
    namespace,
    labelSelector,
    resourceVersion,
    signal,
  }: WatchOptions): AsyncGenerator<WatchEvent> {
    let next = this.#history.findIndex((event) => versionOf(event) > Number(resourceVersion));
    if (next < 0) next = this.#history.length;
    const shown = new Set<string>();
    for (const object of this.all())
      if (Number(object.metadata.resourceVersion) <= Number(resourceVersion))
        shown.add(object.metadata.uid ?? '');
    while (!signal.aborted) {
      while (!this.muted && next < this.#history.length) {
        const event = this.#history[next++];
        if (event === undefined || event.type === 'BOOKMARK') continue;
        const uid = event.object.metadata.uid ?? '';
        const fits = selected(event.object, namespace, labelSelector) && event.type !== 'DELETED';
        if (fits) {
          shown.add(uid);
          yield structuredClone(event);
        } else if (event.type === 'DELETED' || shown.has(uid)) {
          shown.delete(uid);
          yield structuredClone({ type: 'DELETED', object: event.object });
        }
      }
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#watchers.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#watchers.add(wake);
        signal.addEventListener('abort', wake, { once: true });
      });
    }
  }

  #find(key: string): Stored {
    const stored = this.#objects.get(key);
    if (stored !== undefined) return stored;
    const details = { name: key.split('/').at(-1) ?? '', group: this.#gvr.group, kind: this.#gvr.resource };
    throw apiError(404, 'NotFound', `${key} not found`, details);
  }

  #create(object: KubeObject, dryRun: boolean): KubeObject {
    const key = nameOf(object.metadata);
    const old = this.#objects.get(key);
    if (old !== undefined) throw apiError(409, 'AlreadyExists', `${key} exists`);
    const pruned = prune(object, this.schema);
    if (dryRun) return pruned;
    return this.#store(key, undefined, pruned, (next) => this.#updated(undefined, next, 'client'));
  }

  #patch(target: ObjectName, type: PatchType, body: JsonValue, options: PatchOptions): KubeObject {
    const key = nameOf(target);
    if (type === 'apply') return this.#apply(key, body as KubeObject, options);
    const stored = this.#find(key);
    const shown = this.#present(stored);
    const next = applyJsonPatch(shown, body as JsonObject[]) as KubeObject;
    if (next.metadata.resourceVersion !== shown.metadata.resourceVersion)
      throw apiError(409, 'Conflict', 'stale resourceVersion');
    if (next.metadata.uid !== shown.metadata.uid) throw uidRefused();
    const pruned = prune(next, this.schema);
    if (options.dryRun === true) return pruned;
    const dropped = new Set(
      (shown.metadata.managedFields ?? [])
        .filter((entry) => !(next.metadata.managedFields ?? []).some((left) => jsonEqual(entry, left)))
        .map(
          (entry) =>
            `${String((entry as JsonObject)['manager'])}:${String((entry as JsonObject)['operation'])}`,
        ),
    );
    return this.#store(key, stored, pruned, (object) => {
      const managers = this.#updated(stored, object, options.fieldManager ?? 'client');
      return new Map([...managers].filter(([name]) => !dropped.has(name)));
    });
  }

  #apply(key: string, body: KubeObject, options: PatchOptions): KubeObject {
    const stored = this.#objects.get(key);
    const { uid, resourceVersion } = body.metadata;
    if (stored === undefined && (uid !== undefined || resourceVersion !== undefined))
      throw apiError(409, 'Conflict', 'uid mismatch: no existing object was found');
    if (
      stored !== undefined &&
      resourceVersion !== undefined &&
      resourceVersion !== stored.object.metadata.resourceVersion
    )
      throw apiError(409, 'Conflict', 'stale resourceVersion');
    if (stored !== undefined && uid !== undefined && uid !== stored.object.metadata.uid) throw uidRefused();
    const base = stored?.object ?? {
      apiVersion: body.apiVersion,
      kind: body.kind,
      metadata: {
        name: body.metadata.name,
        ...(body.metadata.namespace !== undefined && { namespace: body.metadata.namespace }),
      },
    };
    const result = modelApply(
      { value: ownable(base), managers: stored?.managers ?? new Map() },
      ownable(body),
      this.#ownableSchema(),
      { manager: options.fieldManager ?? 'client', force: options.force === true },
    );
    switch (result.kind) {
      case 'unknown':
        throw apiError(500, '', `failed to create typed patch object: ${result.fields.join(', ')}`);
      case 'conflict':
        throw apiError(409, 'Conflict', result.fields.join(', '), {
          causes: [{ reason: 'FieldManagerConflict', field: result.fields.join() }],
        });
      case 'null':
        throw apiError(422, 'Invalid', `${result.field}: Invalid value: "null"`, {
          causes: [{ reason: 'FieldValueTypeInvalid', field: result.field }],
        });
      case 'merged':
        return this.#store(key, stored, reassemble(base, result.value), () => result.managers);
    }
  }

  #replaceStatus(object: KubeObject): KubeObject {
    const key = nameOf(object.metadata);
    const stored = this.#find(key);
    if (object.metadata.resourceVersion !== stored.object.metadata.resourceVersion)
      throw apiError(409, 'Conflict', 'stale resourceVersion');
    const next = { ...stored.object };
    delete next['status'];
    if (object['status'] !== undefined) next['status'] = object['status'];
    return this.#store(key, stored, next, () => stored.managers);
  }

  #checkedDelete(key: string, options: DeleteOptions = {}): KubeObject | undefined {
    const stored = this.#find(key);
    if (options.uid !== undefined && options.uid !== stored.object.metadata.uid)
      throw apiError(409, 'Conflict', 'the UID in the precondition does not match');
    this.#delete(key);
    return this.object(key);
  }

  #delete(key: string): void {
    const stored = this.#objects.get(key);
    if (stored === undefined) return;
    if ((stored.object.metadata.finalizers ?? []).length === 0) {
      this.#drop(key, stored);
      return;
    }
    if (stored.object.metadata.deletionTimestamp !== undefined) return;
    const metadata = { ...stored.object.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' };
    this.#store(key, stored, { ...stored.object, metadata }, () => stored.managers);
  }

  #drop(key: string, stored: Stored): void {
    this.#objects.delete(key);
    this.#version += 1;
    const object = this.#present(stored);
    object.metadata.resourceVersion = String(this.#version);
    this.#record({ type: 'DELETED', object });
  }

  /** Defaults, validates, counts the generation, stores and tells; or does nothing where nothing changes. */
  #store(
    key: string,
    old: Stored | undefined,
    wanted: KubeObject,
    managersOf: (next: KubeObject) => Managers,
  ): KubeObject {
    const defaulted = withDefaults(this.mutate(structuredClone(wanted)), this.schema);
    const refusal = this.validate(defaulted, old?.object);
    if (refusal !== undefined)
      throw apiError(422, 'Invalid', refusal, { causes: [{ field: 'spec', message: refusal }] });
    const managers = managersOf(defaulted);
    const { managedFields: _shown, ...metadata } = defaulted.metadata;
    const next: KubeObject = {
      ...defaulted,
      metadata: {
        ...metadata,
        uid: old?.object.metadata.uid ?? `uid-${String(this.#cluster ?? 'p')}-${String(++this.#uids)}`,
        generation: old?.object.metadata.generation ?? 1,
        resourceVersion: old?.object.metadata.resourceVersion ?? '',
        ...(this.#cluster !== undefined && {
          annotations: { ...metadata.annotations, [KCP_CLUSTER_ANNOTATION]: this.#cluster },
        }),
      },
    };
    for (const map of ['labels', 'annotations'] as const)
      if (Object.keys(next.metadata[map] ?? {}).length === 0) delete next.metadata[map];
    if (next.metadata.finalizers?.length === 0) delete next.metadata.finalizers;
    const changed = { ...next.metadata } as ObjectMeta;
    if (old !== undefined && !jsonEqual(payload(old.object), payload(next)))
      changed.generation = (changed.generation ?? 1) + 1;
    const stored: Stored = { object: { ...next, metadata: changed }, managers };
    if (old !== undefined && jsonEqual(old.object, stored.object) && sameManagers(old.managers, managers))
      return this.#present(old);
    stored.object.metadata.resourceVersion = String(++this.#version);
    if (
      stored.object.metadata.deletionTimestamp !== undefined &&
      stored.object.metadata.finalizers === undefined
    ) {
      this.#drop(key, stored);
      return this.#present(stored);
    }
    this.#objects.set(key, stored);
    this.#record({ type: old === undefined ? 'ADDED' : 'MODIFIED', object: this.#present(stored) });
    return this.#present(stored);
  }

  #updated(old: Stored | undefined, next: KubeObject, manager: string): Managers {
    const live = {
      value: old === undefined ? {} : ownable(old.object),
      managers: old?.managers ?? new Map(),
    };
    return modelUpdate(live, ownable(next), this.#ownableSchema(), manager);
  }

  #record(event: WatchEvent): void {
    this.#history.push(event);
    if (!this.muted) for (const wake of [...this.#watchers]) wake();
  }

  #present({ object, managers }: Stored): KubeObject {
    const managedFields = [...managers].map(([name, set]) => {
      const [manager = '', operation = ''] = name.split(':');
      return {
        manager,
        operation,
        apiVersion: object.apiVersion,
        fieldsType: 'FieldsV1',
        fieldsV1: toFieldsV1(set),
      };
    });
    const metadata = { ...object.metadata, ...(managedFields.length > 0 && { managedFields }) };
    return structuredClone({ ...object, metadata });
  }

  #ownableSchema(): ModelSchema {
    const fields: Record<string, ModelSchema> = { metadata: METADATA };
    if (this.schema.kind === 'struct')
      for (const [key, value] of Object.entries(this.schema.fields))
        if (key !== 'status') fields[key] = value;
    return { kind: 'struct', fields };
  }
}

export function nameOf({ namespace, name }: ObjectName): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function versionOf(event: WatchEvent): number {
  return event.type === 'BOOKMARK' ? 0 : Number(event.object.metadata.resourceVersion);
}

function selected(
  object: KubeObject,
  namespace: string | undefined,
  labelSelector: string | undefined,
): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  if (labelSelector === undefined) return true;
  const [key = '', value] = labelSelector.split('=');
  return object.metadata.labels?.[key] === value;
}

function payload(object: KubeObject): JsonObject {
  const { metadata: _metadata, status: _status, ...rest } = object;
  return rest;
}

/** The part that managers can own. */
function ownable(object: KubeObject): JsonObject {
  const { apiVersion: _version, kind: _kind, status: _status, metadata, ...rest } = object;
  const { labels, annotations } = metadata;
  const owned: JsonObject = {};
  if (labels !== undefined && Object.keys(labels).length > 0) owned['labels'] = labels;
  if (annotations !== undefined) {
    const own = Object.entries(annotations).filter(([key]) => key !== KCP_CLUSTER_ANNOTATION);
    if (own.length > 0) owned['annotations'] = Object.fromEntries(own);
  }
  return { ...rest, ...(Object.keys(owned).length > 0 && { metadata: owned }) };
}

function reassemble(base: KubeObject, owned: JsonObject): KubeObject {
  const { metadata: ownedMeta, ...rest } = owned;
  const { labels: _labels, annotations: _annotations, ...metadata } = base.metadata;
  return {
    ...rest,
    apiVersion: base.apiVersion,
    kind: base.kind,
    metadata: { ...metadata, ...(isJsonObject(ownedMeta) ? ownedMeta : {}) } as ObjectMeta,
    ...(base['status'] !== undefined && { status: base['status'] }),
  };
}

function prune(object: KubeObject, schema: ModelSchema): KubeObject {
  let pruned: JsonValue = object;
  for (const path of unknownFields(payload(object), schema)) {
    const steps = path
      .replaceAll(/\[(\d+)\]/g, '.$1')
      .split('.')
      .slice(1);
    if (steps[0] !== 'apiVersion' && steps[0] !== 'kind')
      pruned = applyJsonPatch(pruned, [{ op: 'remove', path: `/${steps.join('/')}` }]);
  }
  return pruned as KubeObject;
}

function withDefaults(object: KubeObject, schema: ModelSchema): KubeObject {
  const walk = (value: JsonValue, at: ModelSchema): JsonValue => {
    if (!isJsonObject(value) || at.kind !== 'struct') return value;
    const next: JsonObject = { ...value };
    for (const [key, below] of Object.entries(at.fields)) {
      const child = next[key];
      if (child === undefined && below.kind === 'scalar' && below.default !== undefined)
        next[key] = below.default;
      else if (child !== undefined && schemaOf(at, key) !== undefined) next[key] = walk(child, below);
    }
    return next;
  };
  return walk(object, schema) as KubeObject;
}

function sameManagers(a: Managers, b: Managers): boolean {
  const list = (managers: Managers): string =>
    JSON.stringify(
      [...managers].map(([name, set]) => [name, [...set].map((path) => stepsOf(path)).sort()]).sort(),
    );
  return list(a) === list(b);
}

export function apiError(status: number, reason: string, message: string, details?: JsonObject): ApiError {
  const body: JsonObject = { kind: 'Status', status: 'Failure', reason, message, code: status };
  if (details !== undefined) body['details'] = details;
  return new ApiError({ status, reason, message, body });
}

function uidRefused(): ApiError {
  return apiError(422, 'Invalid', 'metadata.uid: field is immutable', {
    causes: [{ reason: 'FieldValueInvalid', field: 'metadata.uid' }],
  });
}
