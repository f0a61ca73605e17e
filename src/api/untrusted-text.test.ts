import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { untrustedText } from './untrusted-text.js';

describe('untrustedText', () => {
  it.each([
    ['plain', 'plain'],
    ['two\r\nlines\u2028three', 'two lines three'],
    ['\u001b[31mred\u0007', '[31mred'],
    ['abc\u202etxt.exe', 'abc txt.exe'],
    ['lone \ud800 half', 'lone \ufffd half'],
    ['  edges ', 'edges'],
    [7, ''],
    [null, ''],
    [{ toString: () => 'x' }, ''],
  ])('%p becomes %p', (value, text) => {
    expect(untrustedText(value, 100)).toBe(text);
  });

  it('marks a cut, and never cuts a pair in half', () => {
    expect(untrustedText('abcdef', 4)).toBe('abc…');
    expect(untrustedText('abcd', 4)).toBe('abcd');
    expect(untrustedText('ab😀def', 4)).toBe('ab…');
    expect(untrustedText(`x${' '.repeat(1000)}y`, 4)).toBe('x…');
  });

  it('is short, one line, well-formed, and done after one pass', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 20 }), (value, max) => {
        const text = untrustedText(value, max);
        expect(text.length).toBeLessThanOrEqual(max);
        // eslint-disable-next-line no-control-regex
        expect(text).not.toMatch(/[\u0000-\u001f\u007f\n]/);
        expect(Buffer.from(text).toString()).toBe(text);
        expect(untrustedText(text, max)).toBe(text);
      }),
    );
  });
});
