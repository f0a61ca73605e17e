import type { KubeClient } from '../../kube/client.js';

/**
 * A client whose requests and watches wait for their turn before they are made: the bindings of a worker share what
 * they may ask of one server.
 */
export function pacedClient(
  client: KubeClient,
  turn: (signal: AbortSignal | undefined) => Promise<void>,
): KubeClient {
  return {
    get baseUrl() {
      return client.baseUrl;
    },
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
    at: (path) => pacedClient(client.at(path), turn),
    close: () => client.close(),
  };
}
