import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../kube/json-value.js';
import { lostFields } from './lost-fields.js';

const list = (...items: JsonValue[]): JsonObject => ({ list: items });

describe('fields that a dry run lost, in lists', () => {
  it.each<[string, JsonObject, JsonObject, readonly JsonValue[]]>([
    [
      'of a webhook that puts an item first',
      list({ key: 'a', v: 1 }, { key: 'b', v: 2 }),
      list({ key: 'x' }, { key: 'a', v: 1 }, { key: 'b', v: 2 }),
      [],
    ],
    [
      'of a webhook that sorts',
      list({ key: 'b', v: 2 }, { key: 'a' }),
      list({ key: 'a' }, { key: 'b', v: 2 }),
      [],
    ],
    [
      'one unknown field, and items of a webhook',
      list({ key: 'a', odd: 1 }, { key: 'b', v: 2 }),
      list({ key: 'x' }, { key: 'a' }, { key: 'b', v: 2 }),
      [['list', 0, 'odd']],
    ],
    [
      'one unknown field in all items',
      list({ a: 1, odd: 1 }, { a: 2, odd: 2 }, { b: 1 }),
      list({ a: 1 }, { a: 2 }, { b: 1 }),
      [
        ['list', 0, 'odd'],
        ['list', 1, 'odd'],
      ],
    ],
    ['an unknown field alone', list({ odd: 1 }), list({}), [['list', 0, 'odd']]],
    ['lists in lists', list([{ odd: 1, a: 1 }]), list([{ a: 1 }]), [['list', 0, 0, 'odd']]],
    ['no list any more', list({ a: 1 }), { list: null }, []],
    ['an item that was dropped', list({ a: 1 }), list(), []],
  ])('%s', (_name, sent, received, lost) => expect(lostFields(sent, received)).toEqual(lost));

  it('are not looked for without end', () => {
    const many = Array.from({ length: 3000 }, (_, index) => ({ key: index, v: index }));
    expect(lostFields(list(...many), list(...[...many].reverse())).length).toBe(0);
  });
});
