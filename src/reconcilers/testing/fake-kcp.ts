import { BINDINGS, CONNECTIONS, GROUP } from '../../api/group.js';
import { GVR } from '../../api/gvr.js';
import type { Gvr } from '../../api/gvr.js';
import type { KubeClient } from '../../kube/client.js';
import { ApiError } from '../../kube/errors.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../kube/json-value.js';
import type { KubeObject, LogicalCluster, ObjectName } from '../../kube/object.js';
import type { ObjectStore } from '../../kube/cache/object-store.js';
import type { VirtualWorkspace, WorkspaceClient } from '../../vw-client/virtual-workspace.js';
import { readClaims, refersTo } from '../claims.js';
import { objectsAt, textAt } from '../views.js';
import { fakeClient, fakeWorkspace } from './fake-client.js';
import type { WriteGate } from './fake-client.js';
import { clusterOf, FakeStore } from './fake-store.js';
import { FakeObjects, forbidden, sameResource } from './fake-objects.js';
import type { FakeChange } from './fake-objects.js';

export const CLIENT_CLUSTER = 'client0cluster' as LogicalCluster;
export const HOME = { path: 'root:kube-bind', cluster: CLIENT_CLUSTER };
export const CLIENT_EXPORT = GROUP;
export const NAMESPACE = 'kube-bind';

const ALL_VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
/** What the client export claims, as `resource.group` with verbs. */
const CLAIMS = [
  { group: 'core.kcp.io', resource: 'logicalclusters', verbs: ['get', 'list', 'watch'] },
  { group: 'apis.kcp.io', resource: 'apibindings', verbs: ALL_VERBS },
  ...['secrets', 'configmaps', 'serviceaccounts'].map((resource) => ({
    group: '',
    resource,
    verbs: ALL_VERBS,
  })),
  { group: '', resource: 'namespaces', verbs: ['get', 'list', 'watch', 'create'] },
  { group: '', resource: 'events', verbs: ['get', 'create', 'patch'] },
];

/** Most changes are status of our own kinds, which kcp does nothing about. */
function concernsKcp({ gvr, removed }: FakeChange): boolean {
  if (gvr.group === GROUP || sameResource(gvr, INSTANCES)) return removed;
  return gvr.group === 'apis.kcp.io';
}

/** Instances of bound APIs, whatever they are; a test puts objects with finalizers there. */
export const INSTANCES: Gvr = { group: 'example.test', version: 'v1', resource: 'widgets' };

/**
 * A pretended kcp: the client workspace, consumer workspaces, APIBindings that get bound, endpoint slices, and
 * the virtual workspaces of all exports with the claims that count in each workspace.
 */
export class FakeKcp {
  readonly objects = new FakeObjects();
  /** Naming conflicts by workspace: what kcp would say instead of binding. */
  readonly conflicts = new Map<string, string>();
  /** How kcp refuses an APIResourceSchema: its words, its status, and which ones by a part of their name. */
  refuseSchemas: { readonly message: string; readonly status?: number; readonly of?: string } | undefined;
  /** APIResourceSchemas that were sent, the refused ones too. */
  schemasSent = 0;
  /** Virtual workspaces of generated exports answer with 503. */
  silent = false;
  /** Virtual workspaces of generated exports answer with 404: bound, and not served yet. */
  unserved = false;
  /** How caches learn of changes; at once unless a test lets them lag. */
  later = (deliver: () => void): void => deliver();
  tokens = 0;

  constructor() {
    this.objects.onChange((change) => {
      if (concernsKcp(change)) this.#settle();
    });
  }

  /** A workspace whose APIBinding to the client export accepts the named claims (`resource`). */
  addWorkspace(cluster: string, accepted: readonly string[]): void {
    this.objects.create(GVR.logicalClusters, cluster, {
      apiVersion: 'core.kcp.io/v1alpha1',
      kind: 'LogicalCluster',
      metadata: { name: 'cluster', annotations: { 'kcp.io/path': `root:${cluster}` }, finalizers: ['kcp'] },
    });
    this.objects.create(GVR.apiBindings, cluster, {
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIBinding',
      metadata: { name: 'kube-bind' },
      spec: { reference: { export: { path: HOME.path, name: CLIENT_EXPORT } } },
    });
    this.accept(cluster, accepted);
  }

