import { GVR } from '../../api/gvr.js';
import { KUBE_BIND } from '../../api/markers.js';
import type { ProviderContract } from '../../backend/provider/contract.js';
import { mapServiceNamespace } from '../../backend/provider/namespace-mapping.js';
import { followResource } from '../../kube/cache/follow-resource.js';
import type { ReflectorEvent } from '../../kube/cache/reflector.js';
import type { Clock } from '../../kube/clock.js';
import type { KubeObject, LogicalCluster } from '../../kube/object.js';
import type { NamespaceLookup } from '../engine/key-mapping.js';

/** Which namespace of the provider belongs to which of the consumer's, as the provider says. */
export interface NamespaceMap extends NamespaceLookup {
  /** True after one complete list: what is missing then is missing on the provider. */
  readonly synced: boolean;
  whenSynced(signal: AbortSignal): Promise<void>;
  /** The consumer's namespaces that have an APIServiceNamespace, mapped or not. */
  names(): readonly string[];
  /** The provider asks for this namespace of the consumer by itself: it may be made where it is missing. */
  wantedByProvider(consumerNamespace: string): boolean;
  /** Calls back with the consumer's namespace when its APIServiceNamespace came, changed or went. */
  subscribe(listener: (consumerNamespace: string) => void): () => void;
}

export interface FollowNamespacesOptions {
  readonly contract: ProviderContract;
  /** First part of the keys in the store; a provider has none, so the binding's own serves. */
  readonly cluster: LogicalCluster;
  readonly clock: Clock;
  readonly random: () => number;
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  readonly onEvent?: (event: ReflectorEvent) => void;
}

/**
 * Follows the APIServiceNamespaces of a contract namespace until the signal. Where two of them claim one namespace of
 * the provider, neither is mapped: objects in it could not be told apart.
 */
export function followNamespaces(
  options: FollowNamespacesOptions,
): NamespaceMap & { readonly stopped: Promise<void> } {
  const { contract, cluster, clock, random, signal } = options;
  const { namespace } = contract;
  const { store, stopped } = followResource({
    client: contract.client,
    gvr: GVR.serviceNamespaces,
    namespace,
    cluster,
    clock,
    random,
    signal,
    limits: { silenceMs: options.silenceMs },
    ...(options.onEvent && { onEvent: options.onEvent }),
    indexes: { provider: (object) => mapped(object) },
  });
  const consumerNamespace = (providerNamespace: string): string | undefined => {
    const [only, other] = store.byIndex('provider', cluster, providerNamespace);
    return other === undefined ? only?.metadata.name : undefined;
  };
  return {
    stopped,
    get synced() {
      return store.synced;
    },
    whenSynced: (waiting) => store.whenSynced(waiting),
    wantedByProvider: (name) =>
      store.get({ cluster, namespace, name })?.metadata.labels?.[KUBE_BIND.owner] === 'provider',
    names: () => [...store.all()].map((object) => object.metadata.name),
    subscribe: (listener) => store.subscribe((change) => listener(change.key.name)),
    consumerNamespace,
    providerNamespace: (name) => {
      const object = store.get({ cluster, namespace, name });
      const [target] = object === undefined ? [] : mapped(object);
      return target !== undefined && consumerNamespace(target) === name ? target : undefined;
    },
  };
}

function mapped(object: KubeObject): string[] {
  const mapping = mapServiceNamespace(object);
  return mapping.state === 'mapped' ? [mapping.providerNamespace] : [];
}
