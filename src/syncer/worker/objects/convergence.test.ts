import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../kube/json-value.js';
import { jsonEqual } from '../../../kube/json.js';
import type { KubeObject } from '../../../kube/object.js';
import { fieldSet, stepsOf, valueAtSteps } from '../../engine/testing/model-fields.js';
import { WIDGET } from '../../engine/testing/model-schema.js';
import { World } from './testing/world.js';
import type { Step } from './testing/world.js';

const RUNS = 40;
const HOUR = 3_600_000;

const word = fc.constantFrom('a', 'b', 'c');
const free: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.constantFrom<JsonValue>(1, 'x', null, true, 9007199254740993n, 0.5),
    fc.array(fc.constantFrom<JsonValue>(1, 'y', null), { maxLength: 2 }),
    fc.dictionary(word, tie('value'), { maxKeys: 2, noNullPrototype: true }),
  ),
})).value;

const spec: fc.Arbitrary<JsonObject> = fc.record(
  {
    size: fc.integer({ min: 0, max: 3 }),
    name: word,
    replicas: fc.integer({ min: 2, max: 4 }),
    labels: fc.dictionary(word, word, { maxKeys: 2, noNullPrototype: true }),
    items: fc.array(fc.constantFrom<JsonValue>(1, 2, { x: 1 }), { maxLength: 2 }),
    set: fc.uniqueArray(word, { maxLength: 2 }),
    list: fc.uniqueArray(
      fc.record({ key: word, v: word }, { requiredKeys: ['key'], noNullPrototype: true }),
      {
        maxLength: 2,
        selector: (item) => item.key,
      },
    ),
    free: fc.dictionary(word, free, { maxKeys: 2, noNullPrototype: true }),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const status = fc.option(fc.dictionary(word, free, { maxKeys: 2, noNullPrototype: true }), {
  nil: undefined,
});
const name = fc.constantFrom('one', 'two');
const place = fc.constantFrom<'consumer' | 'provider'>('consumer', 'provider');

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), name, spec, label: word }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'delete' as const,
        'deleteCopy' as const,
        'remake' as const,
        'hold' as const,
        'unhold' as const,
        'strip' as const,
      ),
      name,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('status' as const, 'userStatus' as const), name, status }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('drift' as const), name, spec }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('foreign' as const), spec }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('mute' as const, 'unmute' as const), side: place }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      side: place,
      nth: fc.integer({ min: 0, max: 3 }),
      code: fc.constantFrom(403, 409, 500, 503),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      nth: fc.integer({ min: 0, max: 6 }),
      when: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('idle' as const, 'restart' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'resume' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
  },
);

/** Fields of a copy that the consumer's object does not say and nobody else is entered for. */
function leftovers(copy: KubeObject, wanted: JsonObject, emptiedByOthers: boolean): string[] {
  const said = fieldSet({ spec: wanted }, WIDGET);
  const ours = 'kcp.kube-bind.io';
  const others = (copy.metadata.managedFields ?? [])
    .filter((entry) => (entry as JsonObject)['manager'] !== ours)
    .flatMap((entry) => pathsOf((entry as JsonObject)['fieldsV1'] ?? {}));
  return [...fieldSet({ spec: copy['spec'] ?? {} }, WIDGET)].filter((path) => {
    const steps = stepsOf(path);
    // What others have put into an item keeps the item and its key.
    const item = steps.findIndex((step) => step.startsWith('k:'));
    const held = item < 0 ? steps : steps.slice(0, item + 1);
    const value = valueAtSteps(copy, path);
    const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
    if (isEmpty && emptiedByOthers) return false;
    const isOthers = others.some((other) => held.every((step, index) => other[index] === step));
    return !said.has(path) && !isOthers && steps.length > 1 && steps.at(-1) !== 'f:replicas';
  });
}

function pathsOf(fields: JsonValue, path: readonly string[] = []): (readonly string[])[] {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return [];
  const keys = Object.keys(fields);
  if (keys.length === 0) return [path];
  return keys.flatMap((key) => (key === '.' ? [path] : pathsOf(fields[key] ?? {}, [...path, key])));
}

