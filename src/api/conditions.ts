/** Condition types and the closed list of reasons of each; a test asserts that every reason is produced. */
export const CONNECTION_REASONS = {
  BackendReachable: [
    'Reachable',
    'InvalidURL',
    'AddressDenied',
    'Unreachable',
    'TLSFailed',
    'NotABackend',
    'UnsupportedBackend',
    'ForeignAuthorizeURL',
  ],
  Authenticated: [
    'LoggedIn',
    'KubeconfigStored',
    'AwaitingLogin',
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
  ],
  CredentialsValid: ['NotUsedYet', 'Accepted', 'Unauthorized', 'ProviderUnreachable', 'ProviderChanged'],
  Heartbeating: ['NotUsedYet', 'Beating', 'HeartbeatFailed', 'ForeignKonnector'],
  Ready: ['Ready', 'NotReady', 'Deleting', 'BindingsRemain'],
} as const;

export const BINDING_REASONS = {
  Connected: [
    'Connected',
    'ConnectionNotFound',
    'ConnectionNotReady',
    'ConnectionDeleting',
    'ProviderUnreachable',
    'Unauthorized',
    'ProviderChanged',
    'ForeignKonnector',
  ],
  PermissionClaimsAccepted: ['NoClaims', 'Accepted', 'NotAccepted', 'Unknown'],
  ExportReady: [
    'ExportReady',
    'Pending',
    'TemplateNotFound',
    'ExportNotFound',
    'ExportMismatch',
    'RequestPending',
    'RequestFailed',
    'ProviderForbidden',
  ],
  SchemaInSync: [
    'InSync',
    'VersionKept',
    'NotFollowed',
    'Pending',
    'Unsupported',
    'TooLarge',
    'Incompatible',
    'Rejected',
  ],
  APIBound: [
    'Bound',
    'Pending',
    'ClaimMissing',
    'NameConflict',
    'NotServed',
    'ForeignAPIBinding',
    'WorkspaceDeleting',
  ],
  Syncing: [
    'Syncing',
    'Pending',
    'Paused',
    'WorkerFailed',
    'ProviderForbidden',
    'ProviderUnreachable',
    'ConsumerUnreachable',
    'ObjectsFailing',
    'Conflict',
    'Contested',
    'Pruned',
    'Mutated',
    'Draining',
    'WaitingForProvider',
    'Released',
  ],
  Ready: ['Ready', 'NotReady', 'Paused', 'Deleting'],
} as const;

export type ConnectionConditionType = keyof typeof CONNECTION_REASONS;
export type BindingConditionType = keyof typeof BINDING_REASONS;
export type ConnectionReason<T extends ConnectionConditionType> = (typeof CONNECTION_REASONS)[T][number];
export type BindingReason<T extends BindingConditionType> = (typeof BINDING_REASONS)[T][number];

/** What a reconciler states about a condition type; the transition time is added when it is written. */
export interface ConditionState {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  /** For False: the cause, and what to do. */
  readonly message: string;
}

export interface Condition extends ConditionState {
  readonly type: string;
  /** RFC 3339, whole seconds. */
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}
