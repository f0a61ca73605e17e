import { ApiError } from '../../kube/errors.js';
import type { ConnectionStates } from '../../state/connection-states.js';
import type { ConnectionRef, ConnectionState, Versioned } from '../../state/records.js';
import { connectionStateName } from '../../api/names.js';
import type { WriteGate } from './fake-client.js';

/** Connection states that outlive a process, as the client workspace keeps them. */
export class FakeStateDisk {
  readonly states = new Map<string, { value: ConnectionState; version: number }>();
  readonly listeners = new Set<(connection: ConnectionRef) => void>();
  version = 0;

  load(other: FakeStateDisk): void {
    for (const [name, entry] of other.states) this.states.set(name, { ...entry });
    this.version = other.version;
  }

  /** Writes as somebody who is not under test: the handshake. */
  put(value: ConnectionState): void {
    this.states.set(nameOf(value.connection), { value, version: ++this.version });
    for (const listener of this.listeners) listener(value.connection);
  }

  /** The states as one process sees them. */
  open(gate: WriteGate): ConnectionStates {
    const read = (name: string): Versioned<ConnectionState> | undefined => {
      const entry = this.states.get(name);
      return entry && { value: entry.value, resourceVersion: String(entry.version) };
    };
    return {
      read: async (connection) =>
        read(nameOf(connection)) ?? { value: { connection }, resourceVersion: undefined },
      readByName: async (name) => read(name),
      write: async (state) =>
        gate(() => {
          const now = this.states.get(nameOf(state.value.connection));
          const expected = now === undefined ? undefined : String(now.version);
          if (expected !== state.resourceVersion) {
            throw new ApiError({ message: 'overtaken', status: 409, reason: 'Conflict' });
          }
          this.put(state.value);
          return { value: state.value, resourceVersion: String(this.version) };
        }),
      remove: async (connection) =>
        gate(() => {
          if (!this.states.delete(nameOf(connection))) return;
          for (const listener of this.listeners) listener(connection);
        }),
      list: async () => [...this.states.values()].map(({ value }) => value.connection),
      onChange: (listener) => {
        this.listeners.add(listener);
        return () => void this.listeners.delete(listener);
      },
    };
  }
}

function nameOf({ cluster, uid }: ConnectionRef): string {
  return connectionStateName(cluster, uid);
}
