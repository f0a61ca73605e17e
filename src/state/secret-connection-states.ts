import { GVR } from '../api/gvr.js';
import { connectionStateName } from '../api/names.js';
import type { ObjectStore } from '../kube/cache/object-store.js';
import type { KubeClient } from '../kube/client.js';
import { ApiError, isObjectNotFound } from '../kube/errors.js';
import type { KubeObject } from '../kube/object.js';
import type { ConnectionStates } from './connection-states.js';
import { createRecordValidators } from './record-schemas.js';
import type { ConnectionRef, ConnectionState, Versioned } from './records.js';
import { StateError } from './state-error.js';
import { CONNECTION_STATE_COMPONENT, decodeConnection, decodeState, encodeState } from './state-secret.js';
import { listStateSecrets } from './list-state-secrets.js';
import { COMPONENT_LABEL } from '../api/markers.js';

/** Nothing else may be asked for by a name that came in a URL. */
const STATE_NAME = /^connection-[0-9a-f]{20}$/;

export interface ConnectionStatesOptions {
  /** Client workspace. */
  readonly client: KubeClient;
  /** Where the Secrets live. */
  readonly namespace: string;
  /**
   * The same Secrets (CONNECTION_STATE_SELECTOR), followed by a reflector: changes are told from it. Without it
   * only changes that this process makes are told.
   */
  readonly store?: ObjectStore;
}

/** ConnectionStates in Secrets of the client workspace. Reads are live; writes are guarded by what was read. */
export function createConnectionStates(options: ConnectionStatesOptions): ConnectionStates {
  const { client, namespace, store } = options;
  const validators = createRecordValidators();
  const listeners = new Set<(connection: ConnectionRef) => void>();

  const find = async (name: string): Promise<KubeObject | undefined> => {
    try {
      return await client.get(GVR.secrets, { namespace, name });
    } catch (error) {
      if (isObjectNotFound(error)) return undefined;
      throw error;
    }
  };
  const versioned = (secret: KubeObject): Versioned<ConnectionState> => ({
    value: decodeState(secret, validators),
    resourceVersion: secret.metadata.resourceVersion,
  });
  const tell = (connection: ConnectionRef): void => {
    for (const listener of listeners) listener(connection);
  };

  return {
    async read(connection) {
      const secret = await find(connectionStateName(connection.cluster, connection.uid));
      return secret === undefined ? { value: { connection }, resourceVersion: undefined } : versioned(secret);
    },

    async readByName(stateName) {
      if (!STATE_NAME.test(stateName)) return undefined;
      const secret = await find(stateName);
      return secret?.metadata.labels?.[COMPONENT_LABEL] === CONNECTION_STATE_COMPONENT
        ? versioned(secret)
        : undefined;
    },

    async write({ value, resourceVersion }) {
      const secret = encodeState(value, { namespace, resourceVersion });
      const stored =
        resourceVersion === undefined
          ? await client.create(GVR.secrets, secret)
          : await client.replace(GVR.secrets, secret);
      if (store === undefined) tell(value.connection);
      return { value, resourceVersion: stored.metadata.resourceVersion };
    },

    async remove(connection) {
      const name = connectionStateName(connection.cluster, connection.uid);
      try {
        await client.delete(GVR.secrets, { namespace, name });
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
        return;
      }
      if (store === undefined) tell(connection);
    },

    async list() {
      const connections: ConnectionRef[] = [];
      for await (const secret of listStateSecrets(client, namespace)) {
        const connection = tryDecode(secret);
        if (connection !== undefined) connections.push(connection);
      }
      return connections;
    },

    onChange(listener) {
      // One subscription for each listener: nothing to release when nobody listens.
      if (store === undefined) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      }
      return store.subscribe((change) => {
        const secret = change.type === 'set' ? change.object : change.previous;
        if (change.type === 'set' && isSame(change.previous, change.object)) return;
        const connection = tryDecode(secret);
        if (connection !== undefined) listener(connection);
      });
    },
  };

  /** A Secret that cannot be read must not stop work on the others; reading it by itself says what is wrong. */
  function tryDecode(secret: KubeObject): ConnectionRef | undefined {
    try {
      return decodeConnection(secret, validators);
    } catch (error) {
      if (error instanceof StateError) return undefined;
      throw error;
    }
  }
}

function isSame(previous: KubeObject | undefined, object: KubeObject): boolean {
  const version = object.metadata.resourceVersion;
  return version !== undefined && previous?.metadata.resourceVersion === version;
}
