/** What one pass over a JSON text tells before anything is parsed. */
export interface JsonScan {
  /** Deepest nesting of arrays and objects; counting stops just above the limit that was given. */
  readonly depth: number;
  /** Some number may lose digits (16 digits in a row) or overflow (an exponent) as a float64. */
  readonly exotic: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LONG_NUMBER = 16;

/**
 * Scans a JSON text, or any text: what is not JSON is left for the parser to refuse. Digits and brackets in
 * strings do not count. Stops early when `maxDepth` is passed, so a bomb costs no more than its first bytes.
 */
export function scanJson(text: string, maxDepth: number): JsonScan {
  let depth = 0;
  let deepest = 0;
  let digits = 0;
  let exotic = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x30 && code <= 0x39) {
      digits++;
      if (digits >= LONG_NUMBER) exotic = true;
      continue;
    }
    // `e` or `E` directly after a digit; the letters of true and false never are.
    if (digits > 0 && (code | 0x20) === 0x65) exotic = true;
    digits = 0;
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === 0x7b || code === 0x5b) {
      depth++;
      if (depth > deepest) deepest = depth;
      if (deepest > maxDepth) break;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return { depth: deepest, exotic };
}

/** Position of the quote that ends the string whose first quote stands at `start`, or of the text's end. */
export function endOfString(text: string, start: number): number {
  let i = start + 1;
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) break;
    if (code === BACKSLASH) i++;
  }
  return i;
}
