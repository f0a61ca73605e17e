import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AnswerTooLargeError, ProtocolError } from './errors.js';
import { scanJson } from './json-scan.js';
import type { JsonValue } from './json-value.js';
import { jsonEqual, parseJson, stringifyJson } from './json.js';

/** Makes the slow path parse the text that follows, without changing its own value. */
const FORCE_LOSSLESS = '9223372036854775807';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

/** What parseJson may yield for an int64. */
const canonical = (value: bigint): number | bigint =>
  BigInt(Number(value)) === value ? Number(value) : value;

const json: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noDefaultInfinity: true, noNaN: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
    int64.map(canonical),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(
        fc.tuple(
          fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString', '')),
          tie('value'),
        ),
        { maxLength: 4 },
      )
      .map((entries) => Object.fromEntries(entries)),
  ),
})).value;

describe('parseJson', () => {
  it.each<[string, JsonValue]>([
    ['9007199254740993', 9007199254740993n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775808', 9223372036854775808],
    ['-9223372036854775808', -9223372036854775808],
    ['18446744073709551615', 2 ** 64],
    ['9007199254740994', 9007199254740994],
    ['1', 1],
    ['1.0', 1],
    ['1e21', 1e21],
    ['0.12345678901234567890', 0.12345678901234568],
    ['9007199254740993.0', 9007199254740992],
    ['9007199254740993e0', 9007199254740992],
    ['"9007199254740993"', '9007199254740993'],
  ])('reads %s as the nearest value that keeps an int64 exact', (text, value) => {
    expect(parseJson(text)).toBe(value);
  });

  it('agrees with JSON.parse on every text whose numbers a float64 holds', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(!scanJson(text, 512).exotic);
        const expected: unknown = JSON.parse(text);
        expect(parseJson(text)).toEqual(expected);
        expect(parseJson(`[${text},${FORCE_LOSSLESS}]`)).toEqual([expected, 9223372036854775807n]);
      }),
    );
  });

  it.each(['', `"n":${FORCE_LOSSLESS},`])(
    'keeps __proto__ and constructor harmless own keys (%s)',
    (more) => {
      const text = `{${more}"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}`;
      const value = parseJson(text) as Record<string, unknown>;
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(Object.keys(value)).toEqual(expect.arrayContaining(['__proto__', 'constructor']));
      expect(value['polluted']).toBeUndefined();
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
      expect(stringifyJson(value as JsonValue)).toBe(text);
    },
  );

  it.each(['', `,"n":${FORCE_LOSSLESS}`])('lets the last of equal keys count (%s)', (more) => {
    expect(parseJson(`{"a":1,"a":{"b":2}${more}}`)).toMatchObject({ a: { b: 2 } });
  });

  it.each([
    '',
    '{',
    '{"a":}',
    '[1,]',
    'nul',
    '<html>',
    '1 2',
    `[${FORCE_LOSSLESS}`,
    '\ufeff{}',
    '01',
    '"\u0001"',
  ])('refuses %j as a ProtocolError', (text) => {
    expect(() => parseJson(text)).toThrow(ProtocolError);
  });

  it.each(['1e400', '-1e400', '9'.repeat(400)])(
    'refuses a number that would become infinite: %.8s',
    (text) => {
      expect(() => parseJson(text)).toThrow(/float64/);
    },
  );

  it('refuses bytes that are not UTF-8', () => {
    expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow(/UTF-8/);
    expect(parseJson(Buffer.from('"ä€😀"'))).toBe('ä€😀');
  });

  it('checks the size in bytes before it parses', () => {
    expect(() => parseJson('"ää"', { maxBytes: 5 })).toThrow(/limit of 5/);
    expect(parseJson('"ää"', { maxBytes: 6 })).toBe('ää');
    expect(() => parseJson(Buffer.from('"ää"'), { maxBytes: 5 })).toThrow(ProtocolError);
  });

  it('checks the depth before it parses, brackets in strings aside', () => {
    expect(() => parseJson('['.repeat(5_000_000))).toThrow(/deeper than 512/);
    expect(() => parseJson('{"a":'.repeat(600))).toThrow(/deeper than 512/);
    expect(() => parseJson('[[1]]', { maxDepth: 1 })).toThrow(ProtocolError);
    expect(parseJson('["[[[\\"[[[", []]', { maxDepth: 2 })).toEqual(['[[["[[[', []]);
  });

  it('checks what the value would take of the heap before it parses', () => {
    const mebibyte = 1024 * 1024;
    const dense = `[${'[],'.repeat(mebibyte)}0]`;
    expect(() => parseJson(dense, { maxHeapBytes: 48 * mebibyte })).toThrow(AnswerTooLargeError);
    expect(parseJson(dense, { maxHeapBytes: 96 * mebibyte })).toHaveLength(mebibyte + 1);
    const text = JSON.stringify('[],'.repeat(mebibyte));
    expect(parseJson(text, { maxHeapBytes: 4 * mebibyte })).toHaveLength(3 * mebibyte);
  });

  it('takes a usual object for no more than eight times its text', () => {
    const usual = JSON.stringify({
      apiVersion: 'example.org/v1',
      kind: 'Database',
      metadata: {
        name: 'main',
        namespace: 'default',
        labels: { app: 'shop', tier: 'backend' },
        generation: 3,
      },
      spec: { engine: 'postgres', sizeGiB: 20, parameters: { max_connections: '100' }, zones: ['a', 'b'] },
    });
    expect(scanJson(usual, 512).heapBytes).toBeLessThan(8 * usual.length);
  });
});