/** All but the counters that an apply and its withdrawal leave behind. */
function contentOf(object: KubeObject | undefined): JsonValue | undefined {
  if (object === undefined) return undefined;
  const { uid, labels, annotations, managedFields } = object.metadata;
  return { ...object, metadata: { uid, labels, annotations, managedFields } };
}

function missing(wanted: JsonValue, there: JsonValue | undefined, path = 'spec'): string[] {
  if (Array.isArray(wanted) && Array.isArray(there)) {
    const lost = wanted.filter((item) => !there.some((other) => missing(item, other).length === 0));
    return lost.length > 0 ? [path] : [];
  }
  if (typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted)) {
    if (typeof there !== 'object' || there === null || Array.isArray(there)) return [path];
    return Object.keys(wanted).flatMap((key) => missing(wanted[key] ?? null, there[key], `${path}.${key}`));
  }
  return jsonEqual(wanted, there) ? [] : [path];
}

/** An object that was there first stays as it is, or keeps what the user's object does not say. */
function expectForeign({ bench, foreign, place }: World, mayAdopt: boolean): void {
  if (foreign === undefined) return;
  const now = bench.provider.object(`${place}/foreign`);
  if (!mayAdopt) expect(contentOf(now)).toEqual(contentOf(foreign));
  const spec = foreign['spec'] as JsonObject;
  // What the user's object says wins, defaults of the workspace included.
  const said = mayAdopt ? (bench.consumer.object('ns/foreign')?.['spec'] as JsonObject | undefined) : {};
  expect(missing({ ...spec, ...said }, now?.['spec'])).toEqual([]);
}

describe('whatever happens on both sides, in any order, with crashes between any two requests', () => {
  it.each([
    { isolation: 'Prefixed', conflictPolicy: 'Fail', runs: RUNS },
    { isolation: 'Prefixed', conflictPolicy: 'Adopt', runs: RUNS / 2 },
    { isolation: 'None', conflictPolicy: 'Fail', runs: RUNS / 4 },
    { isolation: 'None', conflictPolicy: 'Adopt', runs: RUNS / 4 },
  ] as const)(
    'both sides converge, nothing is written afterwards, and nothing of others is touched: %j',
    async (options) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
          const world = new World(options);
          const { bench } = world;
          try {
            await bench.start();
            for (const next of steps) await world.take(next);
            await world.settle();
            // Whoever empties a container of ours on the provider leaves an empty one that nobody owns.
            const emptiedByOthers = steps.some((next) => next.do === 'drift' || next.do === 'remake');
            for (const object of bench.consumer.all()) {
              const { name: id } = object.metadata;
              expect(object.metadata.deletionTimestamp).toBeUndefined();
              if (id === 'foreign') continue;
              const wanted = world.wanted.get(id) ?? {};
              const copy = bench.provider.object(`${world.place}/${id}`);
              expect(missing({ ...wanted, replicas: wanted['replicas'] ?? 3 }, object['spec'])).toEqual([]);
              expect(missing(wanted, copy?.['spec'])).toEqual([]);
              expect(copy === undefined ? [] : leftovers(copy, wanted, emptiedByOthers)).toEqual([]);
              expect(copy?.metadata.labels?.['l']).toBe(object.metadata.labels?.['l']);
              expect(object['status']).toEqual(copy?.['status']);
            }
            const names = bench.consumer.all().map((object) => object.metadata.name);
            expect(
              bench.provider
                .all()
                .every(
                  (object) => names.includes(object.metadata.name) || object.metadata.name === 'foreign',
                ),
            ).toBe(true);
            expect([...world.wanted.keys()].every((id) => names.includes(id))).toBe(true);
            const mayAdopt = options.conflictPolicy === 'Adopt' && options.isolation === 'Prefixed';
            expectForeign(world, mayAdopt);
            expect(world.wrongDeletes).toEqual([]);
            expect(world.pausedWrites).toEqual([]);
            bench.takeWrites();
            await bench.advance(2 * HOUR);
            expect(bench.takeWrites()).toEqual([]);
          } finally {
            await bench.close();
          }
        }),
        { numRuns: options.runs },
      );
    },
    120_000,
  );
});