  accept(cluster: string, accepted: readonly string[]): void {
    this.objects.edit(GVR.apiBindings, cluster, 'kube-bind', (object) => ({
      ...object,
      spec: {
        reference: { export: { path: HOME.path, name: CLIENT_EXPORT } },
        permissionClaims: CLAIMS.map((claim) => ({
          ...claim,
          selector: { matchAll: true },
          state: accepted.includes(claim.resource) ? 'Accepted' : 'Rejected',
        })),
      },
      status: { phase: 'Bound', exportPermissionClaims: CLAIMS.map((claim) => ({ ...claim })) },
    }));
  }

  clientWorkspace(gate: WriteGate): KubeClient {
    return fakeClient(this.objects, CLIENT_CLUSTER, {
      admit: (verb, gvr, target) => {
        if (verb !== 'create' || !sameResource(gvr, GVR.apiResourceSchemas)) return;
        this.schemasSent += 1;
        const { message, status = 422, of = '' } = this.refuseSchemas ?? {};
        if (message === undefined || target?.name.includes(of) !== true) return;
        throw new ApiError({ message, status, reason: status === 422 ? 'Invalid' : 'InternalError' });
      },
      gate,
      raw: (_method, path) => this.#token(path),
    });
  }

  store(gvr: Gvr, labelSelector?: string): FakeStore {
    return new FakeStore(this.objects, gvr, {
      cluster: CLIENT_CLUSTER,
      labelSelector,
      later: (deliver) => this.later(deliver),
    });
  }

  /** The client export's virtual workspace for one process. */
  virtualWorkspace(gate: WriteGate): VirtualWorkspace & { readonly stores: FakeStore[] } {
    const stores = new Map<string, FakeStore>();
    return {
      get stores() {
        return [...stores.values()];
      },
      follow: (gvr, options): ObjectStore => {
        const key = JSON.stringify([gvr, options]);
        const known = stores.get(key);
        if (known !== undefined) return known;
        const store = new FakeStore(this.objects, gvr, {
          labelSelector: options?.labelSelector,
          later: (deliver) => this.later(deliver),
          visible: (cluster, object) => cluster !== CLIENT_CLUSTER && this.#isVisible(cluster, gvr, object),
        });
        stores.set(key, store);
        return store;
      },
      workspace: (cluster): WorkspaceClient =>
        fakeWorkspace(this.objects, cluster, {
          admit: (verb, gvr, target) => this.#admit(cluster, verb, gvr, target),
          gate,
          only: (gvr, { name }) => {
            const object = this.objects.find(gvr, cluster, name);
            return object === undefined || this.#isVisible(cluster, gvr, object);
          },
        }),
      urls: ['https://vw.test/services/apiexport/client0cluster/kcp.kube-bind.io'],
      onUrls: () => () => undefined,
      close: async () => stores.forEach((store) => store.close()),
    };
  }

  /** `connectUrl` for virtual workspaces of generated exports. */
  generatedWorkspaces(gate: WriteGate): (base: string) => KubeClient {
    const at = (path: string): KubeClient => ({
      ...fakeClient(this.objects, 'nowhere', { admit: () => undefined, gate }),
      at: (more) => {
        const full = path + more;
        const match = /\/([^/]+)\/clusters\/([^/]+)$/.exec(full);
        return match?.[1] === undefined || match[2] === undefined
          ? at(full)
          : this.#generated(match[1], match[2], gate);
      },
    });
    return () => at('');
  }

