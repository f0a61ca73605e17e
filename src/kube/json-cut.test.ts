import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonTooDeepError, ProtocolError } from './errors.js';
import { isCut, parseJsonCut } from './json-cut.js';
import { parseJson } from './json.js';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const nested = (depth: number): string => '{"a":'.repeat(depth) + '[1]' + '}'.repeat(depth);

describe('parseJsonCut', () => {
  it('reads what is not too deep', () => {
    const text = `{"deep":${nested(9)},"list":[{"deep":[[[["]}"]]]]},2],"text":"{[\\"","last":9007199254740993}`;
    const { value, cut } = parseJsonCut(bytes(text), { maxDepth: 3 });
    expect(cut).toBe(true);
    expect(value).toMatchObject({ list: [{}, 2], text: '{["', last: 9007199254740993n });
    expect([value, (value as { list: unknown[] }).list[1]].map((each) => isCut(each as never))).toEqual([
      true,
      false,
    ]);
  });

  it('survives depths that overflow a stack', () => {
    const { value } = parseJsonCut(bytes(`[${nested(200_000)},1.0]`), {});
    expect((value as unknown[])[1]).toBe(1);
  });

  it.each(['['.repeat(600), '{"a":'.repeat(600), `${'['.repeat(600)}"`])(
    'rejects what does not end',
    (text) => {
      expect(() => parseJsonCut(bytes(text), {})).toThrow(JsonTooDeepError);
    },
  );

  it.each([`${nested(600)}}`, `[${nested(600)}`, `[${nested(600)} 1]`, '\xff'])(
    'rejects other texts',
    (text) => {
      expect(() => parseJsonCut(Buffer.from(text, 'latin1'), {})).toThrow(ProtocolError);
    },
  );

  it('gives what parseJson gives where nothing is too deep, and marks where something is', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 1, max: 8 }), (text, maxDepth) => {
        const { value, cut } = parseJsonCut(bytes(text), { maxDepth });
        expect(isCut(value)).toBe(cut);
        if (!cut) expect(value).toEqual(parseJson(text));
      }),
    );
  });
});
