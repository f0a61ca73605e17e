import { JsonTooDeepError } from './errors.js';
import { endOfString } from './json-scan.js';
import type { JsonValue } from './json-value.js';
import { DEFAULT_MAX_JSON_DEPTH, parseJson } from './json.js';
import type { JsonLimits } from './json.js';

/** Stands where a part was too deep to be read. A server's own text of these letters counts as such a part too. */
const TOO_DEEP = '\u0000too deep';

export interface CutJson {
  readonly value: JsonValue;
  /** Some parts of the value stand for what was too deep: `isCut` finds them. */
  readonly cut: boolean;
}

/**
 * Parses as `parseJson` does, but reads what is not too deep where some of it is. One object of a list, which any
 * user may have nested as deep as the server takes it, must not make the whole list unreadable.
 *
 * @throws ProtocolError as `parseJson`; for its depth only where the text ends within what is too deep
 */
export function parseJsonCut(text: Uint8Array, limits: JsonLimits): CutJson {
  try {
    return { value: parseJson(text, limits), cut: false };
  } catch (error) {
    if (!(error instanceof JsonTooDeepError)) throw error;
    const shallow = cutDeep(Buffer.from(text).toString(), limits.maxDepth ?? DEFAULT_MAX_JSON_DEPTH);
    if (shallow === undefined) throw error;
    return { value: parseJson(shallow, limits), cut: true };
  }
}

/** True where the value holds something that stands for a part which was too deep. */
export function isCut(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return value === TOO_DEEP;
  return (Array.isArray(value) ? value : Object.values(value)).some(isCut);
}

/** The text with a mark in place of each list and object below the depth; undefined where one does not end. */
function cutDeep(text: string, maxDepth: number): string | undefined {
  const kept: string[] = [];
  let [depth, from] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"') i = endOfString(text, i);
    else if (char === '{' || char === '[') {
      if (depth === maxDepth) kept.push(text.slice(from, i), JSON.stringify(TOO_DEEP));
      depth++;
    } else if (char === '}' || char === ']') {
      depth--;
      if (depth === maxDepth) from = i + 1;
    }
  }
  return depth > maxDepth ? undefined : kept.join('') + text.slice(from);
}