  #generated(exportName: string, cluster: string, gate: WriteGate): KubeClient {
    const bound = (): KubeObject | undefined =>
      this.objects.list(GVR.apiBindings, cluster).find((object) => refersTo(object, HOME, exportName));
    return fakeClient(this.objects, cluster, {
      gate,
      admit: (verb, gvr, target) => {
        if (this.silent) throw new ApiError({ message: 'the shard is away', status: 503, reason: '' });
        if (this.objects.find(GVR.apiExports, CLIENT_CLUSTER, exportName) === undefined) {
          throw new ApiError({ message: 'API export not found', status: 500, reason: 'InternalError' });
        }
        const binding = bound();
        if (binding === undefined) throw forbidden('could not find suitable APIBinding');
        if (sameResource(gvr, GVR.apiBindings)) {
          const accepts = objectsAt(binding, 'spec', 'permissionClaims').some(
            (claim) => claim['resource'] === 'apibindings' && claim['state'] === 'Accepted',
          );
          if (verb === 'delete' && !accepts) throw forbidden('delete apibindings');
          if (target !== undefined && target.name !== binding.metadata.name) throw forbidden(target.name);
        } else if (this.unserved) throw new ApiError({ message: 'not served yet', status: 404, reason: '' });
      },
      only: (gvr, { name }) => !sameResource(gvr, GVR.apiBindings) || name === bound()?.metadata.name,
    });
  }

  #isVisible(cluster: string, gvr: Gvr, object: KubeObject): boolean {
    if (gvr.group === GROUP) return true;
    if (sameResource(gvr, GVR.apiBindings) && refersTo(object, HOME, CLIENT_EXPORT)) return true;
    return this.#allows(cluster, gvr, 'list');
  }

  #admit(cluster: LogicalCluster, verb: string, gvr: Gvr, target: ObjectName | undefined): void {
    const client = this.objects.list(GVR.apiBindings, cluster).some((o) => refersTo(o, HOME, CLIENT_EXPORT));
    if (!client) throw forbidden('no APIBinding to the client export');
    if (gvr.group === GROUP || (sameResource(gvr, GVR.apiBindings) && verb === 'list')) return;
    if (!this.#allows(cluster, gvr, verb)) throw forbidden(`${verb} ${gvr.resource} ${target?.name ?? ''}`);
  }

  #allows(cluster: string, gvr: Gvr, verb: string): boolean {
    return readClaims(this.objects.list(GVR.apiBindings, cluster), HOME, CLIENT_EXPORT).allows(gvr, verb);
  }

  #token(path: string): JsonValue {
    const account = /\/serviceaccounts\/([^/]+)\/token$/.exec(path)?.[1] ?? '';
    this.objects.get(GVR.serviceAccounts, CLIENT_CLUSTER, account, NAMESPACE);
    const expirationTimestamp = new Date(this.objects.now() + 3_600_000).toISOString();
    return { status: { token: `token-${String(++this.tokens)}`, expirationTimestamp } };
  }

  #settling = false;

  /** What kcp's own controllers do after each change, until nothing changes any more. */
  #settle(): void {
    if (this.#settling) return;
    this.#settling = true;
    for (const apiExport of this.objects.list(GVR.apiExports, CLIENT_CLUSTER)) this.#followExport(apiExport);
    for (const slice of this.objects.list(GVR.apiExportEndpointSlices, CLIENT_CLUSTER))
      this.#followSlice(slice);
    for (const binding of this.objects.list(GVR.apiBindings)) this.#followBinding(binding);
    for (const slice of this.objects.list(GVR.apiExportEndpointSlices, CLIENT_CLUSTER))
      this.#followSlice(slice);
    this.#settling = false;
  }

  #followExport(apiExport: KubeObject): void {
    const { name } = apiExport.metadata;
    const secret = textAt(apiExport, 'spec', 'identity', 'secretRef', 'name') ?? '';
    const key = textAt(this.objects.find(GVR.secrets, CLIENT_CLUSTER, secret, NAMESPACE), 'data', 'key');
    if (key !== undefined && textAt(apiExport, 'status', 'identityHash') === undefined) {
      this.objects.edit(GVR.apiExports, CLIENT_CLUSTER, name, (object) => ({
        ...object,
        status: { identityHash: key },
      }));
    }
    if (this.objects.find(GVR.apiExportEndpointSlices, CLIENT_CLUSTER, name) === undefined) {
      this.objects.create(GVR.apiExportEndpointSlices, CLIENT_CLUSTER, {
        apiVersion: 'apis.kcp.io/v1alpha1',
        kind: 'APIExportEndpointSlice',
        metadata: { name },
      });
    }
  }

  #followSlice({ metadata: { name } }: KubeObject): void {
    if (this.objects.find(GVR.apiExports, CLIENT_CLUSTER, name) === undefined) {
      this.objects.delete(GVR.apiExportEndpointSlices, CLIENT_CLUSTER, name);
      return;
    }
    const isBound = this.objects.list(GVR.apiBindings).some((object) => refersTo(object, HOME, name));
    const endpoints = isBound
      ? [{ url: `https://vw.test/services/apiexport/${CLIENT_CLUSTER}/${name}` }]
      : [];
    this.objects.edit(GVR.apiExportEndpointSlices, CLIENT_CLUSTER, name, (object) => ({
      ...object,
      status: { endpoints },
    }));
  }

  #followBinding(binding: KubeObject): void {
    const cluster = clusterOf(binding);
    const { name, deletionTimestamp } = binding.metadata;
    const exportName = textAt(binding, 'spec', 'reference', 'export', 'name') ?? '';
    if (exportName === CLIENT_EXPORT) {
      this.#followClientBinding(cluster, name, deletionTimestamp !== undefined);
      return;
    }
    const isReleased = deletionTimestamp !== undefined && this.objects.list(INSTANCES, cluster).length === 0;
    const finalizers = isReleased ? [] : ['apis.kcp.io/apibinding-finalizer'];
    const apiExport = this.objects.find(GVR.apiExports, CLIENT_CLUSTER, exportName);
    const status =
      isReleased || apiExport === undefined
        ? binding['status']
        : this.#bindingStatus(cluster, binding, apiExport);
    this.objects.edit(GVR.apiBindings, cluster, name, (object) => ({
      ...object,
      metadata: { ...object.metadata, finalizers },
      ...(status === undefined ? {} : { status }),
    }));
  }

  /** Our kinds' objects go with the workspace's APIBinding to us, which waits for their finalizers. */
  #followClientBinding(cluster: string, name: string, deleting: boolean): void {
    if (deleting) {
      for (const gvr of [CONNECTIONS, BINDINGS]) {
        for (const { metadata } of this.objects.list(gvr, cluster))
          this.objects.delete(gvr, cluster, metadata.name);
      }
    }
    const left = [CONNECTIONS, BINDINGS].some((gvr) => this.objects.list(gvr, cluster).length > 0);
    const finalizers = deleting && !left ? [] : ['apis.kcp.io/apibinding-finalizer'];
    this.objects.edit(GVR.apiBindings, cluster, name, (object) => ({
      ...object,
      metadata: { ...object.metadata, finalizers },
    }));
  }

  #bindingStatus(cluster: string, binding: KubeObject, apiExport: KubeObject): JsonObject {
    const before = isJsonObject(binding['status']) ? binding['status'] : {};
    const conflict = this.conflicts.get(cluster);
    if (conflict !== undefined) {
      const state = { status: 'False', reason: 'NamingConflicts', message: conflict };
      return {
        ...before,
        phase: 'Binding',
        conditions: [
          { type: 'InitialBindingCompleted', ...state },
          { type: 'BindingUpToDate', ...state },
        ],
      };
    }
    return {
      phase: 'Bound',
      exportPermissionClaims: objectsAt(apiExport, 'spec', 'permissionClaims').map((claim) => ({ ...claim })),
      conditions: ['InitialBindingCompleted', 'BindingUpToDate'].map((type) => ({ type, status: 'True' })),
      boundResources: objectsAt(apiExport, 'spec', 'resources').map((resource) => ({
        group: textAt(resource, 'group') ?? '',
        resource: textAt(resource, 'name') ?? '',
        schema: { name: textAt(resource, 'schema') ?? '' },
        storageVersions: ['v1'],
      })),
    };
  }
}
