import { describe, expect, it } from '@jest/globals';
import { CONNECTION_REASONS } from '../../api/conditions.js';
import type { ConnectionConditionType } from '../../api/conditions.js';
import type { Login } from '../../state/records.js';
import {
  ACCOUNT,
  claims,
  connectionObservation,
  EVERYTHING,
  no,
  NOW,
  report,
  yes,
} from '../testing/observations.js';
import { decideConnection } from './decide.js';
import type { ConnectionObservation, ProviderProbe } from './observation.js';
import type { BindingView } from './report-conditions.js';

const SECRET_SPEC = { kubeconfigSecretRef: { namespace: 'default', name: 's' } };
const REF = { cluster: connectionObservation().state.connection.cluster, name: 'c', uid: 'c-uid' };

function login(change: Partial<Login> = {}): Login {
  return {
    idHash: 'a'.repeat(64),
    wrongCodes: 0,
    expiresAt: new Date(NOW + 300_000).toISOString(),
    stage: 'awaited',
    ...change,
  };
}

function view(change: Partial<BindingView> = {}): BindingView {
  return { name: 'b', uid: 'b-uid', deleting: false, beats: true, report: report(), ...change };
}

const withLogin = (change: Partial<Login>, more: Partial<ConnectionObservation> = {}) => ({
  state: { connection: REF, login: login(change) },
  loginPublished: true,
  ...more,
});
const withAccount = (more: Partial<ConnectionObservation> = {}): Partial<ConnectionObservation> => ({
  state: { connection: REF, account: ACCOUNT },
  ...more,
});
const failed = (
  reason: Extract<ProviderProbe, { kind: 'failed' }>['reason'],
): Partial<ConnectionObservation> => ({
  provider: { kind: 'failed', reason, message: 'm' },
});
const withConnected = (state: { status: 'True' | 'False'; reason: string }) =>
  withAccount({
    bindings: [view({ report: report({ conditions: { Connected: { ...state, message: 'm' } } }) })],
  });
const bySecret = (secret: ConnectionObservation['secret']): Partial<ConnectionObservation> => ({
  spec: SECRET_SPEC,
  secret,
});

const usable = {
  kind: 'usable',
  credentials: ACCOUNT.credentials,
  contractNamespace: 'contract',
  sourceHash: 'h1',
} as const;

