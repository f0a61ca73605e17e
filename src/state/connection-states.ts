import type { ConnectionRef, ConnectionState, Versioned } from './records.js';

/**
 * What is remembered about connections, in Secrets of the client workspace: one for each connection, its
 * name computed from (logical cluster, UID).
 */
export interface ConnectionStates {
  /** Live read. A connection without a stored state gives an empty one. */
  read(connection: ConnectionRef): Promise<Versioned<ConnectionState>>;
  /** By the state's name, as it stands in a login URL; undefined where there is none. */
  readByName(stateName: string): Promise<Versioned<ConnectionState> | undefined>;
  /** Creates or replaces, guarded by the version that was read; rejects with ApiError(409) when overtaken. */
  write(state: Versioned<ConnectionState>): Promise<Versioned<ConnectionState>>;
  /** Removes the Secret; absent is fine. */
  remove(connection: ConnectionRef): Promise<void>;
  /** All stored states' connections, for cleaning up after connections that vanished. */
  list(): Promise<readonly ConnectionRef[]>;
  /** Calls back when a state was changed, by this process or another. */
  onChange(listener: (connection: ConnectionRef) => void): () => void;
}

/**
 * The installation key (32 random bytes): created once, create-only, never made again when other state
 * exists. Identities given to backends are an HMAC under it.
 */
export interface InstallationKey {
  /** Rejects with StateError `INSTALLATION_KEY_LOST` where state exists without a key. */
  load(): Promise<Uint8Array>;
}
