import type { Clock } from '../clock.js';
import { TransportError, type KubeError } from '../errors.js';
import type { WatchEvent } from '../object.js';
import type { OpenStream } from './caller.js';
import { asKubeError } from './failure.js';
import { createLineSplitter } from './line-splitter.js';
import { decodeWatchEvent } from './watch-event.js';

/** Limits of one watch. */
export interface WatchLimits {
  readonly clock: Clock;
  /** Milliseconds without a complete event while we wait for the network. */
  readonly silenceMs: number;
  /** Milliseconds after which the watch ends normally, even if the server does not end it. */
  readonly maxDurationMs: number;
  readonly maxLineBytes: number;
  readonly maxDepth: number;
  readonly maxHeapBytes: number;
}

/** Ends a running watch: normally, or with an error. */
export type EndWatch = (error?: KubeError) => void;

/**
 * Yields the events of an open watch, those that arrived before the connection broke included. Leaving the
 * loop early frees the connection.
 *
 * @param onOpen is handed the means to end this watch from outside; what it returns is called at the end
 */
export async function* readWatch(
  { stream, what }: OpenStream,
  limits: WatchLimits,
  onOpen: (end: EndWatch) => () => void,
): AsyncGenerator<WatchEvent, void, undefined> {
  const { clock, silenceMs, maxLineBytes, maxDepth, maxHeapBytes } = limits;
  const splitter = createLineSplitter(maxLineBytes);
  const over = new TransportError(`${what}: ended`, 'aborted');
  const onEnd = onOpen((error) => stream.abort(error ?? over));
  const cancelEnd = clock.after(limits.maxDurationMs, () => stream.abort(over));
  const silent = (): void =>
    stream.abort(new TransportError(`${what}: no event and no bookmark for ${silenceMs} ms`, 'timeout'));
  let waitedMs = 0;
  try {
    for (;;) {
      const startedAt = clock.now();
      const chunk = await stream.next().finally(clock.after(silenceMs - waitedMs, silent));
      if (chunk === undefined) break;
      const lines = splitter.push(chunk).filter((line) => line.length > 0);
      // Bytes that never complete an event must not keep the watch alive, nor may a slow consumer end it.
      waitedMs = lines.length > 0 ? 0 : Math.min(waitedMs + clock.now() - startedAt, silenceMs);
      for (const line of lines) {
        yield* readable(decodeWatchEvent(line, { maxBytes: maxLineBytes, maxDepth, maxHeapBytes }, what));
        stream.throwIfAborted();
      }
    }
    if (splitter.pendingBytes > 0)
      throw new TransportError(`${what}: the watch ended in the middle of an event`, 'reset');
  } catch (error) {
    if (error !== over) throw asKubeError(error, what);
  } finally {
    cancelEnd();
    onEnd();
    stream.abort(over);
  }
}

function readable(event: WatchEvent | undefined): readonly WatchEvent[] {
  return event === undefined ? [] : [event];
}
