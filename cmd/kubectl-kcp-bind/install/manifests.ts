import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../src/kube/object.js';
import type { Gvr } from '../../../src/api/gvr.js';
import { GVR } from '../../../src/api/gvr.js';
import { PluginError } from '../errors.js';

/** An object of the installation, and where it is. */
export interface InstalledObject {
  readonly gvr: Gvr;
  readonly object: KubeObject;
}

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const KINDS: Readonly<Record<string, Gvr>> = {
  Namespace: GVR.namespaces,
  APIResourceSchema: GVR.apiResourceSchemas,
  APIExport: GVR.apiExports,
  ClusterRole: GVR.clusterRoles,
  ClusterRoleBinding: GVR.clusterRoleBindings,
  Role: { ...RBAC, resource: 'roles' },
  RoleBinding: { ...RBAC, resource: 'rolebindings' },
  ServiceAccount: GVR.serviceAccounts,
  Secret: GVR.secrets,
};
/** What others refer to comes first. */
const ORDER = Object.keys(KINDS);

/**
 * The objects that `kubectl apply -k apiexport` applies, in an order in which they can be made.
 *
 * @param text the YAML documents of apiexport/ and apiresourceschemas/
 */
export function installedObjects(text: string | undefined): InstalledObject[] {
  const documents = text === undefined ? [] : parseAllDocuments(text);
  const objects = documents.flatMap((document) => {
    const value: unknown = 'toJS' in document ? document.toJS() : undefined;
    return isKubeObject(value) ? [value] : [];
  });
  if (objects.length === 0) {
    throw new PluginError({
      code: 'INTERNAL',
      message: 'this build of the plugin does not contain the installation',
      remedy: 'use a release, or kubectl apply -k apiexport',
    });
  }
  return objects
    .map((object) => {
      const gvr = KINDS[object.kind];
      if (gvr === undefined) throw new Error(`no kind of the installation: ${object.kind}`);
      return { gvr, object };
    })
    .sort((a, b) => ORDER.indexOf(a.object.kind) - ORDER.indexOf(b.object.kind));
}

/** As far as it is needed here; a test holds the shipped files to the rest. */
function isKubeObject(value: unknown): value is KubeObject {
  return typeof value === 'object' && value !== null && 'kind' in value && 'metadata' in value;
}
