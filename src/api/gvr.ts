/** Group, version and plural resource name. The core group is the empty string. */
export interface Gvr {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** Resources of other projects that this program uses, in the versions that it speaks. */
export const GVR = {
  apiExports: { group: 'apis.kcp.io', version: 'v1alpha2', resource: 'apiexports' },
  apiBindings: { group: 'apis.kcp.io', version: 'v1alpha2', resource: 'apibindings' },
  apiResourceSchemas: { group: 'apis.kcp.io', version: 'v1alpha1', resource: 'apiresourceschemas' },
  apiExportEndpointSlices: { group: 'apis.kcp.io', version: 'v1alpha1', resource: 'apiexportendpointslices' },
  logicalClusters: { group: 'core.kcp.io', version: 'v1alpha1', resource: 'logicalclusters' },
  namespaces: { group: '', version: 'v1', resource: 'namespaces' },
  secrets: { group: '', version: 'v1', resource: 'secrets' },
  configMaps: { group: '', version: 'v1', resource: 'configmaps' },
  serviceAccounts: { group: '', version: 'v1', resource: 'serviceaccounts' },
  events: { group: '', version: 'v1', resource: 'events' },
  leases: { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' },
  clusterRoles: { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' },
  clusterRoleBindings: { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' },
  exportRequests: { group: 'kube-bind.io', version: 'v1alpha2', resource: 'apiserviceexportrequests' },
  exports: { group: 'kube-bind.io', version: 'v1alpha2', resource: 'apiserviceexports' },
  boundSchemas: { group: 'kube-bind.io', version: 'v1alpha2', resource: 'boundschemas' },
  serviceNamespaces: { group: 'kube-bind.io', version: 'v1alpha2', resource: 'apiservicenamespaces' },
  clusterBindings: { group: 'kube-bind.io', version: 'v1alpha2', resource: 'clusterbindings' },
} as const satisfies Record<string, Gvr>;
