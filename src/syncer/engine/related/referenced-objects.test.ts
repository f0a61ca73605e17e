import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../kube/json-value.js';
import type { KubeObject } from '../../../kube/object.js';
import { parseClaimSelector } from './claim-selector.js';
import { referencedObjects, resolvesOnProvider } from './referenced-objects.js';

const object = (spec: JsonObject, namespace?: string): KubeObject => ({
  apiVersion: 'example.org/v1',
  kind: 'Database',
  metadata: { name: 'main', ...(namespace !== undefined && { namespace }) },
  spec,
});

function referenced(from: KubeObject, name: string, namespace?: string): string[] {
  const [reference] = parseClaimSelector({
    references: [{ resource: 'databases', group: 'example.org', jsonPath: { name, namespace } }],
  }).references;
  if (reference === undefined) throw new Error('the reference is not understood');
  return referencedObjects(from, reference).map(
    (each) => `${each.namespace ?? '*'}/${each.name}${each.stated ? '!' : ''}`,
  );
}

describe('what an object refers to', () => {
  it('is in its own namespace unless it says otherwise', () => {
    expect(referenced(object({ ref: { name: 'a' } }, 'ns'), 'spec.ref.name')).toEqual(['ns/a']);
    expect(referenced(object({ ref: { name: 'a' } }, 'ns'), 'spec.ref.name', 'spec.ref.namespace')).toEqual([
      'ns/a',
    ]);
    expect(
      referenced(object({ ref: { name: 'a', namespace: 'x' } }, 'ns'), 'spec.ref.name', 'spec.ref.namespace'),
    ).toEqual(['x/a!']);
  });

  it('is in every namespace for an object that is in none', () => {
    expect(referenced(object({ ref: { name: 'a' } }), 'spec.ref.name')).toEqual(['*/a']);
  });

  it('pairs each name of a list with its own namespace', () => {
    const refs = [{ name: 'a', namespace: 'x' }, { name: 'b' }, { namespace: 'y' }];
    expect(referenced(object({ refs }, 'ns'), 'spec.refs.#.name', 'spec.refs.#.namespace')).toEqual([
      'x/a!',
      'ns/b',
    ]);
  });

  it.each([['../a'], ['A'], [''], ['a/b'], ['a'.repeat(254)]])('is nothing for the name %j', (name) => {
    expect(referenced(object({ ref: { name } }, 'ns'), 'spec.ref.name')).toEqual([]);
  });

  it('takes spaces off, as a konnector does', () => {
    expect(referenced(object({ ref: { name: ' a ' } }, 'ns'), 'spec.ref.name')).toEqual(['ns/a']);
  });
});

describe('a reference, as the provider sees it', () => {
  const lookup = {
    providerNamespace: (name: string) => (name === 'same' ? 'same' : `contract-${name}`),
    consumerNamespace: () => undefined,
  };
  const rule = { scope: 'Namespaced', isolation: 'Prefixed', contractNamespace: 'contract' } as const;

  it('leads to the copy where the object states no namespace, or one that is called the same', () => {
    expect(resolvesOnProvider({ name: 'a', namespace: 'ns', stated: false }, rule, lookup)).toBe(true);
    expect(resolvesOnProvider({ name: 'a', namespace: 'same', stated: true }, rule, lookup)).toBe(true);
  });

  it('leads nowhere where the object states a namespace that has another name there', () => {
    expect(resolvesOnProvider({ name: 'a', namespace: 'ns', stated: true }, rule, lookup)).toBe(false);
  });

  it('leads nowhere where copies of cluster-scoped objects lie in the contract namespace', () => {
    const namespaced = { ...rule, scope: 'Cluster', isolation: 'Namespaced' } as const;
    expect(resolvesOnProvider({ name: 'a', stated: false }, namespaced, lookup)).toBe(false);
  });
});
