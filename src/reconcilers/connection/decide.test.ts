import { describe, expect, it } from '@jest/globals';
import { CONNECTION_REASONS } from '../../api/conditions.js';
import type { ConnectionConditionType } from '../../api/conditions.js';
import { expectReason, type ProducedReason } from '../../api/testing/expect-reason.js';
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
const TABLE: [string, Partial<ConnectionObservation>, ProducedReason, string, string][] = [
  ['a backend that answers', {}, 'connection/BackendReachable/Reachable', 'True', 'Pending'],
  [
    'a backend that is asked',
    { provider: { kind: 'pending' } },
    'connection/BackendReachable/Unreachable',
    'Unknown',
    'Pending',
  ],
  ['an account', withAccount(), 'connection/Authenticated/LoggedIn', 'True', 'Connected'],
  [
    'an account and a dead backend',
    withAccount(failed('Unreachable')),
    'connection/Ready/Ready',
    'True',
    'Connected',
  ],
  ['a live login', withLogin({}), 'connection/Authenticated/AwaitingLogin', 'False', 'AwaitingLogin'],
  ['no login yet', {}, 'connection/Authenticated/AwaitingLogin', 'Unknown', 'Pending'],
  [
    'no login pages',
    { handshakeServed: false },
    'connection/Authenticated/HandshakeUnavailable',
    'False',
    'Failed',
  ],
  [
    'no claim on logicalclusters',
    { claims: claims('secrets.') },
    'connection/Authenticated/HandshakeUnavailable',
    'False',
    'Failed',
  ],
  [
    'a kubeconfig',
    { ...bySecret(usable), ...withAccount(), spec: SECRET_SPEC },
    'connection/Authenticated/KubeconfigStored',
    'True',
    'Connected',
  ],
  [
    'no claim on secrets',
    bySecret({ kind: 'claim-missing' }),
    'connection/Authenticated/SecretsClaimMissing',
    'False',
    'Failed',
  ],
  [
    'no Secret',
    bySecret({ kind: 'not-found' }),
    'connection/Authenticated/SecretNotFound',
    'False',
    'Failed',
  ],
  [
    'a Secret without label',
    bySecret({ kind: 'not-labelled' }),
    'connection/Authenticated/SecretNotLabelled',
    'False',
    'Failed',
  ],
  [
    'a bad kubeconfig',
    bySecret({ kind: 'invalid', message: 'users[0].user.exec' }),
    'connection/Authenticated/KubeconfigInvalid',
    'False',
    'Failed',
  ],
  [
    'a Secret that vanished after its copy was stored',
    { ...bySecret({ kind: 'not-found' }), ...withAccount(), spec: SECRET_SPEC },
    'connection/Authenticated/KubeconfigStored',
    'True',
    'Connected',
  ],
  ['no binding', withAccount(), 'connection/CredentialsValid/NotUsedYet', 'Unknown', 'Connected'],
  [
    'a binding without report',
    withAccount({ bindings: [view({ report: undefined })] }),
    'connection/CredentialsValid/NotUsedYet',
    'Unknown',
    'Connected',
  ],
  [
    'a good binding',
    withAccount({ bindings: [view()] }),
    'connection/CredentialsValid/Accepted',
    'True',
    'Connected',
  ],
  [
    'refused credentials',
    withConnected({ status: 'False', reason: 'Unauthorized' }),
    'connection/CredentialsValid/Unauthorized',
    'False',
    'Connected',
  ],
  [
    'an unreachable provider',
    withConnected({ status: 'False', reason: 'ProviderUnreachable' }),
    'connection/CredentialsValid/ProviderUnreachable',
    'Unknown',
    'Connected',
  ],
  [
    'another contract namespace',
    withConnected({ status: 'False', reason: 'ProviderChanged' }),
    'connection/CredentialsValid/ProviderChanged',
    'False',
    'Connected',
  ],
  [
    'no heartbeat yet',
    withAccount({ bindings: [view()] }),
    'connection/Heartbeating/NotUsedYet',
    'Unknown',
    'Connected',
  ],
  [
    'a heartbeat',
    withAccount({ bindings: [view({ report: report({ heartbeat: yes('Beating') }) })] }),
    'connection/Heartbeating/Beating',
    'True',
    'Connected',
  ],
  [
    'a failing heartbeat',
    withAccount({ bindings: [view({ report: report({ heartbeat: no('HeartbeatFailed') }) })] }),
    'connection/Heartbeating/HeartbeatFailed',
    'False',
    'Connected',
  ],
  [
    'a konnector still running',
    withConnected({ status: 'False', reason: 'ForeignKonnector' }),
    'connection/Heartbeating/ForeignKonnector',
    'False',
    'Connected',
  ],
  [
    'refused credentials, in short',
    withConnected({ status: 'False', reason: 'Unauthorized' }),
    'connection/Ready/NotReady',
    'False',
    'Connected',
  ],
  [
    'a deletion with bindings left',
    withAccount({ deleting: true, bindings: [view()] }),
    'connection/Ready/BindingsRemain',
    'False',
    'Deleting',
  ],
  [
    'a deletion with leftovers',
    withAccount({ deleting: true, leftovers: 1 }),
    'connection/Ready/Deleting',
    'False',
    'Deleting',
  ],
];

/** Reasons that others decide: the probe of the backend, and the login. */
const PASSED_ON: [string, Partial<ConnectionObservation>, ConnectionConditionType, string, string, string][] =
  [
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
  ];

describe('conditions of a connection', () => {
  const decided = (change: Partial<ConnectionObservation>, type: string | undefined) => {
    const { status } = decideConnection(connectionObservation(change));
    return { phase: status?.phase, state: status?.conditions.find(([each]) => each === type)?.[1] };
  };

  it.each(TABLE)('with %s', (_title, ...[change, produced, status, phase]) => {
    const decision = decided(change, produced.split('/')[1]);
    expectReason(produced, decision.state);
    expect(decision).toMatchObject({ phase, state: { status } });
    if (status === 'False') expect(decision.state?.message).not.toBe('');
  });

  it.each(PASSED_ON)('with %s', (_title, ...[change, type, status, reason, phase]) => {
    expect(decided(change, type)).toMatchObject({ phase, state: { status, reason } });
  });

  it('have no reason that is not in the closed list', () => {
    const closed: Readonly<Record<string, readonly string[]>> = CONNECTION_REASONS;
    const given = [...TABLE, ...PASSED_ON].flatMap(
      ([, change]) => decideConnection(connectionObservation(change)).status?.conditions ?? [],
    );
    expect(given.filter(([type, { reason }]) => closed[type]?.includes(reason) !== true)).toEqual([]);
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