/** What is observed, the condition that it gives, and the phase. */
const TABLE: [string, Partial<ConnectionObservation>, ConnectionConditionType, string, string, string][] = [
  ['a backend that answers', {}, 'BackendReachable', 'True', 'Reachable', 'Pending'],
  ['a backend URL that is none', failed('InvalidURL'), 'BackendReachable', 'False', 'InvalidURL', 'Failed'],
  [
    'an address that is denied',
    failed('AddressDenied'),
    'BackendReachable',
    'False',
    'AddressDenied',
    'Failed',
  ],
  ['a backend that is down', failed('Unreachable'), 'BackendReachable', 'False', 'Unreachable', 'Pending'],
  [
    'a certificate that is not trusted',
    failed('TLSFailed'),
    'BackendReachable',
    'False',
    'TLSFailed',
    'Pending',
  ],
  ['a web page', failed('NotABackend'), 'BackendReachable', 'False', 'NotABackend', 'Failed'],
  [
    'an old backend',
    failed('UnsupportedBackend'),
    'BackendReachable',
    'False',
    'UnsupportedBackend',
    'Failed',
  ],
  [
    'a login elsewhere',
    failed('ForeignAuthorizeURL'),
    'BackendReachable',
    'False',
    'ForeignAuthorizeURL',
    'Failed',
  ],
  [
    'a backend that is asked',
    { provider: { kind: 'pending' } },
    'BackendReachable',
    'Unknown',
    'Unreachable',
    'Pending',
  ],
  ['an account', withAccount(), 'Authenticated', 'True', 'LoggedIn', 'Connected'],
  [
    'an account and a dead backend',
    withAccount(failed('Unreachable')),
    'Ready',
    'True',
    'Ready',
    'Connected',
  ],
  ['a live login', withLogin({}), 'Authenticated', 'False', 'AwaitingLogin', 'AwaitingLogin'],
  ['no login yet', {}, 'Authenticated', 'Unknown', 'AwaitingLogin', 'Pending'],
  [
    'a login whose time is over',
    withLogin({ expiresAt: new Date(NOW - 1).toISOString() }),
    'Authenticated',
    'False',
    'LoginExpired',
    'Failed',
  ],
  [
    'five wrong codes',
    withLogin({ stage: 'ended', endedReason: 'LoginEnded' }),
    'Authenticated',
    'False',
    'LoginEnded',
    'Failed',
  ],
  [
    'a refused login',
    withLogin({ stage: 'ended', endedReason: 'LoginRefused' }),
    'Authenticated',
    'False',
    'LoginRefused',
    'Failed',
  ],
  [
    'no offers',
    withLogin({ stage: 'ended', endedReason: 'NoOffers' }),
    'Authenticated',
    'False',
    'NoOffers',
    'Failed',
  ],
  [
    'a refusing backend',
    withLogin({ stage: 'ended', endedReason: 'BackendRefused' }),
    'Authenticated',
    'False',
    'BackendRefused',
    'Failed',
  ],
  ['no login pages', { handshakeServed: false }, 'Authenticated', 'False', 'HandshakeUnavailable', 'Failed'],
  [
    'no claim on logicalclusters',
    { claims: claims('secrets.') },
    'Authenticated',
    'False',
    'HandshakeUnavailable',
    'Failed',
  ],
  [
    'a kubeconfig',
    { ...bySecret(usable), ...withAccount(), spec: SECRET_SPEC },
    'Authenticated',
    'True',
    'KubeconfigStored',
    'Connected',
  ],
  [
    'no claim on secrets',
    bySecret({ kind: 'claim-missing' }),
    'Authenticated',
    'False',
    'SecretsClaimMissing',
    'Failed',
  ],
  ['no Secret', bySecret({ kind: 'not-found' }), 'Authenticated', 'False', 'SecretNotFound', 'Failed'],
  [
    'a Secret without label',
    bySecret({ kind: 'not-labelled' }),
    'Authenticated',
    'False',
    'SecretNotLabelled',
    'Failed',
  ],
  [
    'a bad kubeconfig',
    bySecret({ kind: 'invalid', message: 'users[0].user.exec' }),
    'Authenticated',
    'False',
    'KubeconfigInvalid',
    'Failed',
  ],
  [
    'a Secret that vanished after its copy was stored',
    { ...bySecret({ kind: 'not-found' }), ...withAccount(), spec: SECRET_SPEC },
    'Authenticated',
    'True',
    'KubeconfigStored',
    'Connected',
  ],
  ['no binding', withAccount(), 'CredentialsValid', 'Unknown', 'NotUsedYet', 'Connected'],
  [
    'a binding without report',
    withAccount({ bindings: [view({ report: undefined })] }),
    'CredentialsValid',
    'Unknown',
    'NotUsedYet',
    'Connected',
  ],
  [
    'a good binding',
    withAccount({ bindings: [view()] }),
    'CredentialsValid',
    'True',
    'Accepted',
    'Connected',
  ],
  [
    'refused credentials',
    withConnected({ status: 'False', reason: 'Unauthorized' }),
    'CredentialsValid',
    'False',
    'Unauthorized',
    'Connected',
  ],
  [
    'an unreachable provider',
    withConnected({ status: 'False', reason: 'ProviderUnreachable' }),
    'CredentialsValid',
    'Unknown',
    'ProviderUnreachable',
    'Connected',
  ],
  [
    'another contract namespace',
    withConnected({ status: 'False', reason: 'ProviderChanged' }),
    'CredentialsValid',
    'False',
    'ProviderChanged',
    'Connected',
  ],
  [
    'no heartbeat yet',
    withAccount({ bindings: [view()] }),
    'Heartbeating',
    'Unknown',
    'NotUsedYet',
    'Connected',
  ],
  [
    'a heartbeat',
    withAccount({ bindings: [view({ report: report({ heartbeat: yes('Beating') }) })] }),
    'Heartbeating',
    'True',
    'Beating',
    'Connected',
  ],
  [
    'a failing heartbeat',
    withAccount({ bindings: [view({ report: report({ heartbeat: no('HeartbeatFailed') }) })] }),
    'Heartbeating',
    'False',
    'HeartbeatFailed',
    'Connected',
  ],
  [
    'a konnector still running',
    withConnected({ status: 'False', reason: 'ForeignKonnector' }),
    'Heartbeating',
    'False',
    'ForeignKonnector',
    'Connected',
  ],
  [
    'refused credentials, in short',
    withConnected({ status: 'False', reason: 'Unauthorized' }),
    'Ready',
    'False',
    'NotReady',
    'Connected',
  ],
  [
    'a deletion with bindings left',
    withAccount({ deleting: true, bindings: [view()] }),
    'Ready',
    'False',
    'BindingsRemain',
    'Deleting',
  ],
  [
    'a deletion with leftovers',
    withAccount({ deleting: true, leftovers: 1 }),
    'Ready',
    'False',
    'Deleting',
    'Deleting',
  ],
];

describe('conditions of a connection', () => {
  it.each(TABLE)('with %s', (_title, ...row) => {
    const [change, type, status, reason, phase] = row;
    const plan = decideConnection(connectionObservation(change));
    const state = plan.status?.conditions.find(([each]) => each === type)?.[1];
    expect(state).toMatchObject({ status, reason });
    expect(plan.status?.phase).toBe(phase);
    if (status === 'False') expect(state?.message).not.toBe('');
  });

  it('uses every reason of the closed list and no other', () => {
    const given = new Set(
      TABLE.flatMap(([, change]) =>
        (decideConnection(connectionObservation(change)).status?.conditions ?? []).map(
          ([type, { reason }]) => `${type}/${reason}`,
        ),
      ),
    );
    const closed = Object.entries(CONNECTION_REASONS).flatMap(([type, reasons]) =>
      reasons.map((reason) => `${type}/${reason}`),
    );
    expect([...given].sort()).toEqual(closed.sort());
  });
});

