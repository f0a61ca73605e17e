import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isReservedPlace, toConsumerKey, toProviderKey } from './key-mapping.js';
import type { MappingRule, NamespaceLookup } from './key-mapping.js';

const lookup: NamespaceLookup = {
  providerNamespace: (name) => (name === 'ns' ? 'cns-ns' : undefined),
  consumerNamespace: (name) => (name === 'cns-ns' ? 'ns' : undefined),
};
const rule = (scope: MappingRule['scope'], isolation: MappingRule['isolation']): MappingRule => ({
  scope,
  isolation,
  contractNamespace: 'cns',
});

describe('the place of a copy', () => {
  it.each([
    ['Namespaced', 'Prefixed', { namespace: 'ns', name: 'a' }, { namespace: 'cns-ns', name: 'a' }],
    ['Namespaced', 'Namespaced', { namespace: 'ns', name: 'a' }, { namespace: 'cns-ns', name: 'a' }],
    ['Namespaced', 'None', { namespace: 'ns', name: 'a' }, { namespace: 'cns-ns', name: 'a' }],
    ['Cluster', 'Prefixed', { name: 'a' }, { name: 'cns-a' }],
    ['Cluster', 'Namespaced', { name: 'a' }, { namespace: 'cns', name: 'a' }],
    ['Cluster', 'None', { name: 'a' }, { name: 'a' }],
  ] as const)('%s objects with isolation %s go there and back', (scope, isolation, consumer, provider) => {
    expect(toProviderKey(rule(scope, isolation), lookup, consumer)).toEqual({
      kind: 'mapped',
      target: provider,
    });
    expect(toConsumerKey(rule(scope, isolation), lookup, provider)).toEqual(consumer);
  });

  it('is unknown until the provider has named a namespace', () => {
    expect(toProviderKey(rule('Namespaced', 'Prefixed'), lookup, { namespace: 'new', name: 'a' })).toEqual({
      kind: 'namespaceMissing',
      namespace: 'new',
    });
    const unnamed = { ...lookup, providerNamespace: () => '' };
    expect(toProviderKey(rule('Namespaced', 'Prefixed'), unnamed, { namespace: 'ns', name: 'a' }).kind).toBe(
      'namespaceMissing',
    );
  });

  it.each([
    ['Namespaced', 'Prefixed', { namespace: 'other', name: 'a' }],
    ['Namespaced', 'None', { name: 'a' }],
    ['Cluster', 'Prefixed', { name: 'other-a' }],
    ['Cluster', 'Prefixed', { name: 'cns-' }],
    ['Cluster', 'Prefixed', { namespace: 'cns', name: 'cns-a' }],
    ['Cluster', 'Namespaced', { namespace: 'other', name: 'a' }],
    ['Cluster', 'Namespaced', { name: 'a' }],
    ['Cluster', 'None', { namespace: 'x', name: 'a' }],
  ] as const)('%s with isolation %s does not map the foreign %j', (scope, isolation, provider) => {
    expect(toConsumerKey(rule(scope, isolation), lookup, provider)).toBeUndefined();
  });

  it('is reserved for this consumer only where others cannot be meant to write', () => {
    const reserved = (['Namespaced', 'Cluster'] as const).flatMap((scope) =>
      (['Prefixed', 'Namespaced', 'None'] as const)
        .filter((isolation) => isReservedPlace(rule(scope, isolation)))
        .map((isolation) => `${scope}/${isolation}`),
    );
    expect(reserved).toEqual(['Namespaced/Prefixed', 'Namespaced/Namespaced', 'Cluster/Namespaced']);
  });

  it('round-trips for any name', () => {
    const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?$/);
    const isolation = fc.constantFrom<MappingRule['isolation']>('Prefixed', 'Namespaced', 'None');
    fc.assert(
      fc.property(name, isolation, (each, kind) => {
        const mapped = toProviderKey(rule('Cluster', kind), lookup, { name: each });
        expect(
          mapped.kind === 'mapped' && toConsumerKey(rule('Cluster', kind), lookup, mapped.target),
        ).toEqual({
          name: each,
        });
      }),
    );
  });
});
