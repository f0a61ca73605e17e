import type { DeleteOptions, KubeClient, PatchOptions, PatchType } from '../../../../kube/client.js';
import { ApiError } from '../../../../kube/errors.js';
import type { JsonObject, JsonValue } from '../../../../kube/json-value.js';
import { jsonEqual } from '../../../../kube/json.js';
import type { Gvr, KubeObject, ObjectName } from '../../../../kube/object.js';
import { modelApply, modelUpdate } from '../../../engine/testing/model-apply.js';
import type { Managers } from '../../../engine/testing/model-apply.js';
import { applyJsonPatch } from './model-json-patch.js';
import {
  nameMetadata,
  nameOf,
  ownable,
  ownableSchema,
  storedMetadata,
  pruned,
  selected,
  withDefaults,
  withOwnable,
} from './model-object.js';
import type { ModelSchema } from '../../../engine/testing/model-schema.js';
import { apiError, checkApplied, otherUid, refusedApply, staleVersion } from './model-status.js';
import { isEnteredIn, managedFieldsOf, managerOf, sameManagers } from './model-managers.js';
import { ModelWatch } from './model-watch.js';

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
  /** Stamped on every object that is made. */
  cluster: string | undefined;
  schema: ModelSchema;
  readonly #objects = new Map<string, Stored>();
  readonly #watch = new ModelWatch();
  #version = 100;
  #uids = 0;
  /** Requests that came in, watches and lists included. */
  readonly requests: ModelRequest[] = [];
  /** Called for each request before it has an effect, and after; what it throws goes to the client. */
  intercept: (request: ModelRequest, when: 'before' | 'after') => void = () => undefined;
  /** Changes what is stored, as a mutating webhook would. */
  mutate: (object: KubeObject) => KubeObject = (object) => object;
  /** Refuses what is to be stored, with 422. */
  validate: (object: KubeObject, old: KubeObject | undefined) => string | undefined = () => undefined;

  /**
   * A version that is served no more, and under which all managers are entered: no apply works until a patch has
   * entered them under the version of the object.
   */
  retired: string | undefined;

  constructor(options: { gvr: Gvr; kind: string; schema: ModelSchema; cluster?: string }) {
    this.#gvr = options.gvr;
    this.#kind = options.kind;
    this.schema = options.schema;
    this.cluster = options.cluster;
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

  /** Watches show nothing from now on. */
  mute(): void {
    this.#watch.mute();
  }

  /** Watches fail with this error until it is undefined. */
  refuseWatches(error: Error | undefined): void {
    this.#watch.refuse(error);
  }

  /** Watches show what was held back. */
  unmute(): void {
    this.#watch.unmute();
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
      apiVersion: this.#gvr.group === '' ? this.#gvr.version : `${this.#gvr.group}/${this.#gvr.version}`,
      kind: this.#kind,
      metadata: { ...nameMetadata(target) },
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
    const patch = (target: ObjectName, type: PatchType, body: JsonValue, options: PatchOptions = {}) => {
      const verb = options.dryRun === true ? 'dryRun' : type === 'apply' ? 'apply' : 'patch';
      return guarded({ verb, target: nameOf(target) }, () => this.#patch(target, type, body, options));
    };
    return {
      baseUrl: 'https://model.test',
      get: (_gvr, target) =>
        guarded({ verb: 'get', target: nameOf(target) }, () => this.#present(this.#find(nameOf(target)))),
      list: (_gvr, { namespace, labelSelector } = {}) =>
        guarded({ verb: 'list', target: '' }, () => ({
          items: this.all().filter((object) => selected(object, namespace, labelSelector)),
          resourceVersion: String(this.#version),
        })),
      watch: (_gvr, options) => this.#watch.follow(options, this.all()),
      create: (_gvr, object) =>
        guarded({ verb: 'create', target: nameOf(object.metadata) }, () => this.#create(object, false)),
      replace: (_gvr, object, options) =>
        guarded(
          { verb: 'replace', target: nameOf(object.metadata), subresource: options?.subresource },
          () => (options?.subresource === 'status' ? this.#replaceStatus(object) : this.#replace(object)),
        ),
      patch: (_gvr, ...rest) => patch(...rest),
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

  #find(key: string): Stored {
    const stored = this.#objects.get(key);
    if (stored !== undefined) return stored;
    const details = { name: key.split('/').at(-1) ?? '', group: this.#gvr.group, kind: this.#gvr.resource };
    throw apiError(404, 'NotFound', `${key} not found`, details);
  }

  #create(object: KubeObject, dryRun: boolean): KubeObject {
    const key = nameOf(object.metadata);
    if (this.#objects.has(key)) throw apiError(409, 'AlreadyExists', `${key} exists`);
    const next = pruned(object, this.schema);
    if (dryRun) return this.mutate(structuredClone(next));
    return this.#store(key, undefined, next, (stored) => this.#updated(undefined, stored, 'client'));
  }

  #patch(target: ObjectName, type: PatchType, body: JsonValue, options: PatchOptions): KubeObject {
    const key = nameOf(target);
    if (type === 'apply') return this.#apply(key, body as KubeObject, options);
    const stored = this.#find(key);
    const shown = this.#present(stored);
    const patched = applyJsonPatch(shown, body as JsonObject[]) as KubeObject;
    if (patched.metadata.resourceVersion !== shown.metadata.resourceVersion) throw staleVersion();
    if (patched.metadata.uid !== shown.metadata.uid) throw otherUid();
    const next = pruned(patched, this.schema);
    if (options.dryRun === true) return this.mutate(structuredClone(next));
    const left = (patched.metadata.managedFields ?? []).map(managerOf);
    if (isEnteredIn(patched, patched.apiVersion)) this.retired = undefined;
    const dropped = [...stored.managers.keys()].filter((name) => !left.includes(name));
    return this.#store(key, stored, next, (object) => {
      const managers = this.#updated(stored, object, options.fieldManager ?? 'client');
      return new Map([...managers].filter(([name]) => !dropped.includes(name)));
    });
  }

  #apply(key: string, body: KubeObject, options: PatchOptions): KubeObject {
    const stored = this.#objects.get(key);
    checkApplied(stored?.object, body.metadata);
    if (stored !== undefined && this.retired !== undefined)
      throw apiError(500, '', `request to convert CR to an invalid group/version: ${this.retired}`);
    const base: KubeObject = stored?.object ?? {
      apiVersion: body.apiVersion,
      kind: body.kind,
      metadata: nameMetadata(body.metadata),
    };
    const result = modelApply(
      { value: ownable(base), managers: stored?.managers ?? new Map<string, Set<string>>() },
      ownable(body),
      ownableSchema(this.schema),
      { manager: options.fieldManager ?? 'client', force: options.force === true },
    );
    if (result.kind !== 'merged') throw refusedApply(result);
    return this.#store(key, stored, withOwnable(base, result.value), () => result.managers);
  }

  #replace(object: KubeObject): KubeObject {
    const key = nameOf(object.metadata);
    const stored = this.#find(key);
    const { uid, resourceVersion } = object.metadata;
    if (resourceVersion !== stored.object.metadata.resourceVersion) throw staleVersion();
    if (uid !== stored.object.metadata.uid) throw staleVersion();
    return this.#store(key, stored, pruned(object, this.schema), (next) =>
      this.#updated(stored, next, 'client'),
    );
  }

  #replaceStatus(object: KubeObject): KubeObject {
    const key = nameOf(object.metadata);
    const stored = this.#find(key);
    if (object.metadata.resourceVersion !== stored.object.metadata.resourceVersion) throw staleVersion();
    const next = { ...stored.object };
    delete next['status'];
    if (object['status'] !== undefined) next['status'] = object['status'];
    return this.#store(key, stored, next, () => stored.managers);
  }

  #checkedDelete(key: string, options: DeleteOptions = {}): KubeObject | undefined {
    const stored = this.#find(key);
    if (options.uid !== undefined && options.uid !== stored.object.metadata.uid)
      throw apiError(409, 'Conflict', 'the UID in the precondition does not match');
    const { resourceVersion = stored.object.metadata.resourceVersion } = options;
    if (resourceVersion !== stored.object.metadata.resourceVersion) throw staleVersion();
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
    this.#watch.record({ type: 'DELETED', object });
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
    const stored: Stored = {
      object: { ...defaulted, metadata: storedMetadata(defaulted, old?.object, () => this.#identity()) },
      managers: managersOf(defaulted),
    };
    if (
      old !== undefined &&
      jsonEqual(old.object, stored.object) &&
      sameManagers(old.managers, stored.managers)
    )
      return this.#present(old);
    stored.object.metadata.resourceVersion = String(++this.#version);
    const { deletionTimestamp, finalizers } = stored.object.metadata;
    if (deletionTimestamp !== undefined && finalizers === undefined) {
      this.#drop(key, stored);
      // Servers answer with what was asked for, under the version of what was stored last.
      const answer = this.#present(stored);
      answer.metadata.resourceVersion = old?.object.metadata.resourceVersion ?? '';
      return answer;
    }
    this.#objects.set(key, stored);
    this.#watch.record({ type: old === undefined ? 'ADDED' : 'MODIFIED', object: this.#present(stored) });
    return this.#present(stored);
  }

  #identity(): { readonly uid: string; readonly cluster: string | undefined } {
    return { uid: `uid-${this.cluster ?? 'p'}-${String(++this.#uids)}`, cluster: this.cluster };
  }

  #updated(old: Stored | undefined, next: KubeObject, manager: string): Managers {
    const value = old === undefined ? {} : ownable(old.object);
    const managers: Managers = old?.managers ?? new Map<string, Set<string>>();
    return modelUpdate({ value, managers }, ownable(next), ownableSchema(this.schema), manager);
  }

  #present({ object, managers }: Stored): KubeObject {
    const managedFields = managedFieldsOf(managers, this.retired ?? object.apiVersion);
    const metadata = { ...object.metadata, ...(managedFields.length > 0 && { managedFields }) };
    return structuredClone({ ...object, metadata });
  }
}
