import type { KubeClient, WatchOptions } from '../client.js';
import type { Clock } from '../clock.js';
import { TransportError } from '../errors.js';
import type { Gvr, WatchEvent } from '../object.js';

/**
 * A watch that ends for sure: with the signal, or after the silence deadline, even where the client below
 * hangs. The client keeps the deadline too; this is the second rope, a little longer.
 *
 * Rejects with TransportError (`timeout` for silence, `aborted` for the signal) or what the client says.
 */
export async function* guardedWatch(
  client: KubeClient,
  gvr: Gvr,
  options: WatchOptions,
  clock: Clock,
): AsyncIterable<WatchEvent> {
  const guard = new AbortController();
  const end = (error: TransportError): void => guard.abort(error);
  const aborted = (): void => end(new TransportError('the watch was aborted', 'aborted'));
  if (options.signal.aborted) aborted();
  options.signal.addEventListener('abort', aborted, { once: true });

  const deadlineMs = options.silenceMs + SLACK_MS;
  let lastSign = clock.now();
  let cancel = (): void => undefined;
  // One timer that is set again when it fires, instead of one for each event.
  const arm = (ms: number): void => {
    cancel = clock.after(ms, () => {
      const leftMs = lastSign + deadlineMs - clock.now();
      if (leftMs > 0) arm(leftMs);
      else end(new TransportError(`no sign of life for ${deadlineMs} ms`, 'timeout'));
    });
  };
  arm(deadlineMs);

  const events = client.watch(gvr, { ...options, signal: guard.signal })[Symbol.asyncIterator]();
  // One listener for the whole watch: adding one for each event would cost as much as reading the event.
  let fail: (reason: unknown) => void = () => undefined;
  guard.signal.addEventListener('abort', () => fail(guard.signal.reason), { once: true });
  const next = (): Promise<IteratorResult<WatchEvent>> =>
    new Promise((resolve, reject) => {
      fail = reject;
      if (guard.signal.aborted) fail(guard.signal.reason);
      else events.next().then(resolve, reject);
    });
  try {
    for (;;) {
      const result = await next();
      if (result.done === true) return;
      lastSign = clock.now();
      yield result.value;
    }
  } finally {
    cancel();
    options.signal.removeEventListener('abort', aborted);
    end(new TransportError('the watch has ended', 'aborted'));
    // Not awaited: an iterator that hangs in `next` would hang here too.
    events.return?.().catch(() => undefined);
  }
}

const SLACK_MS = 5000;
