import { ApiError } from './errors.js';

/** A server's store takes 1.5 MiB unless configured otherwise. */
const SUSPICIOUS_BYTES = 1_000_000;

/** A server answers a bare 500 where its store refuses a write for its size; with a large body that is the likely reason. */
export function isLikelyTooLarge(error: unknown, bytes: number): boolean {
  return error instanceof ApiError && error.status === 500 && bytes >= SUSPICIOUS_BYTES;
}
