import { digest } from '../../api/names.js';
import type { JsonValue } from '../../kube/json-value.js';

/**
 * One text for all JSON values that mean the same: keys in code unit order, undefined members left out,
 * numbers by value (1 and 1n alike).
 */
export function canonicalJson(value: JsonValue): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return canonicalNumber(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

/** Lower-case hex of SHA-256 over the canonical text, cut to 32 digits. */
export function jsonDigest(value: JsonValue): string {
  return digest('json', canonicalJson(value)).slice(0, 32);
}

function canonicalNumber(value: number): string {
  // Integers get all their digits so that they agree with the bigint of the same value.
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return BigInt(value).toString();
  return String(value);
}
