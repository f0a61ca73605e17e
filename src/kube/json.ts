import { parse as parseLossless } from 'lossless-json';
import { AnswerTooLargeError, JsonTooDeepError, ProtocolError } from './errors.js';
import type { JsonObject, JsonValue } from './json-value.js';
import { scanJson } from './json-scan.js';

/** Budgets of one JSON text; all are checked before it is parsed. */
export interface JsonLimits {
  /** Bytes of UTF-8. Default 64 MiB. */
  readonly maxBytes?: number | undefined;
  /** Nesting of arrays and objects. Default 512, which recursive readers survive on any stack. */
  readonly maxDepth?: number | undefined;
  /**
   * Bytes of heap that the value may take, about. A parser that runs cannot be stopped: a text of nothing but `[]` takes
   * twenty times its size, and would fill a thread's heap far above its limit before the thread can be ended. Default
   * 256 MiB.
   */
  readonly maxHeapBytes?: number | undefined;
}

export const DEFAULT_MAX_JSON_BYTES = 64 * 1024 * 1024;
export const DEFAULT_MAX_JSON_DEPTH = 512;
export const DEFAULT_MAX_JSON_HEAP_BYTES = 256 * 1024 * 1024;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/**
 * Parses one JSON text. Integers that only an int64 holds become `bigint`, all other numbers the nearest
 * float64. Of equal keys the last one counts; `__proto__` and `constructor` become plain own properties.
 *
 * @throws ProtocolError when the text is not JSON or not UTF-8, breaks a limit (JsonTooDeepError for its depth,
 * AnswerTooLargeError for its heap), or has a number outside float64
 */
export function parseJson(text: string | Uint8Array, limits: JsonLimits = {}): JsonValue {
  const maxBytes = limits.maxBytes ?? DEFAULT_MAX_JSON_BYTES;
  const maxDepth = limits.maxDepth ?? DEFAULT_MAX_JSON_DEPTH;
  const size = typeof text === 'string' ? Buffer.byteLength(text) : text.byteLength;
  if (size > maxBytes)
    throw new ProtocolError(`JSON of ${size} bytes is larger than the limit of ${maxBytes}`);
  const decoded = typeof text === 'string' ? text : decodeUtf8(text);
  const maxHeapBytes = limits.maxHeapBytes ?? DEFAULT_MAX_JSON_HEAP_BYTES;
  const scan = scanJson(decoded, maxDepth, maxHeapBytes);
  if (scan.depth > maxDepth) throw new JsonTooDeepError(`JSON is nested deeper than ${maxDepth} levels`);
  if (scan.heapBytes > maxHeapBytes)
    throw new AnswerTooLargeError(`JSON of ${size} bytes would take more memory than ${maxHeapBytes} bytes`);
  try {
    // `as`: both parsers yield nothing but JSON values, and parseNumber below only number and bigint.
    if (!scan.exotic) return JSON.parse(decoded) as JsonValue;
    return parseLossless(decoded, null, {
      parseNumber,
      onDuplicateKey: ({ newValue }) => newValue,
    }) as JsonValue;
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    throw new ProtocolError(`not valid JSON (${size} bytes)`, { cause: error });
  }
}

/** Fatal, since replacement characters would let two different keys or values look the same. */
function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ProtocolError(`not valid UTF-8 (${bytes.byteLength} bytes)`, { cause: error });
  }
}

function parseNumber(literal: string): number | bigint {
  const float = Number(literal);
  if (!Number.isFinite(float))
    throw new ProtocolError('JSON holds a number that is outside the float64 range');
  if (Number.isSafeInteger(float) || !/^-?\d{1,19}$/.test(literal)) return float;
  const exact = BigInt(literal);
  if (exact < INT64_MIN || exact > INT64_MAX) return float;
  return BigInt(float) === exact ? float : exact;
}

/**
 * Writes a JSON value so that `parseJson` gives the same one back. Integers are written with all their digits:
 * `JSON.stringify` writes 2^62 as 4611686018427388000, which a server would store as another int64. Keys with
 * value undefined are left out.
 *
 * @throws RangeError for NaN and the infinities, which JSON cannot express
 */
export function stringifyJson(value: JsonValue): string {
  return isPlain(value) ? JSON.stringify(value) : writeExact(value);
}

/** True when `JSON.stringify` is exact for the value. Walks once, allocates nothing but iterators. */
function isPlain(value: JsonValue | undefined): boolean {
  if (typeof value === 'bigint') return false;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new RangeError('JSON cannot express a number that is not finite');
    return !Number.isInteger(value) || Number.isSafeInteger(value);
  }
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isPlain);
  for (const key of Object.keys(value)) if (!isPlain(value[key])) return false;
  return true;
}

function writeExact(value: JsonValue): string {
  if (typeof value === 'bigint') return value.toString();
  // From 1e21 on no integer type of a server holds it, and JavaScript's exponent form says the same float64.
  if (typeof value === 'number') {
    return Number.isInteger(value) && Math.abs(value) < 1e21
      ? BigInt(value).toString()
      : JSON.stringify(value);
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(writeExact).join(',')}]`;
  const members: string[] = [];
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${writeExact(member)}`);
  }
  return `{${members.join(',')}}`;
}

/**
 * True when two JSON values mean the same: numbers by value (1 and 1n), keys in any order, lists in order.
 * `{}`, null and an absent key are three things; a key whose value is undefined counts as absent.
 */
export function jsonEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (typeof a === 'bigint' || typeof b === 'bigint') {
    // Loose equality is exact between bigint and number, but would also convert strings and booleans.
    return isNumeric(a) && isNumeric(b) && a == b;
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && listsEqual(a, b);
  return !Array.isArray(b) && objectsEqual(a, b);
}

function listsEqual(a: JsonValue[], b: JsonValue[]): boolean {
  return a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]));
}

function isNumeric(value: JsonValue | undefined): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function objectsEqual(a: JsonObject, b: JsonObject): boolean {
  let present = 0;
  for (const key of Object.keys(a)) {
    const value = a[key];
    if (value === undefined) continue;
    present++;
    // Without hasOwn a missing `__proto__` or `constructor` would read the prototype's.
    if (!Object.hasOwn(b, key) || !jsonEqual(value, b[key])) return false;
  }
  return present === countPresent(b);
}

function countPresent(object: JsonObject): number {
  let count = 0;
  for (const key of Object.keys(object)) if (object[key] !== undefined) count++;
  return count;
}
