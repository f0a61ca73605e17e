import type { KubeClient } from './client.js';

/** A write was stopped because this process does not hold the Lease (any more). */
export class NotLeaderError extends Error {
  override readonly name = 'NotLeaderError';
}

/**
 * The same client, which writes only while `mayWrite` says so; reads always pass. Also holds for clients made
 * with `at`. It is asked at the last moment before a request goes out.
 */
export function fencedClient(client: KubeClient, mayWrite: () => boolean): KubeClient {
  const guard = (): void => {
    if (!mayWrite()) throw new NotLeaderError('the lease is not held; nothing is written');
  };
  return {
    get baseUrl() {
      return client.baseUrl;
    },
    get: (gvr, target, options) => client.get(gvr, target, options),
    list: (gvr, options) => client.list(gvr, options),
    watch: (gvr, options) => client.watch(gvr, options),
    create: async (gvr, object, options) => {
      guard();
      return client.create(gvr, object, options);
    },
    replace: async (gvr, object, options) => {
      guard();
      return client.replace(gvr, object, options);
    },
    // eslint-disable-next-line max-params -- the contract of KubeClient
    patch: async (gvr, target, type, body, options) => {
      guard();
      return client.patch(gvr, target, type, body, options);
    },
    delete: async (gvr, target, options) => {
      guard();
      return client.delete(gvr, target, options);
    },
    raw: async (method, path, body, options) => {
      if (method !== 'GET') guard();
      return client.raw(method, path, body, options);
    },
    at: (path) => fencedClient(client.at(path), mayWrite),
    close: () => client.close(),
  };
}