describe('steps of a connection', () => {
  const steps = (change: Partial<ConnectionObservation>) =>
    decideConnection(connectionObservation(change)).steps.map(({ name }) => name);

  it.each<[string, Partial<ConnectionObservation>, string[]]>([
    ['puts its finalizer on before anything else', { hasFinalizer: false }, ['connection.finalizer.add']],
    ['begins nothing in a dying workspace', { hasFinalizer: false, workspaceDying: true }, []],
    ['starts a login when the backend answers', {}, ['connection.login.start']],
    ['starts none while the backend does not answer', failed('Unreachable'), []],
    ['starts none without login pages', { handshakeServed: false }, []],
    ['leaves a published login alone', withLogin({}), []],
    [
      'replaces a login whose URL was lost before it was published',
      withLogin({}, { loginPublished: false }),
      ['connection.login.start'],
    ],
    [
      'leaves a login alone that a browser is at',
      withLogin({ stage: 'redirected' }, { loginPublished: false }),
      [],
    ],
    ['renews no expired login', withLogin({ expiresAt: new Date(NOW - 1).toISOString() }), []],
    ['renews no ended login', withLogin({ stage: 'ended' }), []],
    [
      'starts another one when the page asked for it',
      withLogin({ stage: 'ended', restartRequestedAt: '2026-06-01T11:59:00Z' }),
      ['connection.login.start'],
    ],
    [
      'starts another one when spec.login has changed',
      withLogin(
        { stage: 'ended', challenge: 'x' },
        { spec: { backend: { url: 'https://b' }, login: { challenge: 'y' } } },
      ),
      ['connection.login.start'],
    ],
    [
      'starts another one for a new challenge although there is an account',
      withAccount({ spec: { backend: { url: 'https://b' }, login: { challenge: 'y' } } }),
      ['connection.login.start'],
    ],
    ['wants no login with an account', withAccount(), []],
    ['copies a usable kubeconfig', bySecret(usable), ['connection.account.store']],
    [
      'does not copy the same kubeconfig again',
      {
        ...bySecret(usable),
        state: { connection: REF, account: { ...ACCOUNT, source: 'secret', sourceHash: 'h1' } },
      },
      [],
    ],
    ['remembers the contract namespace', withAccount({ bindings: [view()] }), ['connection.account.update']],
    [
      'takes a finalizer off that nobody needs',
      withAccount({ deleting: true }),
      ['connection.state.remove', 'connection.finalizer.remove'],
    ],
    ['waits for its bindings', { deleting: true, bindings: [view({ report: undefined })] }, []],
    ['does nothing once its finalizer is off', { deleting: true, hasFinalizer: false }, []],
  ])('%s', (_title, change, expected) => {
    expect(steps(change)).toEqual(expected);
  });

  it('keeps the contract namespace over a new kubeconfig while bindings have copies in it, and only then', () => {
    const account = { ...ACCOUNT, source: 'secret', sourceHash: 'old', contractNamespaceUid: 'u' } as const;
    const uidAfter = (bindings: readonly BindingView[]) => {
      const change = { ...bySecret(usable), state: { connection: REF, account }, bindings };
      const [step] = decideConnection(connectionObservation(change)).steps;
      return step?.name === 'connection.account.store' ? step.account.contractNamespaceUid : 'no step';
    };
    expect(uidAfter([view()])).toBe('u');
    expect(uidAfter([])).toBeUndefined();
  });

  it('stores credentials that the provider rotated, unless the user keeps them in a Secret', () => {
    const rotated = { ...ACCOUNT.credentials, auth: { kind: 'token', token: 'new' } } as const;
    const bindings = [view({ report: report({ rotatedCredentials: rotated }) })];
    const stored = (source: 'handshake' | 'secret') => {
      const account = { ...ACCOUNT, source, contractNamespaceUid: 'contract-uid' };
      const [step] = decideConnection(
        connectionObservation({ state: { connection: REF, account }, bindings }),
      ).steps;
      return step?.name === 'connection.account.update' ? step.account.credentials : undefined;
    };
    expect(stored('handshake')).toEqual(rotated);
    expect(stored('secret')).toBeUndefined();
  });

  it('learns nothing from a worker that found another provider', () => {
    const bindings = [view({ report: report({ conditions: { Connected: no('ProviderChanged') } }) })];
    expect(steps(withAccount({ bindings, claims: EVERYTHING }))).toEqual([]);
  });
});
