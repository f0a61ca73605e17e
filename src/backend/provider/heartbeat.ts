import type { ConnectionReason } from '../../api/conditions.js';
import { GVR } from '../../api/gvr.js';
import { untrustedText } from '../../api/untrusted-text.js';
import type { RequestOptions } from '../../kube/client.js';
import type { Clock } from '../../kube/clock.js';
import { isStatus } from '../../kube/errors.js';
import { isJsonObject, type JsonObject } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
import type { ProviderContract } from './contract.js';
import { formatGoDuration, parseGoDuration } from './go-duration.js';
import { mergeConditions } from './provider-conditions.js';
import { statusOf, updateStatus } from './status-patch.js';
import { timestamp } from './timestamp.js';

const CLUSTER_BINDING = 'cluster';

/** Who beats, and how often. */
export interface Heartbeat {
  /** Goes into `consumerSecretRef`; the name is how we know our own beats. */
  readonly secret: { readonly namespace: string; readonly name: string };
  /** Text for `konnectorVersion`. */
  readonly version: string;
  /** Milliseconds; a beat is written when the last one is older than half of it. */
  readonly intervalMs: number;
}

/** States are reasons of the connection's condition Heartbeating. */
export type BeatOutcome =
  | { readonly state: 'Beating'; readonly written: boolean; readonly prettyName: string }
  | {
      readonly state: Extract<ConnectionReason<'Heartbeating'>, 'ForeignKonnector' | 'HeartbeatFailed'>;
      readonly message: string;
    };

/**
 * Tells the provider that this consumer lives, by the status of ClusterBinding `cluster`. Writes nothing while somebody
 * else beats there: two syncers on one contract would undo each other's work. Rejects with the errors of KubeClient,
 * 403 and a missing ClusterBinding aside.
 */
export async function beat(
  contract: ProviderContract,
  heartbeat: Heartbeat,
  options: RequestOptions & { readonly clock: Clock },
): Promise<BeatOutcome> {
  const { clock, ...request } = options;
  let foreign: string | undefined;
  let prettyName = '';
  const decide = (object: KubeObject): JsonObject => {
    const now = clock.now();
    prettyName = providerName(object);
    foreign = foreignBeat(statusOf(object), heartbeat, now);
    return foreign === undefined ? beatStatus(statusOf(object), heartbeat, now) : {};
  };
  try {
    const target = { gvr: GVR.clusterBindings, name: CLUSTER_BINDING };
    const write = await updateStatus(contract, target, decide, request);
    if (foreign !== undefined) return { state: 'ForeignKonnector', message: foreign };
    if (write !== 'absent') return { state: 'Beating', written: write === 'written', prettyName };
    return {
      state: 'HeartbeatFailed',
      message: `the provider's namespace ${contract.namespace} has no ClusterBinding named ${CLUSTER_BINDING}; log in again, or ask the provider to restore it`,
    };
  } catch (error) {
    if (!isStatus(error, 403)) throw error;
    return {
      state: 'HeartbeatFailed',
      message: `the account may not write the heartbeat: ${untrustedText(error.message, 400)}`,
    };
  }
}

/** Why somebody else seems to beat here: a recent beat with another Secret's name. Undefined: nobody does. */
function foreignBeat(status: JsonObject, heartbeat: Heartbeat, now: number): string | undefined {
  const last = lastBeat(status);
  if (last === undefined) return undefined;
  const ref = isJsonObject(status['consumerSecretRef']) ? status['consumerSecretRef'] : {};
  if (ref['name'] === heartbeat.secret.name) return undefined;
  const interval = typeof status['heartbeatInterval'] === 'string' ? status['heartbeatInterval'] : '';
  // A foreign interval is bounded, else one strange beat would lock us out for ever; so is a clock ahead of ours.
  const period = Math.min(parseGoDuration(interval) ?? heartbeat.intervalMs, 3_600_000);
  if (Math.abs(now - last) >= 2 * period) return undefined;
  const name = `${untrustedText(ref['namespace'], 63)}/${untrustedText(ref['name'], 253)}`;
  return (
    `another konnector uses this account of the provider: it wrote a heartbeat at ${timestamp(last)} with Secret ${name}. ` +
    'Stop it, or make a connection of your own with another spec.backend.account'
  );
}

/** The status after a beat that is due, or with the last beat where none is. */
function beatStatus(status: JsonObject, heartbeat: Heartbeat, now: number): JsonObject {
  const last = lastBeat(status);
  const due = last === undefined || Math.abs(now - last) > heartbeat.intervalMs / 2;
  return {
    ...(due ? { lastHeartbeatTime: timestamp(now) } : {}),
    heartbeatInterval: formatGoDuration(heartbeat.intervalMs),
    konnectorVersion: heartbeat.version,
    consumerSecretRef: { namespace: heartbeat.secret.namespace, name: heartbeat.secret.name },
    conditions: mergeConditions(
      status['conditions'],
      [
        { type: 'SecretValid', status: 'True' },
        { type: 'ValidVersion', status: 'True' },
      ],
      timestamp(now),
      { summary: true },
    ),
  };
}

function lastBeat(status: JsonObject): number | undefined {
  const text = status['lastHeartbeatTime'];
  const time = typeof text === 'string' ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time;
}

function providerName(object: KubeObject): string {
  const spec = isJsonObject(object['spec']) ? object['spec'] : {};
  return untrustedText(spec['providerPrettyName'], 256);
}
