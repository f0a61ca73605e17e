import { isJsonObject } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';

/** A DNS label; the provider's status decides into which namespace we write, so it is not taken blindly. */
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Which of the provider's namespaces stands for one of the consumer's. */
export type NamespaceMapping =
  | { readonly state: 'mapped'; readonly providerNamespace: string }
  | { readonly state: 'pending' }
  | { readonly state: 'terminating' };

/** What an APIServiceNamespace says. A name that cannot be a namespace's counts as not there yet. */
export function mapServiceNamespace(object: KubeObject): NamespaceMapping {
  if (object.metadata.deletionTimestamp !== undefined) return { state: 'terminating' };
  const status = object['status'];
  const namespace = isJsonObject(status) ? status['namespace'] : undefined;
  return typeof namespace === 'string' && LABEL.test(namespace)
    ? { state: 'mapped', providerNamespace: namespace }
    : { state: 'pending' };
}

/** Both directions of all mappings of one contract. */
export interface NamespaceIndex {
  toProvider(consumerNamespace: string): string | undefined;
  /** Undefined for namespaces that belong to others. */
  toConsumer(providerNamespace: string): string | undefined;
}

/**
 * The mappings of the given APIServiceNamespaces. Where two of them claim one namespace of the provider, neither
 * counts: objects in it could not be told apart.
 */
export function indexServiceNamespaces(objects: Iterable<KubeObject>): NamespaceIndex {
  const toProvider = new Map<string, string>();
  const toConsumer = new Map<string, string>();
  const claimed = new Set<string>();
  for (const object of objects) {
    const mapping = mapServiceNamespace(object);
    if (mapping.state !== 'mapped') continue;
    const { providerNamespace } = mapping;
    const other = toConsumer.get(providerNamespace);
    if (other !== undefined) toProvider.delete(other);
    if (claimed.has(providerNamespace)) {
      toConsumer.delete(providerNamespace);
      continue;
    }
    claimed.add(providerNamespace);
    toProvider.set(object.metadata.name, providerNamespace);
    toConsumer.set(providerNamespace, object.metadata.name);
  }
  return {
    toProvider: (name) => toProvider.get(name),
    toConsumer: (name) => toConsumer.get(name),
  };
}
