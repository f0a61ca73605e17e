import type { ConnectionStates } from '../state/connection-states.js';
import type { ConnectionRef, ConnectionState, Versioned } from '../state/records.js';

/**
 * Connection states as last read: bindings look at theirs each second. Told changes drop an entry, and a read
 * that began before a change is not kept.
 */
export class StateCache {
  readonly #states: ConnectionStates;
  readonly #entries = new Map<string, Promise<Versioned<ConnectionState>>>();
  readonly #unsubscribe: () => void;

  constructor(states: ConnectionStates) {
    this.#states = states;
    this.#unsubscribe = states.onChange((connection) => this.drop(connection));
  }

  read(connection: ConnectionRef): Promise<Versioned<ConnectionState>> {
    const key = keyOf(connection);
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const reading = this.#states.read(connection);
    this.#entries.set(key, reading);
    reading.catch(() => {
      if (this.#entries.get(key) === reading) this.#entries.delete(key);
    });
    return reading;
  }

  drop(connection: ConnectionRef): void {
    this.#entries.delete(keyOf(connection));
  }

  close(): void {
    this.#unsubscribe();
    this.#entries.clear();
  }
}

function keyOf({ cluster, uid }: ConnectionRef): string {
  return `${cluster}|${uid}`;
}
