/**
 * Letters of a user code: no vowels, so that no words come out, and nothing that looks like a digit. 20 letters in
 * eight places are 34 bits, for five tries in ten minutes (RFC 8628, section 6.1, argues the same way).
 */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

/** A code such as `BCDF-GHJK`. */
export function makeUserCode(random: (bytes: number) => Uint8Array): string {
  const bytes = Buffer.from(random(LENGTH * 4));
  let code = '';
  for (let i = 0; i < LENGTH; i++) code += LETTERS.charAt(bytes.readUInt32BE(i * 4) % LETTERS.length);
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}

/** What the code is compared as: upper case, without what people put between the letters. */
export function normalizeUserCode(typed: string): string {
  return typed
    .slice(0, 64)
    .toUpperCase()
    .replace(/[^A-Z]/g, '');
}
