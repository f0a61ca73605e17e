import { Client, Pool } from 'undici';
import type { Connector } from '../dialler/dialler.js';
import { ResponseStream, type HttpRequest } from './response-stream.js';

/** How connections to one server are made. */
export interface ConnectionOptions {
  readonly connect: Connector;
  readonly maxHeaderSize: number;
  /** Connections for requests at the same time. */
  readonly connections: number;
}

const KEEP_ALIVE_MS = 30_000;

/**
 * The sockets to one server. Requests share a small pool. Every watch has a connection of its own: in the pool
 * it would starve the requests for minutes, and undici replaces the connection of an aborted request by a new
 * idle one, which hundreds of restarting watches would pile up.
 */
export class Connections {
  /** All that the sockets depend on. */
  readonly key: string;
  readonly #origin: string;
  readonly #options: ConstructorParameters<typeof Client>[1];
  readonly #pool: Pool;
  readonly #watches = new Set<Client>();
  #destroyed = false;

  constructor(origin: string, key: string, { connections, ...options }: ConnectionOptions) {
    this.key = key;
    this.#origin = origin;
    this.#options = {
      ...options,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    };
    this.#pool = new Pool(origin, { ...this.#options, connections });
  }

  send(kind: 'requests' | 'watches', request: HttpRequest): ResponseStream {
    // A pool that was destroyed refuses by itself.
    if (kind === 'requests' || this.#destroyed) return new ResponseStream(this.#pool, request);
    const client = new Client(this.#origin, this.#options);
    this.#watches.add(client);
    return new ResponseStream(client, request, () => {
      this.#watches.delete(client);
      void client.destroy();
    });
  }

  /** Lets what runs come to its end, which deadlines bound, and takes nothing new. */
  async retire(): Promise<void> {
    await this.#pool.close();
  }

  async destroy(): Promise<void> {
    this.#destroyed = true;
    await Promise.all([this.#pool, ...this.#watches].map((dispatcher) => dispatcher.destroy()));
  }
}
