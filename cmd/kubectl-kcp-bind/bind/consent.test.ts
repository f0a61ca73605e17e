import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ClaimState, Offer } from '../typed-objects.js';
import {
  decideClaims,
  mergeClaims,
  plannedClaims,
  readAcceptance,
  sameClaims,
  unknownClaims,
} from './consent.js';

const OFFER: Offer = {
  template: 'cowboys',
  permissionClaims: [
    { group: '', resource: 'secrets' },
    { group: '', resource: 'configmaps' },
  ],
};

describe('consent', () => {
  it.each([
    [[], { kind: 'unsaid' }],
    [['all'], { kind: 'all' }],
    [['none'], { kind: 'none' }],
    [['secrets, configmaps', 'secrets'], { kind: 'named', names: ['secrets', 'configmaps'] }],
  ])('--accept-claims %j', (values, expected) => expect(readAcceptance(values)).toEqual(expected));

  it.each([[['all', 'secrets']], [['none,all']], [['secrets,']]])(
    '--accept-claims %j is refused',
    (values) => {
      expect(() => readAcceptance(values)).toThrow();
    },
  );

  it.each([
    [{ kind: 'all' } as const, ['Accepted', 'Accepted']],
    [{ kind: 'none' } as const, ['Rejected', 'Rejected']],
    [{ kind: 'unsaid' } as const, ['Rejected', 'Rejected']],
    [{ kind: 'named', names: ['configmaps'] } as const, ['Rejected', 'Accepted']],
  ])('%j gives %j', (acceptance, states) => {
    expect(decideClaims(OFFER, acceptance).map(({ state }) => state)).toEqual(states);
  });

  it('names claims that nobody asks for', () => {
    expect(unknownClaims([OFFER], { kind: 'named', names: ['secrets', 'secret'] })).toEqual(['secret']);
    expect(unknownClaims([OFFER], { kind: 'all' })).toEqual([]);
  });

  it('can be planned before the offers are known', () => {
    expect(plannedClaims({ kind: 'named', names: ['secrets', 'widgets.a.b'] })).toEqual([
      { group: '', resource: 'secrets', state: 'Accepted' },
      { group: 'a.b', resource: 'widgets', state: 'Accepted' },
    ]);
    expect(plannedClaims({ kind: 'all' })).toHaveLength(3);
    expect(plannedClaims({ kind: 'none' })).toEqual([]);
  });

  it('keeps answers that new ones do not mention; merging again changes nothing', () => {
    const claims = fc.array(
      fc.record({
        group: fc.constantFrom('', 'a.b'),
        resource: fc.constantFrom('secrets', 'configmaps'),
        state: fc.constantFrom<ClaimState['state']>('Accepted', 'Rejected'),
      }),
    );
    fc.assert(
      fc.property(claims, claims, (old, fresh) => {
        const merged = mergeClaims(old, fresh);
        expect(sameClaims(mergeClaims(merged, fresh), merged)).toBe(true);
        expect(new Set(merged.map(({ group, resource }) => `${group}/${resource}`)).size).toBe(merged.length);
      }),
    );
  });
});
