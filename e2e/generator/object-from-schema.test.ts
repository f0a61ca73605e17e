import { Ajv } from 'ajv';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import type { JsonObject } from '../../src/kube/json-value.js';
import { objectFromSchema } from './object-from-schema.js';
import { fillOf } from './schema-leaves.js';

/** The value made for one field that an object must have; undefined where none was found. */
function made(field: JsonObject): unknown {
  return objectFromSchema({ type: 'object', required: ['field'], properties: { field } })['field'];
}

/** A schema of OpenAPI v3 as ajv reads it: exclusive bounds are numbers there. */
function forAjv(node: JsonObject): JsonObject {
  const result = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      Array.isArray(value)
        ? value.map((each) => (typeof each === 'object' ? forAjv(each as JsonObject) : each))
        : typeof value === 'object' && value !== null
          ? forAjv(value)
          : value,
    ]),
  );
  if (result['exclusiveMinimum'] === true) {
    result['exclusiveMinimum'] = result['minimum'];
    delete result['minimum'];
  } else delete result['exclusiveMinimum'];
  return result;
}

const ajv = new Ajv({ strict: false, validateFormats: false });

function accepts(schema: JsonObject, value: unknown): boolean {
  return ajv.compile(forAjv(schema))(value);
}

const text = { type: 'string' };

