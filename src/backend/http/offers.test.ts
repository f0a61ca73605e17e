import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseJson } from '../../kube/json.js';
import type { JsonObject } from '../../kube/json-value.js';
import { recordedAnswer } from '../testing/recorded.js';
import { templatesToOffers } from './offers.js';

const RESOURCE = { group: 'wildwest.dev', resource: 'cowboys', versions: ['v1'] };

function template(name: string, spec: JsonObject = {}): JsonObject {
  return { metadata: { name }, spec: { resources: [RESOURCE], ...spec } };
}

describe('templatesToOffers', () => {
  it('reads recorded templates', () => {
    const { items } = recordedAnswer('templates-v0.8.2').body as { items: JsonObject[] };
    expect(templatesToOffers(items)).toMatchObject([
      {
        template: 'cowboys',
        scope: 'Namespaced',
        resources: [{ group: 'wildwest.dev', resource: 'cowboys', versions: ['v1alpha1'] }],
        permissionClaims: [
          { group: '', resource: 'secrets', selector: { labelSelector: { matchLabels: { app: 'cowboy' } } } },
        ],
        schemaUpdatePolicy: 'Never',
      },
      { template: 'sheriffs', scope: 'Cluster' },
    ]);
  });

  it('keeps a selector as it came', () => {
    const selector = {
      references: [{ resource: 'x', jsonPath: { name: 'spec.refs.#.name' } }],
      future: { a: [1] },
    };
    const [offer] = templatesToOffers([
      template('a', {
        permissionClaims: [{ resource: 'secrets', selector }],
        namespaces: [{ name: 'shared' }],
      }),
    ]);
    expect(offer).toMatchObject({ permissionClaims: [{ group: '', selector }], namespaces: ['shared'] });
  });

  it.each<[string, JsonObject]>([
    ['has no resources', { resources: [] }],
    ['has resources that are no list', { resources: {} }],
    ['has too many resources', { resources: Array.from({ length: 65 }, () => RESOURCE) }],
    ['has a resource without a name', { resources: [{ group: 'a.b' }] }],
    ['has a resource with a strange name', { resources: [{ ...RESOURCE, resource: '../x' }] }],
    ['has a version that is no text', { resources: [{ ...RESOURCE, versions: [1] }] }],
    [
      'has too many claims',
      { permissionClaims: Array.from({ length: 33 }, () => ({ resource: 'secrets' })) },
    ],
    ['has a claim that is none', { permissionClaims: ['all'] }],
    [
      'has a selector that is too large',
      { permissionClaims: [{ resource: 'secrets', selector: { x: 'x'.repeat(5000) } }] },
    ],
    [
      'has a number in a selector that JSON readers damage',
      { permissionClaims: [{ resource: 'secrets', selector: { n: 2n ** 60n } }] },
    ],
    ['asks for a namespace with a strange name', { namespaces: [{ name: 'a b' }] }],
  ])('leaves a template out whole when it %s', (_, spec) => {
    expect(templatesToOffers([template('bad', spec), template('good')])).toMatchObject([
      { template: 'good' },
    ]);
  });

  it('takes the first of two templates with one name', () => {
    const offers = templatesToOffers([template('a', { description: 'first' }), template('a')]);
    expect(offers).toMatchObject([{ description: 'first' }]);
  });

  it('stops at 256, and at what fits into an object', () => {
    const many = Array.from({ length: 500 }, (_, index) => template(`t${index}`));
    expect(templatesToOffers(many)).toHaveLength(256);
    const large = many.map((one) => ({
      ...one,
      spec: { ...(one['spec'] as object), description: 'x'.repeat(4096) },
    }));
    const offers = templatesToOffers(large);
    expect(offers.length).toBeGreaterThan(80);
    expect(Buffer.byteLength(JSON.stringify(offers))).toBeLessThan(400 * 1024);
  });

  it('cuts descriptions', () => {
    const [offer] = templatesToOffers([template('a', { description: `a\nb${'x'.repeat(10_000)}` })]);
    expect(offer?.description).toMatch(/^a b/);
    expect(offer?.description).toHaveLength(4096);
  });

  it('survives any JSON', () => {
    fc.assert(
      fc.property(fc.array(fc.json()), (texts) => {
        expect(templatesToOffers(texts.map((text) => parseJson(text)))).toEqual([]);
      }),
    );
    expect(
      templatesToOffers([null, [], 'x', { metadata: { name: 'a' } }, { metadata: null, spec: {} }]),
    ).toEqual([]);
  });
});
