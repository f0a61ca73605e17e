import type { LogicalCluster } from '../object.js';
import { runReflector } from './reflector.js';
import type { ReflectorOptions } from './reflector.js';
import { ResourceStore } from './store.js';
import type { ResourceStoreOptions } from './store.js';

export interface FollowOptions<I extends string = never>
  extends Omit<ReflectorOptions, 'sink'>, ResourceStoreOptions<I> {
  /** First part of every key in the store. For a provider, which has none, any fixed name. */
  readonly cluster: LogicalCluster;
  /**
   * Refuse objects whose `kcp.io/cluster` is not `cluster`: for one workspace of a virtual workspace.
   * Default false: annotations do not count.
   */
  readonly strict?: boolean;
}

export interface FollowedResource<I extends string = never> {
  readonly store: ResourceStore<I>;
  /** Resolves after the signal, when nothing runs any more. */
  readonly stopped: Promise<void>;
}

/** A store that one reflector keeps equal to one resource of one server, until the signal. */
export function followResource<I extends string = never>(options: FollowOptions<I>): FollowedResource<I> {
  const store = new ResourceStore<I>(options);
  const { cluster, strict = false } = options;
  const sink = store.source(options.client.baseUrl, { kind: 'fixed', cluster, strict });
  return { store, stopped: runReflector({ ...options, sink }) };
}
