import type { Gvr } from '../api/gvr.js';
import type { JsonObject, JsonValue } from './json-value.js';

export type { Gvr };

/** A logical cluster's name, as in annotation `kcp.io/cluster`. Never a workspace path. */
export type LogicalCluster = string & { readonly __brand: 'LogicalCluster' };

/** Addresses one object of a resource; `namespace` is absent for cluster-scoped ones. */
export interface ObjectName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface OwnerReference extends JsonObject {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
}

/** The part of ObjectMeta that this program reads; unknown fields are kept. */
export interface ObjectMeta extends JsonObject {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: JsonValue[];
}

/** Any Kubernetes object, untyped below `metadata`. */
export interface KubeObject extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** One page of a list. */
export interface ObjectList {
  readonly items: KubeObject[];
  readonly resourceVersion: string;
  /** Present when there are more pages. */
  readonly continue?: string;
}

/** An event of a watch, after in-stream ERROR events became exceptions. */
export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean };
