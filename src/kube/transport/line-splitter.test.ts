import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ProtocolError } from '../errors.js';
import { createLineSplitter } from './line-splitter.js';

describe('createLineSplitter', () => {
  it('gives the same lines however the bytes are cut', () => {
    const cut = fc.array(fc.nat({ max: 40 }), { maxLength: 12 });
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'ä', '😀', '\n') })),
        cut,
        (parts, sizes) => {
          const bytes = Buffer.from(parts.join(''));
          const splitter = createLineSplitter(1000);
          const lines: string[] = [];
          let at = 0;
          for (const size of [...sizes, bytes.length]) {
            lines.push(...splitter.push(bytes.subarray(at, at + size)).map(String));
            at += size;
          }
          const expected = bytes.toString().split('\n');
          expect(splitter.pendingBytes).toBe(Buffer.byteLength(expected.pop() ?? ''));
          expect(lines).toEqual(expected);
        },
      ),
    );
  });

  it('takes a line of exactly the limit, and no longer one', () => {
    expect(createLineSplitter(3).push(Buffer.from('abc\n')).map(String)).toEqual(['abc']);
    expect(() => createLineSplitter(3).push(Buffer.from('abcd\n'))).toThrow(ProtocolError);
  });

  it('refuses a line that grows above the limit in small pieces', () => {
    const splitter = createLineSplitter(10);
    for (let i = 0; i < 10; i++) splitter.push(Buffer.from('x'));
    expect(() => splitter.push(Buffer.from('x'))).toThrow(ProtocolError);
  });
});
