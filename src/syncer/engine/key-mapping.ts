import type { ObjectName } from '../../kube/object.js';

/** How a backend keeps consumers apart (`APIServiceExport.spec.isolation`); unknown values count as `None`. */
export type Isolation = 'Prefixed' | 'Namespaced' | 'None';

/** What decides where the copy of an object lives on the provider. */
export interface MappingRule {
  /** `BoundSchema.spec.scope`: the scope of the API in the consumer's workspace. */
  readonly scope: 'Cluster' | 'Namespaced';
  readonly isolation: Isolation;
  /** The provider's namespace of this consumer. */
  readonly contractNamespace: string;
}

/** What the provider's APIServiceNamespaces say: consumer namespace (name) ↔ provider namespace (status.namespace). */
export interface NamespaceLookup {
  providerNamespace(consumerNamespace: string): string | undefined;
  consumerNamespace(providerNamespace: string): string | undefined;
}

export type ProviderKey =
  | { readonly kind: 'mapped'; readonly target: ObjectName }
  /** The provider has not named a namespace for this one yet. */
  | { readonly kind: 'namespaceMissing'; readonly namespace: string };

/** Address of the copy that belongs to a consumer's object. */
export function toProviderKey(
  rule: MappingRule,
  namespaces: NamespaceLookup,
  consumer: ObjectName,
): ProviderKey {
  if (rule.scope === 'Cluster') return { kind: 'mapped', target: clusterScopedTarget(rule, consumer.name) };
  const namespace = consumer.namespace ?? '';
  const mapped = namespaces.providerNamespace(namespace);
  if (mapped === undefined || mapped === '') return { kind: 'namespaceMissing', namespace };
  return { kind: 'mapped', target: { namespace: mapped, name: consumer.name } };
}

/**
 * Address of the consumer's object that a provider's object may belong to; undefined for one outside of what
 * is mapped. With isolation None every cluster-scoped object maps to something: ownership is proven by marks.
 */
export function toConsumerKey(
  rule: MappingRule,
  namespaces: NamespaceLookup,
  provider: ObjectName,
): ObjectName | undefined {
  if (rule.scope === 'Namespaced') {
    if (provider.namespace === undefined) return undefined;
    const namespace = namespaces.consumerNamespace(provider.namespace);
    return namespace === undefined ? undefined : { namespace, name: provider.name };
  }
  if (rule.isolation === 'Namespaced')
    return provider.namespace === rule.contractNamespace ? { name: provider.name } : undefined;
  if (provider.namespace !== undefined) return undefined;
  if (rule.isolation === 'None') return { name: provider.name };
  const prefix = `${rule.contractNamespace}-`;
  if (!provider.name.startsWith(prefix) || provider.name.length === prefix.length) return undefined;
  return { name: provider.name.slice(prefix.length) };
}

/**
 * Where a backend puts a consumer namespace by convention. Used only to look for a copy whose
 * APIServiceNamespace is gone, never to write one.
 */
export function conventionalNamespace(rule: MappingRule, consumerNamespace: string): string {
  return rule.isolation === 'None' ? consumerNamespace : `${rule.contractNamespace}-${consumerNamespace}`;
}

/**
 * True where the address alone shows that the place is reserved for this consumer: nobody else is meant to
 * have objects there, so an unmarked one may be adopted.
 */
export function isReservedPlace(rule: MappingRule): boolean {
  return rule.isolation !== 'None' && (rule.scope === 'Namespaced' || rule.isolation === 'Namespaced');
}

function clusterScopedTarget(rule: MappingRule, name: string): ObjectName {
  switch (rule.isolation) {
    case 'Prefixed':
      return { name: `${rule.contractNamespace}-${name}` };
    case 'Namespaced':
      return { namespace: rule.contractNamespace, name };
    case 'None':
      return { name };
  }
}
