import type { KubeClient } from '../../kube/client.js';
import type { TokenBucket } from '../../kube/transport/token-bucket.js';

/**
 * A client whose requests take turns with those of other clients on one bucket: the bindings of a worker share
 * what they may ask of one server. `lifetime` ends the waiting of requests that have no signal of their own.
 */
export function pacedClient(client: KubeClient, bucket: TokenBucket, lifetime: AbortSignal): KubeClient {
  const turn = (signal: AbortSignal | undefined): Promise<void> => bucket.take(signal ?? lifetime);
  return {
    baseUrl: client.baseUrl,
    get: async (gvr, target, options) => {
      await turn(options?.signal);
      return client.get(gvr, target, options);
    },
    list: async (gvr, options) => {
      await turn(options?.signal);
      return client.list(gvr, options);
    },
    async *watch(gvr, options) {
      await turn(options.signal);
      yield* client.watch(gvr, options);
    },
    create: async (gvr, object, options) => {
      await turn(options?.signal);
      return client.create(gvr, object, options);
    },
    replace: async (gvr, object, options) => {
      await turn(options?.signal);
      return client.replace(gvr, object, options);
    },
    patch: async (...args) => {
      await turn(args[4]?.signal);
      return client.patch(...args);
    },
    delete: async (gvr, target, options) => {
      await turn(options?.signal);
      return client.delete(gvr, target, options);
    },
    raw: async (...args) => {
      await turn(args[3]?.signal);
      return client.raw(...args);
    },
    at: (path) => pacedClient(client.at(path), bucket, lifetime),
    close: () => client.close(),
  };
}
