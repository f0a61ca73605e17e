import type { Gvr } from '../../api/gvr.js';
import type { KubeClient } from '../../kube/client.js';
import { ApiError } from '../../kube/errors.js';
import type { JsonObject, JsonValue } from '../../kube/json-value.js';
import type { LogicalCluster, ObjectName } from '../../kube/object.js';
import type { WorkspaceClient } from '../../vw-client/virtual-workspace.js';
import type { FakeObjects } from './fake-objects.js';

/** Throws what the server would say to a request that is not allowed or not served. */
export type Admission = (verb: string, gvr: Gvr, target?: ObjectName) => void;

/** Lets a test end the process before or after any write. */
export type WriteGate = <T>(write: () => T) => T;

interface ClientOptions {
  readonly admit: Admission;
  readonly gate: WriteGate;
  readonly raw?: (method: 'GET' | 'POST', path: string, body?: JsonObject) => JsonValue;
  readonly at?: (path: string) => KubeClient;
  readonly only?: (gvr: Gvr, names: { readonly name: string }) => boolean;
}

/** A client of one logical cluster of the pretended kcp. */
export function fakeClient(objects: FakeObjects, cluster: string, options: ClientOptions): KubeClient {
  const { admit, gate } = options;
  const only = options.only ?? (() => true);
  return {
    baseUrl: `https://kcp.test/clusters/${cluster}`,
    get: async (gvr, target) => {
      admit('get', gvr, target);
      return objects.get(gvr, cluster, target.name, target.namespace);
    },
    list: async (gvr, list = {}) => {
      admit('list', gvr);
      const items = objects
        .list(gvr, cluster, list.labelSelector)
        .filter(({ metadata }) => list.namespace === undefined || metadata.namespace === list.namespace)
        .filter(({ metadata }) => only(gvr, metadata));
      return { items, resourceVersion: '1' };
    },
    watch: () => {
      throw new Error('stores of tests do not watch');
    },
    create: async (gvr, object) => {
      admit('create', gvr, object.metadata);
      return gate(() => objects.create(gvr, cluster, object));
    },
    replace: async (gvr, object, replace) => {
      admit('update', gvr, object.metadata);
      return gate(() => objects.replace(gvr, cluster, object, replace?.subresource));
    },

    patch: async (gvr, target, _type, body) => {
      admit('patch', gvr, target);
      return gate(() => objects.mergePatch({ gvr, cluster, ...target }, {}, body));
    },
    delete: async (gvr, target, given) => {
      admit('delete', gvr, target);
      return gate(() =>
        objects.delete(gvr, cluster, target.name, { namespace: target.namespace, uid: given?.uid }),
      );
    },
    raw: async (method, path, body) => {
      if (options.raw === undefined) throw new ApiError({ message: 'not served', status: 404, reason: '' });
      return options.raw(method, path, body);
    },
    at: (path) => {
      if (options.at === undefined) throw new Error(`no path ${path} here`);
      return options.at(path);
    },
    close: async () => undefined,
  };
}

/** The same as one workspace of a virtual workspace. */
export function fakeWorkspace(
  objects: FakeObjects,
  cluster: LogicalCluster,
  options: ClientOptions,
): WorkspaceClient {
  const client = fakeClient(objects, cluster, options);
  const { admit, gate } = options;
  return {
    cluster,
    get: (gvr, target) => client.get(gvr, target),
    list: (gvr, list) => client.list(gvr, list),
    create: (gvr, object) => client.create(gvr, object),

    mergePatch: async (gvr, target, guard, patch) => {
      admit('patch', gvr, target);
      return gate(() => objects.mergePatch({ gvr, cluster, ...target }, guard, patch));
    },
    jsonPatch: () => Promise.reject(new Error('not used')),
    replaceStatus: (gvr, object) => client.replace(gvr, object, { subresource: 'status' }),
    delete: (gvr, target, given) => client.delete(gvr, target, given),
    discover: () => Promise.reject(new Error('not used')),
  };
}
