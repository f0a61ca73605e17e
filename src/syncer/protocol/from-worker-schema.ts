import { BINDING_REASONS, CONNECTION_REASONS } from '../../api/conditions.js';
import { MAX_SCHEMA_TEXT, MESSAGE_LIMITS } from './limits.js';

type Schema = Readonly<Record<string, unknown>>;

const name: Schema = { type: 'string', maxLength: MESSAGE_LIMITS.name };
const message: Schema = { type: 'string', maxLength: MESSAGE_LIMITS.message };
const flag: Schema = { type: 'boolean' };
const count: Schema = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const time: Schema = { type: 'string', maxLength: 40, pattern: '^[0-9TZ:.+-]+$' };
const credential: Schema = { type: 'string', maxLength: MESSAGE_LIMITS.credential };
const scope: Schema = { enum: ['Cluster', 'Namespaced'] };

function list(items: Schema, maxItems: number): Schema {
  return { type: 'array', items, maxItems };
}

/** An object with exactly these properties; a name that ends in `?` may be absent. */
function record(properties: Readonly<Record<string, Schema>>): Schema {
  const entries = Object.entries(properties);
  return {
    type: 'object',
    additionalProperties: false,
    required: entries.map(([key]) => key).filter((key) => !key.endsWith('?')),
    properties: Object.fromEntries(entries.map(([key, schema]) => [key.replace(/\?$/, ''), schema])),
  };
}

function condition(reasons: readonly string[]): Schema {
  return record({ status: { enum: ['True', 'False', 'Unknown'] }, reason: { enum: reasons }, message });
}

/**
 * Credentials in a report become a connection's stored ones, so the schema takes only what the kubeconfig
 * sanitizer gives: above all no `tokenFile`, which would make the main thread read a file of ours.
 */
const foreignCredentials = record({
  server: { type: 'string', maxLength: MESSAGE_LIMITS.message, pattern: '^https://' },
  'ca?': credential,
  'tlsServerName?': name,
  auth: {
    type: 'object',
    required: ['kind'],
    oneOf: [
      record({ kind: { const: 'none' } }),
      record({ kind: { const: 'token' }, token: credential }),
      record({ kind: { const: 'certificate' }, cert: credential, key: credential }),
    ],
  },
  'proxyUrl?': { type: 'string', maxLength: MESSAGE_LIMITS.message, pattern: '^https?://' },
  'namespace?': name,
});

const schema = record({
  group: name,
  resource: name,
  kind: name,
  scope,
  versions: list(name, MESSAGE_LIMITS.versions),
  syncVersion: name,
  contentHash: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  specJson: { type: 'string', maxLength: MAX_SCHEMA_TEXT },
  'webhook?': flag,
});

const report = record({
  key: name,
  revision: count,
  conditions: record({
    'Connected?': condition(BINDING_REASONS.Connected),
    'ExportReady?': condition(BINDING_REASONS.ExportReady),
    'SchemaInSync?': condition(BINDING_REASONS.SchemaInSync),
    'Syncing?': condition(BINDING_REASONS.Syncing),
  }),
  'contractNamespaceUid?': name,
  'provider?': record({ prettyName: name }),
  'schemas?': list(schema, MESSAGE_LIMITS.schemas),
  'claims?': list(
    record({ group: name, resource: name, selector: { type: 'string', maxLength: MESSAGE_LIMITS.selector } }),
    MESSAGE_LIMITS.claims,
  ),
  'heartbeat?': condition(CONNECTION_REASONS.Heartbeating),
  sync: record({ objects: count, pending: count, failing: count, 'lastSyncTime?': time }),
  'rotatedCredentials?': foreignCredentials,
  drained: flag,
  left: flag,
  remaining: list(message, MESSAGE_LIMITS.remaining),
  namespaces: list(name, MESSAGE_LIMITS.namespaces),
});

const event = record({
  key: name,
  apiVersion: name,
  kind: name,
  'namespace?': name,
  name,
  uid: name,
  type: { enum: ['Normal', 'Warning'] },
  reason: name,
  message,
});

/** JSON schema of each kind of message from a worker, by its `type`. */
export const FROM_WORKER_SCHEMAS = {
  ready: record({ type: { const: 'ready' } }),
  report: record({ type: { const: 'report' }, report, 'sameSchemas?': { const: true } }),
  event: record({ type: { const: 'event' }, event }),
  released: record({ type: { const: 'released' }, key: name }),
  pulse: record({
    type: { const: 'pulse' },
    metrics: { type: 'string', maxLength: MESSAGE_LIMITS.metrics },
    externalBytes: count,
  }),
} as const;