describe('an object made from a schema', () => {
  it.each<[string, JsonObject, unknown]>([
    ['a date', { ...text, format: 'date-time' }, '2026-01-02T03:04:00Z'],
    ['a duration', { ...text, format: 'duration' }, '1m30s'],
    ['bytes', { ...text, format: 'byte' }, 'Ynl0ZXMgMA=='],
    ['an address', { ...text, format: 'ipv4' }, '192.0.2.1'],
    ['a range of addresses', { ...text, format: 'cidr' }, '192.0.0.0/24'],
    ['an enum', { ...text, enum: ['', 'a'] }, 'a'],
    ['an integer', { type: 'integer' }, 1],
    ['an integer with bounds', { type: 'integer', minimum: 5, maximum: 5 }, 5],
    ['bounds that exclude themselves', { type: 'integer', minimum: 5, exclusiveMinimum: true }, 6],
    ['a number', { type: 'number' }, 1.5],
    ['a multiple', { type: 'integer', minimum: 7, multipleOf: 5 }, 15],
    ['an integer of 64 bits', { type: 'integer', minimum: 9007199254740993n }, 9007199254740993n],
    ['an integer or text', { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, text] }, 1],
    ['a length', { ...text, minLength: 22, maxLength: 22 }, '0xxxxxxxxxxxxxxxxxxxxx'],
    ['a map', { type: 'object', additionalProperties: text }, { 'key-0': 'text-0' }],
    [
      'an embedded object',
      {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'embedded-0' } },
    ],
    [
      'an object of anything',
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      { any: { kept: true, list: [0, 'two', { three: 3.5 }] } },
    ],
  ])('has %s', (_, field, expected) => {
    expect(made(field)).toEqual(expected);
  });

  it.each([
    '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$',
    '^arn:aws:iam::[0-9]{12}:role/[A-Z]+$',
    '^([0-9]{1,5}(h|m|s|ms)){1,4}$',
    '(?i)^(allow|deny)$',
    '^sha256:[a-f0-9]{64}$',
  ])('has text for the pattern %s', (pattern) => {
    expect(made({ ...text, pattern })).toMatch(new RegExp(pattern.replace('(?i)', ''), 'i'));
  });

  it('has different items where items must differ', () => {
    const set = { type: 'array', minItems: 3, items: text, 'x-kubernetes-list-type': 'set' };
    expect(new Set(made(set) as string[]).size).toBe(3);
    const map = {
      type: 'array',
      minItems: 3,
      items: { type: 'object', properties: { name: text, port: { type: 'integer', default: 8 } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name', 'port'],
    };
    expect((made(map) as { name: string }[]).map(({ name }) => name)).toEqual(['text-0', 'text-1', 'text-2']);
  });

  it('has one field of those that exclude each other', () => {
    const either = {
      type: 'object',
      properties: { a: text, b: text, c: text },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    };
    expect(Object.keys(made(either) as object)).toHaveLength(2);
    const notBoth = { ...either, oneOf: undefined, not: { required: ['a', 'b'] } };
    expect(Object.keys(made(notBoth) as object)).toHaveLength(2);
    expect(Object.keys(made({ ...either, oneOf: undefined, maxProperties: 1 }) as object)).toHaveLength(1);
  });

  it('has a list item for each of those that exclude each other', () => {
    const items = {
      type: 'object',
      properties: { a: text, b: text, c: text },
      oneOf: [
        { not: { anyOf: [{ required: ['a'] }, { required: ['b'] }] } },
        { required: ['a'] },
        { required: ['b'] },
      ],
    };
    const keys = (made({ type: 'array', items }) as object[]).flatMap(Object.keys);
    expect(new Set(keys)).toEqual(new Set(['a', 'b', 'c']));
  });

  it('follows what a branch says of values', () => {
    const field = {
      type: 'object',
      properties: { type: { ...text, enum: ['A', 'B'] }, size: { type: 'integer' } },
      anyOf: [{ properties: { type: { enum: ['B'] }, size: { minimum: 90 } }, required: ['size'] }],
      allOf: [{ properties: { size: { maximum: 99 } } }],
    };
    expect(made(field)).toEqual({ type: 'B', size: 91 });
  });

  it('obeys whatever schema there is, in the eyes of ajv, and always in the same way', () => {
    fc.assert(
      fc.property(schemas, (schema) => {
        const object = objectFromSchema(schema);
        expect(accepts(schema, object)).toBe(true);
        expect(objectFromSchema(schema)).toEqual(object);
        expect(fillOf(schema, object).missing).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('obeys schemas whose fields exclude each other', () => {
    fc.assert(
      fc.property(exclusions, (schema) => {
        expect(accepts(schema, objectFromSchema(schema))).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});

/** Schemas that can be filled in every leaf. */
const schemas: fc.Arbitrary<JsonObject> = fc.letrec<{ node: JsonObject; object: JsonObject }>((tie) => ({
  object: fc
    .dictionary(fc.stringMatching(/^[a-z]{1,4}$/), tie('node'), { maxKeys: 4, noNullPrototype: true })
    .chain((properties) =>
      fc
        .subarray(Object.keys(properties))
        .map((required): JsonObject => ({ type: 'object', properties, required })),
    ),
  node: fc.oneof(
    { maxDepth: 3 },
    fc
      .record({ minLength: fc.nat(8), more: fc.nat(5) })
      .map(({ minLength, more }): JsonObject => ({ ...text, minLength, maxLength: minLength + 1 + more })),
    fc
      .record({ minimum: fc.integer({ min: -50, max: 50 }), more: fc.nat(9), exclusiveMinimum: fc.boolean() })
      .map(({ minimum, more, exclusiveMinimum }): JsonObject => ({
        type: 'integer',
        minimum,
        maximum: minimum + 1 + more,
        exclusiveMinimum,
      })),
    fc.constant<JsonObject>({ type: 'boolean' }),
    fc.constantFrom<JsonObject>(
      { ...text, enum: ['a', 'b'], nullable: true },
      { ...text, pattern: '^[A-Z]{3}-[0-9]+$' },
      { type: 'number' },
    ),
    fc
      .tuple(tie('node'), fc.nat(3))
      .map(([items, minItems]): JsonObject => ({ type: 'array', items, minItems })),
    tie('node').map((additionalProperties): JsonObject => ({ type: 'object', additionalProperties })),
    tie('object'),
  ),
})).object;

const NAMES = ['a', 'b', 'c', 'd'];
const exclusions: fc.Arbitrary<JsonObject> = fc
  .record({
    keyword: fc.constantFrom('oneOf', 'anyOf', 'not', 'allOf'),
    groups: fc.array(fc.subarray(NAMES, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  })
  .map(({ keyword, groups }): JsonObject => {
    const branches = groups.map((required) => ({ required }));
    return {
      type: 'object',
      properties: Object.fromEntries(NAMES.map((name) => [name, text])),
      [keyword]: keyword === 'not' ? { anyOf: branches } : branches,
    };
  })
  // Two equal branches of oneOf hold together or not at all: nothing obeys them.
  .filter((schema) => {
    const groups = ((schema['oneOf'] ?? []) as { required: string[] }[]).map(
      ({ required }) => new Set(required),
    );
    return groups.every((one, index) =>
      groups.every((other, place) => place === index || ![...one].every((name) => other.has(name))),
    );
  });
