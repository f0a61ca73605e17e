import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../src/kube/clock.js';
import type { Environment } from '../environment.js';

/** Enough for everybody, and small enough to be read at each login. */
const MAX_ENTRIES = 500;
const MAX_BYTES = 512 * 1024;
const LOCK_PAUSE_MS = 50;
const LOCK_ATTEMPTS = 40;
/** A lock of a run that was killed. */
const STALE_LOCK_MS = 10_000;

/** Which host the login pages of each client export were on when they were first opened. */
export interface HostMemory {
  /** The host that is remembered for a client export; undefined where none is, or the file cannot be read. */
  recall(clientExport: string): Promise<string | undefined>;
  /** Answers whether it could be stored: a home that nobody may write to is no reason not to log in. */
  remember(clientExport: string, host: string): Promise<boolean>;
}

/** `$XDG_STATE_HOME/kubectl-kcp-bind/login-hosts.json`, else below `~/.local/state`. */
export function hostMemoryFile(environment: Pick<Environment, 'variables' | 'home'>): string {
  const state = environment.variables['XDG_STATE_HOME'];
  const base = state === undefined || state === '' ? join(environment.home, '.local', 'state') : state;
  return join(base, 'kubectl-kcp-bind', 'login-hosts.json');
}

/**
 * Keeps the hosts in one JSON file, 0600, which is complete at any moment: it is replaced by renaming, and runs beside
 * each other take turns.
 *
 * @param unique a part of a file name that no other run uses
 */
export function createHostMemory(file: string, clock: Clock, unique: string): HostMemory {
  return {
    recall: async (clientExport) => (await read(file)).get(clientExport),
    remember: async (clientExport, host) => {
      try {
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        await withLock(`${file}.lock`, clock, async () => {
          const entries = await read(file);
          // The newest stands last, and the oldest is forgotten.
          entries.delete(clientExport);
          entries.set(clientExport, host);
          const kept = [...entries].slice(-MAX_ENTRIES);
          const draft = `${file}.${unique}`;
          await writeFile(draft, `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`, {
            mode: 0o600,
          });
          await rename(draft, file);
        });
        return true;
      } catch {
        return false;
      }
    },
  };
}

async function read(file: string): Promise<Map<string, string>> {
  try {
    const text = await readFile(file, 'utf8');
    if (text.length > MAX_BYTES) return new Map();
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return new Map();
    return new Map(
      Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch {
    return new Map();
  }
}

async function withLock(lock: string, clock: Clock, work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      break;
    } catch (error) {
      if (attempt >= LOCK_ATTEMPTS) throw error;
      const since = await stat(lock).then(
        ({ mtimeMs }) => mtimeMs,
        () => undefined,
      );
      if (since !== undefined && clock.now() - since > STALE_LOCK_MS) await rm(lock, { force: true });
      else await clock.sleep(LOCK_PAUSE_MS);
    }
  }
  try {
    await work();
  } finally {
    await rm(lock, { force: true });
  }
}
