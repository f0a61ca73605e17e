/** What one pass over a JSON text tells before anything is parsed. */
export interface JsonScan {
  /** Deepest nesting of arrays and objects; counting stops just above the limit that was given. */
  readonly depth: number;
  /** Some number may lose digits (16 digits in a row) or overflow (an exponent) as a float64. */
  readonly exotic: boolean;
  /** Bytes of heap that text and value take about, parsed; counting stops just above the limit that was given. */
  readonly heapBytes: number;
}

/** Bytes of heap for one of each, beside the bytes of the text, as V8 takes them for the worst of shapes. */
const HEAP = { object: 72, array: 56, member: 24, item: 12, string: 24 } as const;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OBJECT = 0x7b;
const ARRAY = 0x5b;
const COLON = 0x3a;
const COMMA = 0x2c;
const LONG_NUMBER = 16;

/**
 * Scans a JSON text, or any text: what is not JSON is left for the parser to refuse. Digits and brackets in
 * strings do not count. Stops early when a limit is passed, so a bomb costs no more than its first bytes.
 */
export function scanJson(text: string, maxDepth: number, maxHeapBytes = Number.POSITIVE_INFINITY): JsonScan {
  let depth = 0;
  let deepest = 0;
  let digits = 0;
  let exotic = false;
  let heapBytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isDigit(code)) {
      digits++;
      if (digits >= LONG_NUMBER) exotic = true;
      continue;
    }
    // `e` or `E` directly after a digit; the letters of true and false never are.
    if (digits > 0 && (code | 0x20) === 0x65) exotic = true;
    digits = 0;
    heapBytes += heapCost(code);
    if (code === QUOTE) i = endOfString(text, i);
    else if (opens(code)) {
      depth++;
      if (depth > deepest) deepest = depth;
      if (deepest > maxDepth) break;
    } else if (closes(code)) depth--;
    if (heapBytes > maxHeapBytes) break;
  }
  return { depth: deepest, exotic, heapBytes };
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function opens(code: number): boolean {
  return code === OBJECT || code === ARRAY;
}

function closes(code: number): boolean {
  return code === 0x7d || code === 0x5d;
}

function heapCost(code: number): number {
  switch (code) {
    case QUOTE:
      return HEAP.string;
    case COMMA:
      return HEAP.item;
    case COLON:
      return HEAP.member;
    case OBJECT:
      return HEAP.object;
    case ARRAY:
      return HEAP.array;
    default:
      return 0;
  }
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
