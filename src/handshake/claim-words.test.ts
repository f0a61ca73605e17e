import { describe, expect, it } from '@jest/globals';
import type { OfferedClaim } from '../api/offer.js';
import { claimWords } from './claim-words.js';

const words = (selector: OfferedClaim['selector']) =>
  claimWords({ group: '', resource: 'secrets', selector });
const reference = (name: unknown, namespace?: unknown) => ({
  references: [{ group: 'example.org', resource: 'databases', jsonPath: { name, namespace } }],
});

describe('a claim in words', () => {
  it.each<[string, OfferedClaim['selector'], string]>([
    ['labels', { labelSelector: { matchLabels: { app: 'x' } } }, 'those labelled app=x'],
    [
      'no label at all',
      { labelSelector: {} },
      'none (the provider asks for all of them, which is never shared)',
    ],
    ['nothing', {}, 'none at the moment (the provider names no objects)'],
    ['a name', { namedResources: [{ name: 'a' }] }, 'those named a in any namespace'],
    ['a name in a namespace', { namedResources: [{ name: 'a', namespace: 'b' }] }, 'those named b/a'],
    [
      'a reference',
      reference('spec.secret'),
      'those that objects of databases.example.org name in spec.secret',
    ],
    [
      'a reference with a namespace',
      reference('spec.secret', 'spec.ns'),
      'those that objects of databases.example.org name in spec.secret, in the namespace in spec.ns',
    ],
    [
      'a reference that the provider makes',
      reference('$.status.secrets[*].name'),
      'those that objects of databases.example.org name in $.status.secrets[*].name (which the provider writes, and so chooses)',
    ],
    [
      "a reference to a namespace of the provider's choice",
      reference('spec.secret', 'status.ns'),
      'those that objects of databases.example.org name in spec.secret, in the namespace in status.ns (which the provider writes, and so chooses)',
    ],
    [
      'a field that is only named like it',
      reference('spec.status.x'),
      'those that objects of databases.example.org name in spec.status.x',
    ],
  ])('says who is meant by %s', (_, selector, said) => expect(words(selector)).toEqual([said]));
});
