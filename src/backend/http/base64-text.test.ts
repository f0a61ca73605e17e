import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeBase64Text } from './base64-text.js';

describe('decodeBase64Text', () => {
  it('reads text however it was encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (raw) => {
        const text = Buffer.from(raw).toString('utf8');
        const standard = Buffer.from(text).toString('base64');
        const urlSafe = Buffer.from(text).toString('base64url');
        const forms = [standard, urlSafe, standard.replace(/=+$/, ''), standard.replaceAll('+', ' ')];
        for (const form of forms) expect(decodeBase64Text(form)).toBe(text);
      }),
    );
  });

  it('knows the characters in which the alphabets differ', () => {
    expect(['Pz8/Pz8+', 'Pz8_Pz8-', 'Pz8/Pz8 '].map(decodeBase64Text)).toEqual(
      Array.from({ length: 3 }, () => '?????>'),
    );
  });

  it('does not mind a line end behind it', () => {
    expect(decodeBase64Text('YQ==\r\n')).toBe('a');
  });

  it.each(['', '=', 'a', 'abc=d', 'ab=', 'abc!', 'a\nbcd', '/w==', 'x'.repeat(1024 * 1024 + 1)])(
    'gives nothing rather than damaged text',
    (encoded) => {
      expect(decodeBase64Text(encoded)).toBeUndefined();
    },
  );
});
