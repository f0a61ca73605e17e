import { COMPONENT_LABEL } from '../api/markers.js';
import { GVR } from '../api/gvr.js';
import type { KubeClient } from '../kube/client.js';
import { isObjectNotFound, isStatus } from '../kube/errors.js';
import { isJsonObject } from '../kube/json-value.js';
import type { KubeObject } from '../kube/object.js';
import type { InstallationKey } from './connection-states.js';
import { listStateSecrets } from './list-state-secrets.js';
import { createRecordValidators } from './record-schemas.js';
import { StateError } from './state-error.js';
import { holdsHandshakeAccount } from './state-secret.js';

/** Name of the Secret; it belongs into every backup of the client workspace. */
const INSTALLATION_KEY_SECRET = 'kube-bind-installation';
const KEY_BYTES = 32;

export interface InstallationKeyOptions {
  /** Client workspace. */
  readonly client: KubeClient;
  readonly namespace: string;
  /** Cryptographically strong random bytes. */
  readonly random: (bytes: number) => Uint8Array;
}

/**
 * The installation key in an immutable Secret. Loaded once for each process; made only where no account exists
 * whose identity hangs on it. Two processes that start at once agree: the second create is refused, and it reads.
 */
export function createInstallationKey(options: InstallationKeyOptions): InstallationKey {
  const { client, namespace, random } = options;
  let loaded: Uint8Array | undefined;

  const read = async (): Promise<Uint8Array | undefined> => {
    try {
      return decodeKey(await client.get(GVR.secrets, { namespace, name: INSTALLATION_KEY_SECRET }));
    } catch (error) {
      if (isObjectNotFound(error)) return undefined;
      throw error;
    }
  };

  const create = async (): Promise<Uint8Array> => {
    const validators = createRecordValidators();
    for await (const secret of listStateSecrets(client, namespace)) {
      if (holdsHandshakeAccount(secret, validators)) throw lost(namespace);
    }
    const key = random(KEY_BYTES);
    try {
      await client.create(GVR.secrets, encodeKey(key, namespace));
      return key;
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
      const winner = await read();
      if (winner === undefined) throw error;
      return winner;
    }
  };

  return {
    async load() {
      loaded ??= (await read()) ?? (await create());
      return loaded;
    },
  };
}

function encodeKey(key: Uint8Array, namespace: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: INSTALLATION_KEY_SECRET,
      namespace,
      labels: { [COMPONENT_LABEL]: 'installation-key' },
    },
    type: 'Opaque',
    immutable: true,
    data: { key: Buffer.from(key).toString('base64') },
  };
}

function decodeKey(secret: KubeObject): Uint8Array {
  const data = secret['data'];
  const encoded = isJsonObject(data) ? data['key'] : undefined;
  const key = typeof encoded === 'string' ? Buffer.from(encoded, 'base64') : Buffer.alloc(0);
  if (key.byteLength !== KEY_BYTES) {
    throw new StateError(
      'INSTALLATION_KEY_INVALID',
      `Secret ${secret.metadata.namespace ?? ''}/${INSTALLATION_KEY_SECRET} must hold ${KEY_BYTES} bytes under "key", ` +
        `it holds ${key.byteLength}: restore it from a backup of the client workspace`,
    );
  }
  return new Uint8Array(key);
}

function lost(namespace: string): StateError {
  return new StateError(
    'INSTALLATION_KEY_LOST',
    `Secret ${namespace}/${INSTALLATION_KEY_SECRET} is gone, but connections with accounts are stored beside it. ` +
      'A new key would give every workspace a new, empty account at its providers. Restore the Secret from a backup ' +
      `of the client workspace (kubectl apply -n ${namespace} -f kube-bind-installation.yaml) and start again. If there is no ` +
      'backup, delete the connections that were made by a login, or the Secrets labelled ' +
      'kcp.kube-bind.io/component=connection-state, and log in anew.',
  );
}
