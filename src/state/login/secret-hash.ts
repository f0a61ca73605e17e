import { createHash, timingSafeEqual } from 'node:crypto';

/** SHA-256, hex: the form in which ids, codes, cookies and nonces are kept. */
export function secretHash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** SHA-256, base64url without padding: the form of `spec.login.challenge`. */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

/** Compares two hashes in a time that tells nothing about where they differ. Absent never matches. */
export function sameHash(expected: string | undefined, actual: string): boolean {
  if (expected === undefined) return false;
  const a = Buffer.from(expected);
  const b = Buffer.from(actual);
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}
