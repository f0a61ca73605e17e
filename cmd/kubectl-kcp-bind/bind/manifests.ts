import { BINDING_KIND, CONNECTION_KIND, GROUP, VERSION } from '../../../src/api/group.js';
import { BINDING_ANNOTATION, BINDING_UID_LABEL, COMPONENT_LABEL } from '../../../src/api/markers.js';
import type { JsonObject } from '../../../src/kube/json-value.js';
import type { KubeObject } from '../../../src/kube/object.js';
import type { Backend, ClaimState } from '../typed-objects.js';
import type { AnsweredClaim } from './client-claims.js';

/** Which APIExport an APIBinding refers to. */
export interface ExportReference {
  readonly path: string;
  readonly name: string;
}

/** An APIBinding to an export, with its claims answered. */
export function apiBindingManifest(init: {
  readonly name: string;
  readonly export: ExportReference;
  readonly claims: readonly AnsweredClaim[];
}): KubeObject {
  return {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name: init.name },
    spec: {
      reference: { export: { path: init.export.path, name: init.export.name } },
      ...(init.claims.length === 0 ? {} : { permissionClaims: init.claims.map((claim) => ({ ...claim })) }),
    },
  };
}

/**
 * The APIBinding to a binding's generated export, as the controller would make it: by name and label it
 * knows it as one that it may delete again. Claims are answered when kcp has shown them.
 */
export function generatedApiBindingManifest(init: {
  readonly export: ExportReference;
  readonly binding: { readonly name: string; readonly uid: string };
}): KubeObject {
  const manifest = apiBindingManifest({ name: init.export.name, export: init.export, claims: [] });
  return {
    ...manifest,
    metadata: {
      name: init.export.name,
      labels: { [COMPONENT_LABEL]: 'generated-binding', [BINDING_UID_LABEL]: init.binding.uid },
      annotations: { [BINDING_ANNOTATION]: init.binding.name },
    },
  };
}

/** A KubeBindConnection to a backend. Without `challenge` the login page asks for a code from the status. */
export function connectionManifest(init: {
  readonly name: string;
  readonly backend: Backend;
  readonly challenge?: string | undefined;
}): KubeObject {
  return {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: CONNECTION_KIND,
    metadata: { name: init.name },
    spec: {
      backend: { ...init.backend },
      ...(init.challenge === undefined ? {} : { login: { challenge: init.challenge } }),
    },
  };
}

/** A KubeBindBinding to one template of a connection, with consent to its claims. */
export function bindingManifest(init: {
  readonly name: string;
  readonly connection: string;
  readonly template: string;
  readonly claims: readonly ClaimState[];
}): KubeObject {
  return bindingOf(init.name, {
    connection: init.connection,
    template: init.template,
    ...(init.claims.length === 0 ? {} : { permissionClaims: init.claims.map((claim) => ({ ...claim })) }),
  });
}

/** A KubeBindBinding to APIs by name, without a template. */
export function resourceBindingManifest(init: {
  readonly name: string;
  readonly connection: string;
  readonly resources: readonly {
    readonly group: string;
    readonly resource: string;
    readonly versions: readonly string[];
  }[];
}): KubeObject {
  return bindingOf(init.name, {
    connection: init.connection,
    resources: init.resources.map(({ group, resource, versions }) => ({
      group,
      resource,
      versions: [...versions],
    })),
  });
}

function bindingOf(name: string, spec: JsonObject): KubeObject {
  return { apiVersion: `${GROUP}/${VERSION}`, kind: BINDING_KIND, metadata: { name }, spec };
}
