import { KubeconfigError, TransportError } from '../errors.js';
import { Fifo } from '../fifo.js';

/** A token for the time until the answer to a request has begun. */
export interface TokenLease {
  /** Undefined where the client certificate, or nothing, speaks for us. */
  readonly token: string | undefined;
  /** Idempotent. */
  release(): void;
}

export interface TokenLanes {
  /** The next token that nobody uses, first come first served. Rejects with TransportError `aborted`. */
  take(signal: AbortSignal): Promise<TokenLease>;
}

interface Waiting {
  readonly signal: AbortSignal;
  readonly give: (token: string) => void;
}

/** Hands out each token to one holder at a time. */
export function createTokenLanes(tokens: readonly string[]): TokenLanes {
  if (tokens.length === 0) throw new KubeconfigError('there is no token', 'tokens');
  const free = [...tokens];
  const waiting = new Fifo<Waiting>();

  const giveBack = (token: string): void => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (next.signal.aborted) continue;
      next.give(token);
      return;
    }
    free.push(token);
  };
  const lease = (token: string): TokenLease => {
    let held = true;
    return {
      token,
      release: () => {
        if (held) giveBack(token);
        held = false;
      },
    };
  };
  return {
    take(signal) {
      const token = free.shift();
      if (token !== undefined) return Promise.resolve(lease(token));
      return new Promise((resolve, reject) => {
        const aborted = (): void =>
          reject(new TransportError('aborted before a token was free', 'aborted', { cause: signal.reason }));
        signal.addEventListener('abort', aborted, { once: true });
        waiting.push({
          signal,
          give: (given) => {
            signal.removeEventListener('abort', aborted);
            resolve(lease(given));
          },
        });
      });
    },
  };
}