describe('scanJson', () => {
  it.each([
    ['{"a":123456789012345}', false],
    ['{"a":1234567890123456}', true],
    ['{"a":"1234567890123456"}', false],
    ['{"\\"":"1234567890123456"}', false],
    ['[true,false,1]', false],
    ['[1E5]', true],
  ])('%s holds an exotic number: %s', (text, exotic) => {
    expect(scanJson(text, 10).exotic).toBe(exotic);
  });
});

describe('stringifyJson', () => {
  it('writes what parseJson reads back as the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(parseJson(stringifyJson(value))).toEqual(value);
      }),
    );
  });

  it('writes every int64 with all its digits', () => {
    fc.assert(
      fc.property(int64, (value) => {
        expect(stringifyJson([canonical(value)])).toBe(`[${value}]`);
      }),
    );
    expect(stringifyJson(2 ** 62)).toBe('4611686018427387904');
  });

  it('leaves out undefined members on both paths', () => {
    expect(stringifyJson({ a: undefined, b: 1 })).toBe('{"b":1}');
    expect(stringifyJson({ a: undefined, b: 2n ** 60n + 1n })).toBe('{"b":1152921504606846977}');
  });

  it.each([NaN, Infinity])('refuses %s', (value) => {
    expect(() => stringifyJson({ a: value })).toThrow(RangeError);
  });
});

describe('jsonEqual', () => {
  it.each<[JsonValue | undefined, JsonValue | undefined, boolean]>([
    [1n, 1, true],
    [9007199254740993n, 9007199254740992, false],
    [1n, '1', false],
    [1n, true, false],
    [{}, null, false],
    [{}, undefined, false],
    [null, undefined, false],
    [{ a: undefined }, {}, true],
    [{ a: null }, {}, false],
    [{ a: {} }, {}, false],
    [{}, [], false],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [[1, 2], [2, 1], false],
    [JSON.parse('{"__proto__":{}}') as JsonValue, {}, false],
    [{}, JSON.parse('{"__proto__":{}}') as JsonValue, false],
    [JSON.parse('{"__proto__":{}}') as JsonValue, { x: 1 }, false],
    [{ a: undefined, b: 1 }, { b: 1, c: 2 }, false],
  ])('%p and %p: %p', (a, b, equal) => {
    expect(jsonEqual(a, b)).toBe(equal);
    expect(jsonEqual(b, a)).toBe(equal);
  });

  it('holds between a value and its copy with reordered keys', () => {
    const reorder = (value: JsonValue): JsonValue =>
      Array.isArray(value)
        ? value.map(reorder)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .reverse()
                .map(([key, member]) => [key, reorder(member ?? null)]),
            )
          : value;
    fc.assert(fc.property(json, (value) => expect(jsonEqual(value, reorder(value))).toBe(true)));
  });

  it('differs whenever the texts of two canonical values differ', () => {
    const sorted = (value: JsonValue): JsonValue =>
      Array.isArray(value)
        ? value.map(sorted)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.keys(value)
                .sort()
                .map((key) => [key, sorted(value[key] ?? null)]),
            )
          : value;
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(jsonEqual(a, b)).toBe(stringifyJson(sorted(a)) === stringifyJson(sorted(b)));
      }),
    );
  });
});
