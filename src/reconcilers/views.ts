import type { KubeBindBinding } from '../api/generated/kubebindbinding.js';
import type { KubeBindConnection } from '../api/generated/kubebindconnection.js';
import type { KubeObject } from '../kube/object.js';
import { isJsonObject } from '../kube/json-value.js';
import type { JsonObject, JsonValue } from '../kube/json-value.js';
import { FORCE_RELEASE_ANNOTATION, CLEANUP_FINALIZER } from '../api/markers.js';

export type BindingSpec = KubeBindBinding['spec'];
export type BindingStatus = NonNullable<KubeBindBinding['status']>;
export type ConnectionSpec = KubeBindConnection['spec'];
export type ConnectionStatus = NonNullable<KubeBindConnection['status']>;

/**
 * Spec of a binding. Its shape was enforced at admission by the schema that the type is generated from;
 * only what a broken server could send is caught here: no spec at all.
 */
export function bindingSpec(object: KubeObject): BindingSpec {
  const spec = object['spec'];
  return isJsonObject(spec) && typeof spec['connection'] === 'string'
    ? (spec as unknown as BindingSpec)
    : { connection: '' };
}

export function bindingStatus(object: KubeObject): BindingStatus {
  const status = object['status'];
  return isJsonObject(status) ? status : {};
}

/** Spec of a connection; see `bindingSpec`. */
export function connectionSpec(object: KubeObject): ConnectionSpec {
  const spec = object['spec'];
  return isJsonObject(spec) ? spec : {};
}

export function connectionStatus(object: KubeObject): ConnectionStatus {
  const status = object['status'];
  return isJsonObject(status) ? status : {};
}

export function isDeleting(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

export function hasCleanupFinalizer(object: KubeObject): boolean {
  return object.metadata.finalizers?.includes(CLEANUP_FINALIZER) ?? false;
}

export function isForced(object: KubeObject): boolean {
  return object.metadata.annotations?.[FORCE_RELEASE_ANNOTATION] === 'true';
}

/** The value at a path of keys, or undefined where any step is not an object. */
export function at(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let here = value;
  for (const key of path) {
    if (!isJsonObject(here)) return undefined;
    here = here[key];
  }
  return here;
}

export function textAt(value: JsonValue | undefined, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** The objects of a list at a path; anything else in it is left out. */
export function objectsAt(value: JsonValue | undefined, ...path: readonly string[]): readonly JsonObject[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter(isJsonObject) : [];
}

export function textsAt(value: JsonValue | undefined, ...path: readonly string[]): readonly string[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter((item) => typeof item === 'string') : [];
}
