import type { Gvr } from '../../api/gvr.js';
import { ApiError } from '../../kube/errors.js';
import { jsonEqual } from '../../kube/json.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { JsonValue } from '../../kube/json-value.js';
import type { KubeObject, ObjectName } from '../../kube/object.js';

/** One change of an object, told after it was made. */
export interface FakeChange {
  readonly gvr: Gvr;
  readonly cluster: string;
  readonly object: KubeObject;
  readonly removed: boolean;
}

/** The objects of all logical clusters of a pretended kcp, with the rules of an API server that matter here. */
export class FakeObjects {
  readonly #objects = new Map<string, { readonly gvr: Gvr; readonly cluster: string; object: KubeObject }>();
  readonly #listeners = new Set<(change: FakeChange) => void>();
  readonly #untold: FakeChange[] = [];
  #version = 0;
  #uid = 0;
  now = (): number => 1_700_000_000_000;

  onChange(listener: (change: FakeChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  find(gvr: Gvr, cluster: string, name: string, namespace?: string): KubeObject | undefined {
    return this.#objects.get(keyOf(gvr, cluster, name, namespace))?.object;
  }

  get(gvr: Gvr, cluster: string, name: string, namespace?: string): KubeObject {
    const object = this.find(gvr, cluster, name, namespace);
    if (object === undefined) throw notFound(gvr, name);
    return object;
  }

  list(gvr: Gvr, cluster?: string, labelSelector?: string): KubeObject[] {
    const found = [...this.#objects.values()].filter(
      (entry) =>
        sameResource(entry.gvr, gvr) &&
        (cluster === undefined || entry.cluster === cluster) &&
        matches(entry.object, labelSelector),
    );
    return found.map(({ object }) => object);
  }

  create(gvr: Gvr, cluster: string, given: KubeObject): KubeObject {
    const { name, namespace } = given.metadata;
    if (this.find(gvr, cluster, name, namespace) !== undefined) throw conflict('AlreadyExists', name);
    const object: KubeObject = {
      ...structuredClone(given),
      metadata: {
        ...structuredClone(given.metadata),
        uid: `uid-${++this.#uid}-${gvr.resource}`,
        generation: 1,
        creationTimestamp: new Date(this.now() + this.#uid).toISOString(),
        annotations: { ...given.metadata.annotations, 'kcp.io/cluster': cluster },
      },
    };
    return this.#put(gvr, cluster, object);
  }

  /** Replaces everything, or the status alone; checks the resourceVersion. */
  replace(gvr: Gvr, cluster: string, given: KubeObject, subresource?: 'status'): KubeObject {
    const now = this.get(gvr, cluster, given.metadata.name, given.metadata.namespace);
    if (given.metadata.resourceVersion !== now.metadata.resourceVersion)
      throw conflict('Conflict', now.metadata.name);
    const status = subresource === 'status' ? given['status'] : now['status'];
    const rest = subresource === 'status' ? now : structuredClone(given);
    return this.#update(gvr, cluster, now, { ...rest, ...(status === undefined ? {} : { status }) });
  }

  mergePatch(
    target: { readonly gvr: Gvr; readonly cluster: string } & ObjectName,
    guard: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined },
    patch: JsonValue,
  ): KubeObject {
    const { gvr, cluster, name, namespace } = target;
    const now = this.get(gvr, cluster, name, namespace);
    const { uid, resourceVersion } = guard;
    if (uid !== undefined && uid !== now.metadata.uid) throw conflict('Conflict', name);
    if (resourceVersion !== undefined && resourceVersion !== now.metadata.resourceVersion) {
      throw conflict('Conflict', name);
    }
    return this.#update(gvr, cluster, now, merge(now, patch) as KubeObject);
  }

  delete(
    gvr: Gvr,
    cluster: string,
    name: string,
    more: { readonly namespace?: string | undefined; readonly uid?: string | undefined } = {},
  ): KubeObject {
    const now = this.get(gvr, cluster, name, more.namespace);
    if (more.uid !== undefined && more.uid !== now.metadata.uid) throw conflict('Conflict', name);
    if (now.metadata.deletionTimestamp !== undefined) return now;
    return this.#update(gvr, cluster, now, {
      ...now,
      metadata: { ...now.metadata, deletionTimestamp: new Date(this.now()).toISOString() },
    });
  }

