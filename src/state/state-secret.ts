import type { ValidateFunction } from 'ajv';
import { CLUSTER_LABEL, COMPONENT_LABEL, CONNECTION_UID_LABEL } from '../api/markers.js';
import { connectionStateName } from '../api/names.js';
import { isJsonObject } from '../kube/json-value.js';
import type { JsonObject } from '../kube/json-value.js';
import type { KubeObject } from '../kube/object.js';
import type { RecordValidators } from './record-schemas.js';
import type { ConnectionRef, ConnectionState } from './records.js';
import { StateError } from './state-error.js';

/** Value of the component label on these Secrets. */
export const CONNECTION_STATE_COMPONENT = 'connection-state';
/** Selects the Secrets that hold connections' state, for whoever follows them. */
export const CONNECTION_STATE_SELECTOR = `${COMPONENT_LABEL}=${CONNECTION_STATE_COMPONENT}`;

/** Version of the stored records. A record of a higher one is refused: an older program would damage it. */
const FORMAT = 1;
/** Kubernetes allows 1 MiB for the data of a Secret. */
const MAX_DATA_BYTES = 900 * 1024;

const KEYS = { connection: 'connection.json', account: 'account.json', login: 'login.json' } as const;

/** The Secret in which a connection's state is stored. Rejects state that would not fit. */
export function encodeState(
  state: ConnectionState,
  target: { readonly namespace: string; readonly resourceVersion: string | undefined },
): KubeObject {
  const { cluster, name, uid } = state.connection;
  const records: Record<string, unknown> = { [KEYS.connection]: { cluster, name, uid } };
  if (state.account !== undefined) records[KEYS.account] = state.account;
  if (state.login !== undefined) records[KEYS.login] = state.login;
  const data: JsonObject = {};
  let bytes = 0;
  for (const [key, record] of Object.entries(records)) {
    const encoded = Buffer.from(JSON.stringify({ v: FORMAT, ...(record as object) }));
    bytes += encoded.byteLength;
    data[key] = encoded.toString('base64');
  }
  if (bytes > MAX_DATA_BYTES) {
    throw new StateError(
      'STATE_TOO_LARGE',
      `the state of connection ${name} would take ${bytes} bytes, more than the ${MAX_DATA_BYTES} that a Secret ` +
        'can hold: ask the provider to offer fewer or smaller templates',
    );
  }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: connectionStateName(cluster, uid),
      namespace: target.namespace,
      labels: {
        [COMPONENT_LABEL]: CONNECTION_STATE_COMPONENT,
        [CLUSTER_LABEL]: cluster,
        [CONNECTION_UID_LABEL]: uid,
      },
      ...(target.resourceVersion === undefined ? {} : { resourceVersion: target.resourceVersion }),
    },
    type: 'Opaque',
    data,
  };
}

/** Reads a Secret back. Rejects with StateError what is damaged, misplaced or of a newer format. */
export function decodeState(secret: KubeObject, validators: RecordValidators): ConnectionState {
  const connection = decodeConnection(secret, validators);
  const account = decodeRecord(secret, KEYS.account, validators.account);
  const login = decodeRecord(secret, KEYS.login, validators.login);
  return {
    connection,
    ...(account === undefined ? {} : { account }),
    ...(login === undefined ? {} : { login }),
  };
}

/** Whose state a Secret holds. The Secret's name is computed, so it proves that the record belongs there. */
export function decodeConnection(secret: KubeObject, validators: RecordValidators): ConnectionRef {
  const record = decodeRecord(secret, KEYS.connection, validators.connection);
  if (record === undefined) throw invalid(secret, KEYS.connection, 'is missing');
  const { cluster, name, uid } = record;
  if (connectionStateName(cluster, uid) !== secret.metadata.name) {
    throw invalid(secret, KEYS.connection, 'belongs to a Secret of another name');
  }
  return { cluster, name, uid };
}

/** Whether the Secret holds an account that an identity was given away for, or one that cannot be read. */
export function holdsHandshakeAccount(secret: KubeObject, validators: RecordValidators): boolean {
  try {
    return decodeRecord(secret, KEYS.account, validators.account)?.source === 'handshake';
  } catch (error) {
    if (error instanceof StateError) return true;
    throw error;
  }
}

function decodeRecord<T>(secret: KubeObject, key: string, validate: ValidateFunction<T>): T | undefined {
  const data = secret['data'];
  const encoded = isJsonObject(data) ? data[key] : undefined;
  if (encoded === undefined) return undefined;
  const record = parse(encoded);
  if (!isJsonObject(record)) throw invalid(secret, key, 'is not a JSON object in base64');
  const { v, ...fields } = record;
  if (typeof v !== 'number') throw invalid(secret, key, 'carries no format version "v"');
  if (v > FORMAT) {
    throw new StateError(
      'STATE_TOO_NEW',
      `${key} in Secret ${nameOf(secret)} has format ${v}, this program knows up to ${FORMAT}: ` +
        'run the version of the controller that wrote it, or a newer one',
    );
  }
  if (!validate(fields)) {
    const [first] = validate.errors ?? [];
    throw invalid(secret, key, `has a wrong field: ${first?.instancePath ?? ''} ${first?.message ?? ''}`);
  }
  return fields;
}

function parse(encoded: unknown): unknown {
  if (typeof encoded !== 'string') return undefined;
  try {
    return JSON.parse(Buffer.from(encoded, 'base64').toString()) as unknown;
  } catch {
    return undefined;
  }
}

function invalid(secret: KubeObject, key: string, problem: string): StateError {
  return new StateError(
    'STATE_INVALID',
    `${key} in Secret ${nameOf(secret)} ${problem}: restore the Secret from a backup, or delete it and log in again`,
  );
}

function nameOf(secret: KubeObject): string {
  return `${secret.metadata.namespace ?? ''}/${secret.metadata.name}`;
}
