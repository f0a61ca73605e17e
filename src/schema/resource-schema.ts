import type { JsonObject } from '../kube/json-value.js';

/** Bytes of the JSON of one APIResourceSchema's spec. */
export const MAX_SPEC_BYTES = 2 * 1024 * 1024;
export const MAX_VERSIONS = 32;
/** Nodes on the longest way through a JSON schema. Real ones stay below 40. */
export const MAX_SCHEMA_DEPTH = 100;
/** Levels of JSON in a spec: each level of a JSON schema takes two or three; defaults may nest on their own. */
export const MAX_SPEC_DEPTH = 400;

/**
 * Spec of kcp's APIResourceSchema (apis.kcp.io/v1alpha1), as far as this program writes it. Type aliases, so
 * that the values are JSON objects to the compiler.
 */
// eslint-disable-next-line @typescript-eslint/consistent-type-definitions
export type ResourceSchemaSpec = {
  group: string;
  names: ResourceNames;
  scope: ResourceScope;
  versions: SchemaVersion[];
  /** Needed by kcp as soon as there are two versions. */
  conversion?: { strategy: 'None' };
};

type ResourceScope = 'Cluster' | 'Namespaced';

// eslint-disable-next-line @typescript-eslint/consistent-type-definitions
export type ResourceNames = {
  plural: string;
  singular: string;
  kind: string;
  listKind: string;
  shortNames?: string[];
  categories?: string[];
};

// eslint-disable-next-line @typescript-eslint/consistent-type-definitions
export type SchemaVersion = {
  name: string;
  served: boolean;
  /** True for exactly one version. */
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  /** The bare JSON schema, without the `openAPIV3Schema` around it. */
  schema: JsonObject;
  subresources?: { status?: JsonObject; scale?: JsonObject };
  additionalPrinterColumns?: JsonObject[];
};

/** One API, converted. The same shape as in a worker's report. */
export interface ConvertedSchema {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly scope: ResourceScope;
  /** Names of the served versions, in the provider's order. */
  readonly versions: readonly string[];
  /** The first served version: the one that is synced on both sides. */
  readonly syncVersion: string;
  /** SHA-256, hex, of `specJson`. */
  readonly contentHash: string;
  /** Canonical JSON of the spec; at most MAX_SPEC_BYTES. */
  readonly specJson: string;
}

/** The version that is synced on both sides: the first one that is served. */
export function syncVersionOf(spec: ResourceSchemaSpec): SchemaVersion | undefined {
  return spec.versions.find((version) => version.served);
}
