import { setMaxListeners } from 'node:events';
import { isNativeError } from 'node:util/types';
import type { Clock } from '../clock.js';
import { TransportError } from '../errors.js';

/** One operation's life: ends by its deadline, by the caller's signal, or by `dispose`. */
export interface AbortScope {
  /** Aborts with a TransportError as its reason. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** Takes timer and listener off; must be called when the operation is over. */
  dispose(): void;
}

/**
 * Written out because AbortSignal.any keeps its result alive as long as its sources, and ours live as long as
 * the process.
 */
export function openScope(init: {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** The request, for the message. */
  readonly what: string;
}): AbortScope {
  const controller = new AbortController();
  const parent = init.signal;
  const onAbort = (): void => {
    controller.abort(new TransportError(`${init.what}: aborted`, 'aborted', { cause: parent?.reason }));
  };
  const cancel = init.clock.after(init.timeoutMs, () => {
    controller.abort(new TransportError(`${init.what}: no answer within ${init.timeoutMs} ms`, 'timeout'));
  });
  if (parent?.aborted === true) onAbort();
  else if (parent !== undefined) {
    // One signal ends a whole worker with its hundreds of requests; node would warn at the eleventh.
    setMaxListeners(0, parent);
    parent.addEventListener('abort', onAbort, { once: true });
  }
  return {
    signal: controller.signal,
    deadline: init.clock.now() + init.timeoutMs,
    dispose: () => {
      cancel();
      parent?.removeEventListener('abort', onAbort);
    },
  };
}

/** Reads a stream within a scope: breaks it off when the scope ends first, and when `read` fails. */
export async function whileScoped<T>(
  scope: AbortScope,
  stream: { abort(reason: Error): void },
  read: () => Promise<T>,
): Promise<T> {
  const onAbort = (): void => stream.abort(reasonOf(scope));
  if (scope.signal.aborted) onAbort();
  scope.signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await read();
  } catch (error) {
    stream.abort(isNativeError(error) ? error : new TransportError('failed', 'aborted', { cause: error }));
    throw error;
  } finally {
    scope.signal.removeEventListener('abort', onAbort);
  }
}

/** Why the scope ended. */
export function reasonOf(scope: AbortScope): TransportError {
  const reason: unknown = scope.signal.reason;
  return reason instanceof TransportError
    ? reason
    : new TransportError('aborted', 'aborted', { cause: reason });
}
