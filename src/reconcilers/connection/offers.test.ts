import { describe, expect, it } from '@jest/globals';
import type { Offer } from '../../state/records.js';
import { offersForStatus, selectorWords } from './offers.js';

const offer = (template: string, more: Partial<Offer> = {}): Offer => ({
  template,
  resources: [],
  permissionClaims: [],
  ...more,
});

describe('offers in status', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['labels', { labelSelector: { matchLabels: { app: 'x' } } }, 'labels app=x'],
    ['every label', { labelSelector: {} }, 'all'],
    ['expressions', { labelSelector: { matchExpressions: [{}, {}] } }, 'labels 2 expressions'],
    ['names', { namedResources: [{ name: 'a' }, { name: 'b', namespace: 'n' }] }, 'named a, n/b'],
    ['references', { references: [{ group: 'g', resource: 'r' }] }, 'referenced by r.g'],
    [
      'several',
      { namedResources: [{ name: 'a' }], references: [{ resource: 'r' }] },
      'named a; referenced by r',
    ],
    ['nothing', {}, 'nothing'],
    ['junk', { labelSelector: 7, namedResources: 'x', references: [null] }, 'referenced by '],
  ])('tell a selector of %s in words', (_title, selector, words) => {
    expect(selectorWords({ selector })).toBe(words.trim());
  });

  it('show each template once, and no internals of a selector', () => {
    const secret = { labelSelector: { matchLabels: { a: 'b' } }, internal: 'do not show' };
    const offers = [
      offer('a', { permissionClaims: [{ group: '', resource: 'secrets', selector: secret }] }),
      offer('a', { title: 'again' }),
      offer(''),
    ];
    expect(offersForStatus(offers)).toEqual([
      {
        template: 'a',
        resources: [],
        permissionClaims: [{ group: '', resource: 'secrets', selector: 'labels a=b' }],
      },
    ]);
  });

  it('stay within what the API takes and what one object should weigh', () => {
    const resources = Array.from({ length: 200 }, (_, i) => ({
      group: 'g',
      resource: `r${i}`,
      versions: ['v1'],
    }));
    const many = Array.from({ length: 1_000 }, (_, i) =>
      offer(`t${i}`, { resources, title: 't'.repeat(1_000), description: 'd\n'.repeat(9_000) }),
    );
    const shown = offersForStatus(many);
    expect(shown.length).toBeGreaterThan(5);
    expect(shown.length).toBeLessThanOrEqual(256);
    expect(shown[0]?.resources).toHaveLength(64);
    expect(shown[0]?.title).toHaveLength(256);
    expect(JSON.stringify(shown).length).toBeLessThan(300 * 1024);
  });
});
