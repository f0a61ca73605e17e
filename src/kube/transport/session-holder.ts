import type { ServerCredentials } from '../credentials.js';
import { ApiError } from '../errors.js';
import type { Connections } from './connections.js';
import { openSession, type Session, type SessionOptions } from './session.js';
import type { EndWatch } from './watch-stream.js';

/** The session in use, and the watches that depend on it. */
export class SessionHolder {
  readonly #options: SessionOptions;
  readonly #watches = new Set<EndWatch>();
  readonly #retired = new Set<Connections>();
  #session: Session;
  #closing: Promise<void> | undefined;

  constructor(credentials: ServerCredentials, options: SessionOptions) {
    this.#options = options;
    this.#session = openSession(credentials, options);
  }

  get current(): Session {
    return this.#session;
  }

  /** Has the watch ended at the next change of credentials; the result takes it off the list. */
  track(end: EndWatch): () => void {
    this.#watches.add(end);
    return () => this.#watches.delete(end);
  }

  replace(credentials: ServerCredentials): void {
    const previous = this.#session;
    if (this.#closing !== undefined) return;
    const next = openSession(credentials, this.#options, previous);
    this.#session = next;
    const moved = next.origin !== previous.origin || next.basePath !== previous.basePath;
    for (const end of [...this.#watches]) end(moved ? movedError() : undefined);
    if (next.connections !== previous.connections) this.#retire(previous.connections);
  }

  close(): Promise<void> {
    const all = [this.#session.connections, ...this.#retired];
    this.#closing ??= Promise.all(all.map((connections) => connections.destroy())).then(() => undefined);
    return this.#closing;
  }

  #retire(connections: Connections): void {
    this.#retired.add(connections);
    const forget = (): void => void this.#retired.delete(connections);
    connections.retire().then(forget, forget);
  }
}

function movedError(): ApiError {
  return new ApiError({
    message: 'the credentials name another server now; list again',
    status: 410,
    reason: 'Expired',
  });
}
