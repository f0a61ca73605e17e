import type { KubeBindBinding } from '../../src/api/generated/kubebindbinding.js';
import type { KubeBindConnection } from '../../src/api/generated/kubebindconnection.js';
import type { KubeObject, ObjectMeta } from '../../src/kube/object.js';

/** A KubeBindConnection as the server gives it. */
export type Connection = KubeBindConnection & { metadata: ObjectMeta };
/** A KubeBindBinding as the server gives it. */
export type Binding = KubeBindBinding & { metadata: ObjectMeta };

export type Offer = NonNullable<NonNullable<KubeBindConnection['status']>['offers']>[number];
export type Backend = NonNullable<KubeBindConnection['spec']['backend']>;
export type ClaimState = NonNullable<KubeBindBinding['spec']['permissionClaims']>[number];
export type ApiCondition = NonNullable<NonNullable<KubeBindBinding['status']>['conditions']>[number];

/** A claim in an APIExport, or as an APIBinding answers it. */
export interface PermissionClaim {
  group?: string;
  resource: string;
  verbs?: string[];
  identityHash?: string;
}

/** kcp's APIBinding, as far as the plugin reads it. */
export interface ApiBinding {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: {
    reference?: { export?: { path?: string; name: string } };
    permissionClaims?: (PermissionClaim & {
      state: 'Accepted' | 'Rejected';
      selector?: { matchAll?: boolean };
    })[];
  };
  status?: {
    phase?: string;
    apiExportClusterName?: string;
    exportPermissionClaims?: PermissionClaim[];
    boundResources?: { group: string; resource: string }[];
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
  };
}

// The casts below rest on the structural schema that the API server holds every object to.

export function asConnection(object: KubeObject): Connection {
  return object as unknown as Connection;
}

export function asBinding(object: KubeObject): Binding {
  return object as unknown as Binding;
}

export function asApiBinding(object: KubeObject): ApiBinding {
  return object as unknown as ApiBinding;
}

/** Back to the untyped form that the client sends. */
export function asObject(object: Connection | Binding | ApiBinding): KubeObject {
  return object as unknown as KubeObject;
}
