import { ProtocolError } from '../errors.js';

const NEWLINE = 10;

/** Cuts a byte stream into lines. */
export interface LineSplitter {
  /** Lines that this chunk completes, without their newline; views into the chunk where possible. */
  push(chunk: Buffer): Buffer[];
  /** Bytes of a line that has begun and not ended. */
  readonly pendingBytes: number;
}

/** `push` throws a ProtocolError as soon as a line, complete or not, is longer than `maxLineBytes`. */
export function createLineSplitter(maxLineBytes: number): LineSplitter {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const guard = (length: number): void => {
    if (length > maxLineBytes)
      throw new ProtocolError(`an event is larger than the limit of ${maxLineBytes} bytes`);
  };
  return {
    push(chunk) {
      const lines: Buffer[] = [];
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        guard(pendingBytes + end - start);
        const tail = chunk.subarray(start, end);
        lines.push(pendingBytes === 0 ? tail : Buffer.concat([...pending, tail]));
        pending = [];
        pendingBytes = 0;
        start = end + 1;
      }
      if (start < chunk.length) {
        pending.push(chunk.subarray(start));
        pendingBytes += chunk.length - start;
        guard(pendingBytes);
      }
      return lines;
    },
    get pendingBytes() {
      return pendingBytes;
    },
  };
}