  /** Changes an object as somebody who is not under test. */
  edit(gvr: Gvr, cluster: string, name: string, change: (object: KubeObject) => KubeObject): KubeObject {
    const now = this.get(gvr, cluster, name);
    return this.#update(gvr, cluster, now, change(now));
  }

  /** Takes over everything that another one holds. */
  load(other: FakeObjects): void {
    for (const [key, entry] of other.#objects) this.#objects.set(key, { ...entry });
    this.#version = other.#version;
    this.#uid = other.#uid;
  }

  /** Everything that is stored, without what differs between two runs that end the same. */
  snapshot(): Record<string, JsonValue> {
    const entries = [...this.#objects.entries()].map(([key, { object }]) => [key, stable(object)] as const);
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #update(gvr: Gvr, cluster: string, before: KubeObject, next: KubeObject): KubeObject {
    const { deletionTimestamp, finalizers } = next.metadata;
    if (deletionTimestamp !== undefined && (finalizers ?? []).length === 0) {
      this.#objects.delete(keyOf(gvr, cluster, next.metadata.name, next.metadata.namespace));
      this.#tell({ gvr, cluster, object: next, removed: true });
      return next;
    }
    if (jsonEqual(next, before)) return before;
    return this.#put(gvr, cluster, next);
  }

  #put(gvr: Gvr, cluster: string, given: KubeObject): KubeObject {
    const object = { ...given, metadata: { ...given.metadata, resourceVersion: String(++this.#version) } };
    this.#objects.set(keyOf(gvr, cluster, object.metadata.name, object.metadata.namespace), {
      gvr,
      cluster,
      object,
    });
    this.#tell({ gvr, cluster, object, removed: false });
    return object;
  }

  /** In the order in which changes were made, also those that a listener makes. */
  #tell(change: FakeChange): void {
    this.#untold.push(change);
    if (this.#untold.length > 1) return;
    for (let next = this.#untold[0]; next !== undefined; next = this.#untold[0]) {
      for (const listener of this.#listeners) listener(next);
      this.#untold.shift();
    }
  }
}

export function sameResource(a: Gvr, b: Gvr): boolean {
  return a.group === b.group && a.resource === b.resource;
}

export function notFound(gvr: Gvr, name: string): ApiError {
  return new ApiError({
    message: `${gvr.resource} "${name}" not found`,
    status: 404,
    reason: 'NotFound',
    body: { kind: 'Status', details: { name, kind: gvr.resource } },
  });
}

export function forbidden(what: string): ApiError {
  return new ApiError({ message: `forbidden: ${what}`, status: 403, reason: 'Forbidden' });
}

function conflict(reason: string, name: string): ApiError {
  return new ApiError({ message: `${name}: ${reason}`, status: 409, reason });
}

function keyOf(gvr: Gvr, cluster: string, name: string, namespace: string | undefined): string {
  return `${cluster}|${gvr.resource}.${gvr.group}|${namespace ?? ''}/${name}`;
}

export function matches(object: KubeObject, selector: string | undefined): boolean {
  if (selector === undefined) return true;
  return selector.split(',').every((part) => {
    const [key = '', value] = part.split('=');
    return object.metadata.labels?.[key] === value;
  });
}

function merge(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch;
  const result = new Map(Object.entries(isJsonObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) result.delete(key);
    else result.set(key, merge(result.get(key), value));
  }
  return Object.fromEntries(result);
}

const UNSTABLE = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'lastTransitionTime', 'generation']);

function stable(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return value.map(stable);
  if (!isJsonObject(value)) return value ?? null;
  const entries = Object.entries(value).filter(([key]) => !UNSTABLE.has(key));
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, stable(item)]),
  );
}
