import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { CONSUMER_GENERATION_ANNOTATION } from '../../../src/api/markers.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/kube/json-value.js';
import { jsonEqual, stringifyJson } from '../../../src/kube/json.js';
import type { KubeObject } from '../../../src/kube/object.js';
import { at, edit, manifest, marksOf, openScene, synced, type Scene } from './scene.js';

/** E2E_SEED tries other edits. */
const SEED = Number(process.env['E2E_SEED'] ?? 20261130);
const EDITS = 60;

const word = fc.constantFrom('', 'a', 'b', 'ü€𝄞', '"\\~/');
const key = fc.constantFrom('a', 'b', 'c/d', '~e', '__proto__', 'constructor');
const integer = fc.constantFrom<JsonValue>(0, 1, -1, 9007199254740993n, -(2 ** 63), 9223372036854775807n);
const number = fc.constantFrom<JsonValue>(0.1, -0.5, 1e21, 5e-324, 1e15);
const small = { maxLength: 3 };
const map = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.array(fc.tuple(key, value), small).map((entries) => Object.fromEntries(entries));
const anything = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<JsonValue>(null, true, false),
    word,
    integer,
    number,
    fc.array(tie('value'), small),
    map(tie('value')),
  ),
})).value;

/** Values of each field of a gadget's spec. What the provider adds below is never among them. */
const FIELDS: Readonly<Record<string, fc.Arbitrary<JsonValue>>> = {
  title: word,
  size: integer,
  ratio: number,
  note: fc.oneof(fc.constant(null), word),
  replicas: fc.constantFrom(0, 1, 2),
  tags: map(word),
  parts: fc.uniqueArray(
    fc.record(
      {
        name: fc.constantFrom('p', 'q', 'r'),
        count: fc.constantFrom(0, 1, 7),
        color: word,
        options: map(word),
      },
      { requiredKeys: ['name'] },
    ),
    { ...small, selector: (part) => part.name },
  ),
  flags: fc.uniqueArray(fc.constantFrom('x', 'y', 'z', ''), small),
  steps: fc.array(
    fc.record(
      { run: word, retries: fc.constantFrom(0, 3), args: fc.array(word, small) },
      { requiredKeys: [] },
    ),
    small,
  ),
  sealed: fc.record({ left: word, right: word }, { requiredKeys: [] }),
  free: map(anything),
};

/** What an edit makes of some fields; undefined takes one away. */
type Edit = Readonly<Record<string, JsonValue | undefined>>;

const edits: fc.Arbitrary<Edit> = fc
  .subarray(Object.keys(FIELDS), { minLength: 1, maxLength: 4 })
  .chain((names) =>
    fc.record(
      Object.fromEntries(
        names.map((name) => [
          name,
          fc.option<JsonValue, undefined>(FIELDS[name] ?? word, { nil: undefined, freq: 3 }),
        ]),
      ),
    ),
  );

/** What the provider's own manager has put into the copy beside ours. */
const THEIRS: JsonObject = {
  injected: 'theirs',
  tags: { theirs: 'yes' },
  parts: [{ name: 'theirs', count: 9 }],
  flags: ['theirs'],
  free: { theirs: { deep: [1] } },
};

/** What the copy has to be: all of the user's, and what the provider has put beside it. */
function merged(ours: JsonObject): JsonObject {
  const both: JsonObject = { ...THEIRS, ...ours };
  for (const field of ['tags', 'free']) {
    const [mine, theirs] = [ours[field], THEIRS[field]];
    if (isJsonObject(mine) && isJsonObject(theirs)) both[field] = { ...mine, ...theirs };
  }
  for (const field of ['parts', 'flags']) {
    const [mine, theirs] = [ours[field], THEIRS[field]];
    if (Array.isArray(mine) && Array.isArray(theirs)) both[field] = [...mine, ...theirs];
  }
  return both;
}

/** Sets and map lists have no order that means anything. */
function ordered(spec: JsonObject): JsonObject {
  const identity = (item: JsonValue) => stringifyJson((isJsonObject(item) ? item['name'] : item) ?? null);
  const sort = (list: JsonValue | undefined) =>
    Array.isArray(list) ? [...list].sort((a, b) => (identity(a) < identity(b) ? -1 : 1)) : list;
  return { ...spec, parts: sort(spec['parts']), flags: sort(spec['flags']) };
}

const specOf = (object: KubeObject) => object['spec'] as JsonObject;

describe('any edit of an object', () => {
  let scene: Scene;

  beforeAll(async () => {
    scene = await openScene('oracle');
  });

  afterAll(async () => {
    await scene.close();
  });

  it('arrives whole on the provider, and touches nothing that is the provider’s', async () => {
    const { gadgets } = scene.api;
    await scene.workspace.create(gadgets, manifest(gadgets, 'edited', { spec: { title: 'first' } }));
    const { copy } = await synced(scene, gadgets, 'edited');
    const { apiVersion, kind, metadata } = copy;
    const { name, namespace = '' } = metadata;
    await scene.provider.patch(
      gadgets,
      metadata,
      'apply',
      { apiVersion, kind, metadata: { name, namespace }, spec: THEIRS },
      { fieldManager: 'provider' },
    );
    let step = 0;
    for (const each of fc.sample(edits, { seed: SEED, numRuns: EDITS })) {
      step += 1;
      const object = await edit(scene.workspace, gadgets, at('edited'), (now) => ({
        ...now,
        spec: { ...specOf(now), ...each },
      }));
      const sent = String(object.metadata.generation);
      const { copy: answer } = await synced(
        scene,
        gadgets,
        'edited',
        (now) => marksOf(now)[CONSUMER_GENERATION_ANNOTATION] === sent,
      );
      const [is, should] = [ordered(specOf(answer)), ordered(merged(specOf(object)))];
      const told = { seed: SEED, step, edit: each };
      // jest's own comparison is for the difference that it prints: it is not exact.
      if (!jsonEqual(is, should)) expect({ ...told, is }).toEqual({ ...told, is: should });
      expect({ ...told, same: jsonEqual(is, should) }).toMatchObject({ same: true });
    }
  });
});
