import { createHash } from 'node:crypto';

/** A secret that only this run knows, and what the connection shows of it. */
export interface LoginSecret {
  /** 256 random bits, base64url; goes into the URL that is opened, nowhere else. */
  readonly verifier: string;
  /** base64url(SHA-256(verifier)); goes into `spec.login.challenge`. */
  readonly challenge: string;
}

/** Makes a login secret from a source of random bytes. */
export function createLoginSecret(randomBytes: (size: number) => Uint8Array): LoginSecret {
  const verifier = Buffer.from(randomBytes(32)).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}
