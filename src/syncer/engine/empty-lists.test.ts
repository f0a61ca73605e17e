import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../kube/json-value.js';
import { parseJson } from '../../kube/json.js';
import { emptyListsToRemove, noteOfEmptyLists } from './empty-lists.js';
import { readFieldsV1 } from './managed-fields.js';
import { consumerObject } from './testing/samples.js';

const NOTE = 'kcp.kube-bind.io/empty-lists';
const OWNED = readFieldsV1({ 'f:spec': { 'f:list': { 'k:{"key":"a"}': { '.': {}, 'f:key': {} } } } });

function removals(live: JsonObject, desired: JsonObject, note: string): readonly JsonValue[] {
  const copy = consumerObject({ spec: live }, { annotations: { [NOTE]: note } });
  return emptyListsToRemove(consumerObject({ spec: desired }), copy, OWNED).map((path) => [...path]);
}

describe('the note of empty lists', () => {
  it('names items by their plain fields, never by position', () => {
    const spec = {
      a: [],
      list: [{ key: 'k', n: 9007199254740993n, deep: { tags: [] }, more: {} }, { tags: [] }],
    };
    expect(noteOfEmptyLists({ spec })).toBe(
      '["/spec/a",["spec","list",{"key":"k","n":9007199254740993},"deep","tags"]]',
    );
    expect(noteOfEmptyLists({ spec: { list: [[[]], [{}]] } })).toBeUndefined();
  });

  it('is bounded', () => {
    const item = (index: number) => ({ key: String(index), text: 'x'.repeat(250), tags: [] });
    const note = noteOfEmptyLists({
      spec: { list: Array.from({ length: 1000 }, (_, index) => item(index)) },
    });
    expect(note?.length).toBeLessThan(17_000);
    expect(parseJson(note ?? '')).toBeInstanceOf(Array);
  });
});

describe('an empty list that was sent', () => {
  const note = '[["spec","list",{"key":"a","v":"then"},"tags"]]';
  const foreign = { key: 'x', tags: [] };
  it.each<[string, JsonObject, JsonObject, readonly JsonValue[]]>([
    [
      'goes when the user takes it away, wherever its item is',
      { list: [foreign, { key: 'a', tags: [] }] },
      { list: [{ key: 'a' }] },
      [['spec', 'list', 1, 'tags']],
    ],
    [
      'stays while the user says it',
      { list: [{ key: 'a', tags: [] }] },
      { list: [{ key: 'a', tags: [] }] },
      [],
    ],
    [
      'stays when the provider has filled it',
      { list: [{ key: 'a', tags: ['p'] }] },
      { list: [{ key: 'a' }] },
      [],
    ],
    ['stays in an item of somebody else', { list: [foreign] }, { list: [] }, []],
  ])('%s', (_name, live, desired, expected) => expect(removals(live, desired, note)).toEqual(expected));

  it.each([
    'x',
    '{}',
    '[["metadata","labels"]]',
    '["/metadata/finalizers"]',
    '[[{"key":"a"}]]',
    '[[1]]',
    '[[]]',
  ])('is not looked for where a note makes no sense: %s', (odd) =>
    expect(removals({ list: [] }, {}, odd)).toEqual([]),
  );
});
