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

/** In the order in which a connection gets there: the first that is False is the one to look at. */
const CONNECTION_CHAIN: readonly ConnectionConditionType[] = [
  'BackendReachable',
  'Authenticated',
  'CredentialsValid',
  'Heartbeating',
];

/** The same for bindings. PermissionClaimsAccepted informs and holds nothing back, so it is left out. */
const BINDING_CHAIN: readonly BindingConditionType[] = [
  'Connected',
  'ExportReady',
  'SchemaInSync',
  'APIBound',
  'Syncing',
];

/** Reasons that do not pass by themselves; each from the closed lists of src/api/conditions.ts. */
export const NEEDS_SOMEBODY: ReadonlySet<string> = new Set([
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

/** Reasons of Unknown that hold nothing back. */
const INFORMS_ONLY: ReadonlySet<string> = new Set(['NotUsedYet', 'NotFollowed']);

/**
 * The condition that holds everything after it back: the first of the chain that is False; where none is, the
 * first that is Unknown for now; else a False `Ready`.
 */
function blockingCondition(
  conditions: readonly ApiCondition[] | undefined,
  chain: readonly string[],
): ApiCondition | undefined {
  const inOrder = chain.flatMap((type) => conditions?.find((condition) => condition.type === type) ?? []);
  return (
    inOrder.find(({ status }) => status === 'False') ??
    inOrder.find(({ status, reason }) => status === 'Unknown' && !INFORMS_ONLY.has(reason)) ??
    conditions?.find(({ type, status }) => type === 'Ready' && status === 'False')
  );
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
function conditionText(condition: Pick<ApiCondition, 'type' | 'reason' | 'message'>): string {
  const message = condition.message === '' ? '' : `: ${condition.message}`;
  return printable(`${condition.type} ${condition.reason}${message}`, 500);
}

function explain(object: Binding | Connection, chain: readonly string[]): Standing {
  const conditions = object.status?.conditions;
  const blocking = blockingCondition(conditions, chain);
  const why = blocking === undefined ? 'the controller has not reported yet' : conditionText(blocking);
  if (object.metadata.deletionTimestamp !== undefined) return { kind: 'deleting', why };
  if (isStale(object)) return { kind: 'waiting', why: 'the controller has not seen the change yet' };
  const ready = conditions?.find((condition) => condition.type === 'Ready');
  if (ready?.status === 'True') return { kind: 'ready' };
  if (blocking?.status === 'False' && NEEDS_SOMEBODY.has(blocking.reason)) {
    return { kind: 'stuck', why, reason: blocking.reason };
  }
  return { kind: 'waiting', why };
}
