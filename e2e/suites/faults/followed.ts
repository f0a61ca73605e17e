import {
  runReflector,
  type ReflectorEvent,
  type ReflectorLimits,
} from '../../../src/kube/cache/reflector.js';
import { ResourceStore } from '../../../src/kube/cache/store.js';
import type { KubeClient } from '../../../src/kube/client.js';
import type { LogicalCluster } from '../../../src/kube/object.js';
import { createSystemClock } from '../../../src/kube/system-clock.js';
import { waitFor } from '../../harness/wait-for.js';

export const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' } as const;

/** A store that follows the ConfigMaps of one namespace. */
export interface Followed {
  /** As they came, without those of the first list: `set NAME` and `missing NAME`. */
  readonly changes: readonly string[];
  /** Complete lists so far. */
  lists(): number;
  reconnects(): number;
  /** Watches that were answered so far. */
  opened(): number;
  /** Resolves when the first list is there and the watch behind it is open. */
  watching(): Promise<void>;
  /** Resolves when the change has come. */
  shows(change: string): Promise<void>;
  /** Closes the client too. */
  stop(): Promise<void>;
}

export function followConfigMaps(
  client: KubeClient,
  namespace: string,
  limits: Partial<ReflectorLimits>,
): Followed {
  // Numbers only: errors would be most of what a test about memory finds.
  const counts = new Map<ReflectorEvent['type'], number>();
  const count = (type: ReflectorEvent['type']) => counts.get(type) ?? 0;
  const changes: string[] = [];
  const stop = new AbortController();
  let open = 0;
  const store = new ResourceStore({});
  const watch = client.watch.bind(client);
  const watched = Object.assign(client, {
    watch: (...[gvr, options]: Parameters<KubeClient['watch']>) =>
      watch(gvr, {
        ...options,
        onOpen: () => {
          open += 1;
          options.onOpen?.();
        },
      }),
  });
  const stopped = runReflector({
    client: watched,
    gvr: CONFIG_MAPS,
    namespace,
    sink: store.source(client.baseUrl, {
      kind: 'fixed',
      cluster: 'provider' as LogicalCluster,
      strict: false,
    }),
    clock: createSystemClock(),
    random: Math.random,
    signal: stop.signal,
    limits,
    onEvent: ({ type }) => counts.set(type, count(type) + 1),
  });
  return {
    changes,
    lists: () => count('listed'),
    reconnects: () => count('reconnect'),
    opened: () => open,
    watching: async () => {
      await waitFor(() => open > 0, { what: 'the watch to be open', interval: 20 });
      store.subscribe(({ type, key }) => changes.push(`${type} ${key.name}`));
    },
    shows: async (change) => {
      await waitFor(() => changes.includes(change), { what: change, timeout: 30_000, interval: 20 });
    },
    stop: async () => {
      stop.abort();
      await stopped;
      await client.close();
    },
  };
}
