import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../kube/json-value.js';
import { parseJson } from '../../../kube/json.js';
import { parseClaimSelector, selectsByItself, selectsNothing } from './claim-selector.js';

const selects = (selector: JsonObject, name: string, labels: JsonObject = {}, namespace = 'ns'): boolean =>
  selectsByItself(parseClaimSelector(selector), { namespace, name }, labels);

describe('the selector of a claim', () => {
  it.each<[string, JsonObject]>([
    ['none', {}],
    ['nulls', { labelSelector: null, namedResources: null, references: null }],
    ['an empty label selector', { labelSelector: {} }],
    ['a label selector without requirements', { labelSelector: { matchLabels: {}, matchExpressions: [] } }],
    ['empty lists', { namedResources: [], references: [] }],
    ['words in place of lists', { labelSelector: 'a=b', namedResources: 'all', references: 1 }],
    ['a part that is not known', { labelSelector: { matchLabels: { a: 'b' }, matchFields: [] } }],
    [
      'an operator that is not known',
      { labelSelector: { matchExpressions: [{ key: 'a', operator: 'Gt' }] } },
    ],
    ['In without values', { labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }],
    ['a label that is no text', { labelSelector: { matchLabels: { a: 1 } } }],
    ['a name that is none', { namedResources: [{ name: '' }, { namespace: 'x' }, null] }],
    ['a query', { references: [{ resource: 'a', jsonPath: { name: 'a.#(b==1)' } }] }],
    [
      'a namespace path that is not understood',
      { references: [{ resource: 'a', jsonPath: { name: 'a', namespace: '*' } }] },
    ],
  ])('with %s selects nothing', (_, selector) => {
    const parsed = parseClaimSelector(selector);
    expect(selectsNothing(parsed)).toBe(true);
    expect(selectsByItself(parsed, { namespace: 'ns', name: 'a' }, { a: 'b' })).toBe(false);
  });

  it.each<[JsonObject, JsonObject, boolean]>([
    [{ matchLabels: { a: '1' } }, { a: '1', b: '2' }, true],
    [{ matchLabels: { a: '1' } }, { a: '2' }, false],
    [{ matchLabels: { a: '1', b: '2' } }, { a: '1' }, false],
    [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['1', '2'] }] }, { a: '2' }, true],
    [{ matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['1'] }] }, {}, true],
    [{ matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['1'] }] }, { a: '1' }, false],
    [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }, { a: '' }, true],
    [{ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, {}, false],
    [{ matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }, {}, true],
    [{ matchLabels: { a: '1' }, matchExpressions: [{ key: 'b', operator: 'Exists' }] }, { a: '1' }, false],
  ])('%j matches labels %j: %s', (labelSelector, labels, expected) => {
    expect(selects({ labelSelector }, 'x', labels)).toBe(expected);
  });

  it('selects by name, in one namespace or in all', () => {
    const selector = { namedResources: [{ name: 'a' }, { name: 'b', namespace: 'ns' }] };
    expect(selects(selector, 'a', {}, 'other')).toBe(true);
    expect(selects(selector, 'b')).toBe(true);
    expect(selects(selector, 'b', {}, 'other')).toBe(false);
    expect(selects(selector, 'c')).toBe(false);
  });

  it('selects what any one of its parts selects', () => {
    const selector = { labelSelector: { matchLabels: { a: '1' } }, namedResources: [{ name: 'b' }] };
    expect(selects(selector, 'a', { a: '1' })).toBe(true);
    expect(selects(selector, 'b')).toBe(true);
  });

  it('reads keys such as __proto__ as keys', () => {
    const selector = parseJson('{"labelSelector":{"matchLabels":{"__proto__":"x"}}}') as JsonObject;
    expect(selects(selector, 'a')).toBe(false);
    expect(selects(selector, 'a', parseJson('{"__proto__":"x"}') as JsonObject)).toBe(true);
  });

  it('never throws, whatever a provider writes', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('labelSelector', 'namedResources', 'references'), fc.jsonValue()),
        (selector) => {
          selectsByItself(parseClaimSelector(selector), { name: 'a' }, {});
        },
      ),
    );
  });
});
