import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../clock.js';
import type { ClientAuth } from '../credentials.js';
import { KubeconfigError } from '../errors.js';
import { createTokenLanes, type TokenLease } from './token-lanes.js';

const CHECK_INTERVAL_MS = 1000;

/** Where the Authorization header of a session comes from. */
export interface Bearer {
  /** What one request is sent with. Rejects with KubeconfigError, or TransportError `aborted`. */
  lease(signal: AbortSignal): Promise<TokenLease>;
  /** Called after a 401 for `used`. True when there is another token now and the request is worth one more try. */
  refresh(used: string | undefined): Promise<boolean>;
}

export function createBearer(auth: ClientAuth, clock: Clock): Bearer {
  if (auth.kind === 'tokenFile') return fileBearer(auth.path, clock);
  if (auth.kind === 'tokens') {
    const lanes = createTokenLanes(auth.tokens);
    return { lease: (signal) => lanes.take(signal), refresh: async () => false };
  }
  const token = auth.kind === 'token' ? auth.token : undefined;
  return { lease: async () => shared(token), refresh: async () => false };
}

/** A token that any number of requests may use. */
function shared(token: string | undefined): TokenLease {
  return { token, release: () => undefined };
}

/** Follows a file that is replaced in place, as the kubelet does: its identity is asked at most once a second. */
function fileBearer(path: string, clock: Clock): Bearer {
  let current: { token: string; version: string } | undefined;
  let checkedAt = -Infinity;
  const read = async (): Promise<string> => {
    checkedAt = clock.now();
    try {
      const info = await stat(path);
      const version = `${info.ino}:${info.mtimeMs}:${info.size}`;
      if (current?.version !== version) {
        const token = (await readFile(path, 'utf8')).trim();
        if (token === '') throw new KubeconfigError(`the token file ${path} is empty`, 'tokenFile');
        current = { token, version };
      }
    } catch (error) {
      // While it is being replaced, a file that is empty or gone for a moment must not fail requests.
      if (current !== undefined) return current.token;
      if (error instanceof KubeconfigError) throw error;
      throw new KubeconfigError(`cannot read the token file ${path}: ${String(error)}`, 'tokenFile');
    }
    return current.token;
  };
  return {
    lease: async () =>
      shared(
        current !== undefined && clock.now() - checkedAt < CHECK_INTERVAL_MS ? current.token : await read(),
      ),
    refresh: async (used) => (await read()) !== used,
  };
}
