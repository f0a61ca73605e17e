import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseJson } from '../../../kube/json.js';
import { MAX_VALUES, parseReferencePath, textsAt, valuesAt } from './reference-path.js';

const OBJECT = parseJson(
  JSON.stringify({
    metadata: { annotations: { 'example.org/secret': 'noted' } },
    spec: {
      secretRef: { name: 'one' },
      refs: [{ name: 'a' }, { name: 'b' }, { other: 1 }],
      names: ['x', 'y', 3],
      'odd|name': 'odd',
      empty: [],
    },
  }).replace('"empty"', '"__proto__":{"name":"own"},"empty"'),
);

describe('the paths of references', () => {
  it.each([
    ['spec.secretRef.name', ['one']],
    ['$.spec.secretRef.name', ['one']],
    ['.spec.secretRef.name', ['one']],
    ['{.spec.secretRef.name}', ['one']],
    ['{$.spec.secretRef.name}', ['one']],
    ['spec.refs.#.name', ['a', 'b']],
    ['$.spec.refs[*].name', ['a', 'b']],
    ['spec.refs.1.name', ['b']],
    ['spec.refs[0].name', ['a']],
    ['spec.names', ['x', 'y']],
    ['spec.names[*]', ['x', 'y']],
    ['metadata.annotations.example\\.org/secret', ['noted']],
    ['spec.odd\\|name', ['odd']],
    ['spec.__proto__.name', ['own']],
    ['spec.constructor.name', []],
    ['spec.refs.name', []],
    ['spec.refs.7.name', []],
    ['spec.secretRef', []],
    ['spec.nothing.name', []],
    ['spec.empty.#.name', []],
  ])('reads %s', (text, expected) => {
    const path = parseReferencePath(text);
    expect(path).toBeDefined();
    expect(textsAt(OBJECT, path ?? [])).toEqual(expected);
  });

  it.each([
    [''],
    ['.'],
    ['spec..name'],
    ['spec.*'],
    ['spec.na?e'],
    ['spec.refs.#(name=="a").name'],
    ['$..name'],
    ["$['spec']"],
    ['spec|name'],
    ['@this'],
    ['spec.refs[?(@.name)]'],
    ['spec.refs[1'],
    [`a${'.a'.repeat(16)}`],
    ['a'.repeat(513)],
  ])('guesses nothing about %s', (text) => {
    expect(parseReferencePath(text)).toBeUndefined();
  });

  it('takes no more values than it should', () => {
    const many = {
      list: Array.from({ length: 1000 }, () => ({ list: Array.from({ length: 1000 }, () => 'x') })),
    };
    const path = parseReferencePath('list.#.list.#') ?? [];
    expect(valuesAt(many, path)).toHaveLength(MAX_VALUES);
  });

  it('never throws, whatever a provider writes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '.', '\\', '[', ']', '0', '*', '#', '$', '{', '}') }),
        (text) => {
          const path = parseReferencePath(text);
          if (path !== undefined) expect(Array.isArray(textsAt(OBJECT, path))).toBe(true);
        },
      ),
    );
  });
});
