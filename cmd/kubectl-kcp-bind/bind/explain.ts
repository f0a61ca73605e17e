import type { BindingConditionType, ConnectionConditionType } from '../../../src/api/conditions.js';
import { printable } from '../output/printable.js';
import type { ApiCondition, Binding, Connection } from '../typed-objects.js';

/** How far something is on its way to Ready. */
export type Standing =
  | { readonly kind: 'ready' }
  /** It may still become Ready by itself. */
  | { readonly kind: 'waiting'; readonly why: string }
  /** Somebody has to do something. */
  | { readonly kind: 'stuck'; readonly why: string; readonly reason: string }
  | { readonly kind: 'deleting'; readonly why: string };

/** In the order in which a connection gets there: the first that is not True is the one to look at. */
const CONNECTION_CHAIN: readonly ConnectionConditionType[] = [
  'BackendReachable',
  'Authenticated',
  'CredentialsValid',
  'Heartbeating',
  'Ready',
];

/** The same for bindings. PermissionClaimsAccepted informs and holds nothing back, so it is left out. */
const BINDING_CHAIN: readonly BindingConditionType[] = [
  'Connected',
  'ExportReady',
  'SchemaInSync',
  'APIBound',
  'Syncing',
  'Ready',
];

/** Reasons that do not pass by themselves. */
const NEEDS_SOMEBODY: ReadonlySet<string> = new Set([
  // connection
  'InvalidURL',
  'AddressDenied',
  'TLSFailed',
  'NotABackend',
  'UnsupportedBackend',
  'ForeignAuthorizeURL',
  'LoginExpired',
  'LoginEnded',
  'LoginRefused',
  'HandshakeUnavailable',
  'NoOffers',
  'BackendRefused',
  'SecretsClaimMissing',
  'SecretNotFound',
  'SecretNotLabelled',
  'KubeconfigInvalid',
  'ProviderChanged',
  'ForeignKonnector',
  // binding
  'ConnectionNotFound',
  'ConnectionDeleting',
  'TemplateNotFound',
  'ExportNotFound',
  'ExportMismatch',
  'RequestFailed',
  'Unsupported',
  'TooLarge',
  'Incompatible',
  'Rejected',
  'NameConflict',
  'ForeignAPIBinding',
  'WorkspaceDeleting',
]);

/** The first condition of the chain that is False; its status must be of the newest generation. */
export function firstFalse(
  conditions: readonly ApiCondition[] | undefined,
  chain: readonly string[],
): ApiCondition | undefined {
  for (const type of chain) {
    const found = conditions?.find((condition) => condition.type === type);
    if (found?.status === 'False') return found;
  }
  return undefined;
}

export function explainBinding(binding: Binding): Standing {
  return explain(binding, BINDING_CHAIN);
}

export function explainConnection(connection: Connection): Standing {
  return explain(connection, CONNECTION_CHAIN);
}

/** The status describes an older spec than the one that is stored. */
export function isStale(object: Binding | Connection): boolean {
  const { generation } = object.metadata;
  const observed = object.status?.observedGeneration;
  return generation !== undefined && observed !== undefined && observed < generation;
}

/** `Reason: message`, safe to show. */
export function conditionText(condition: Pick<ApiCondition, 'type' | 'reason' | 'message'>): string {
  const message = condition.message === '' ? '' : `: ${condition.message}`;
  return printable(`${condition.type} ${condition.reason}${message}`, 500);
}

function explain(object: Binding | Connection, chain: readonly string[]): Standing {
  const conditions = object.status?.conditions;
  const blocking = firstFalse(conditions, chain);
  const why = blocking === undefined ? 'the controller has not reported yet' : conditionText(blocking);
  if (object.metadata.deletionTimestamp !== undefined) return { kind: 'deleting', why };
  if (isStale(object)) return { kind: 'waiting', why: 'the controller has not seen the change yet' };
  const ready = conditions?.find((condition) => condition.type === 'Ready');
  if (ready?.status === 'True') return { kind: 'ready' };
  if (blocking !== undefined && NEEDS_SOMEBODY.has(blocking.reason)) {
    return { kind: 'stuck', why, reason: blocking.reason };
  }
  return { kind: 'waiting', why };
}
