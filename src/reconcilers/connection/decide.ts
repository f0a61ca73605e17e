import type { ConditionState, ConnectionConditionType } from '../../api/conditions.js';
import type { Account } from '../../state/records.js';
import { no, timestamp, unknown, yes } from '../conditions.js';
import type { ConnectionStatus } from '../views.js';
import { authenticatedCondition } from './authenticated.js';
import { loginView, wantsLogin, whyNoHandshake } from './login-plan.js';
import type { ConnectionObservation } from './observation.js';
import { credentialsCondition, heartbeatCondition } from './report-conditions.js';

/** A named effect of `steps.ts` with what it needs. */
export type ConnectionStep =
  | { readonly name: 'connection.finalizer.add' }
  | { readonly name: 'connection.login.start'; readonly challenge: string | undefined }
  | { readonly name: 'connection.account.store' | 'connection.account.update'; readonly account: Account }
  | { readonly name: 'connection.state.remove' }
  | { readonly name: 'connection.finalizer.remove' };

export type ConnectionConditions = readonly (readonly [ConnectionConditionType, ConditionState])[];

export interface ConnectionPlan {
  /** Done in this order; the next run decides anew from what is there then. */
  readonly steps: readonly ConnectionStep[];
  /** Absent: nothing is said in status (our finalizer is not there yet, or comes off). */
  readonly status?: {
    readonly phase: NonNullable<ConnectionStatus['phase']>;
    readonly conditions: ConnectionConditions;
  };
  /** Milliseconds since the epoch at which time alone changes the decision. */
  readonly wakeAt?: number;
}

const LEFTOVER_POLL_MS = 5_000;

/** What is to be done next for a connection, and what its status says meanwhile. */
export function decideConnection(observed: ConnectionObservation): ConnectionPlan {
  if (observed.deleting) return decideDeletion(observed);
  if (!observed.hasFinalizer) {
    return observed.workspaceDying ? { steps: [] } : { steps: [{ name: 'connection.finalizer.add' }] };
  }
  const conditions = stateConditions(observed);
  const login = loginView(observed.state.login, observed.now);
  return {
    steps: [...loginSteps(observed), ...accountSteps(observed)],
    status: { phase: phaseOf(observed, conditions), conditions },
    ...(login.kind === 'live' ? { wakeAt: login.expiresAt } : {}),
  };
}

function loginSteps(observed: ConnectionObservation): ConnectionStep[] {
  if (observed.spec.backend === undefined || observed.workspaceDying) return [];
  if (observed.provider.kind !== 'reachable' || whyNoHandshake(observed) !== undefined) return [];
  if (!wantsLogin(observed)) return [];
  return [{ name: 'connection.login.start', challenge: observed.spec.login?.challenge }];
}

/** The account that should be stored: a changed Secret first, else what the workers have learnt. */
function accountSteps(observed: ConnectionObservation): ConnectionStep[] {
  const { account } = observed.state;
  const { secret } = observed;
  if (secret?.kind === 'usable' && account?.sourceHash !== secret.sourceHash) {
    // A new kubeconfig must lead to the same contract namespace while bindings have copies in it.
    const uid = observed.bindings.length + observed.leftovers > 0 ? account?.contractNamespaceUid : undefined;
    const stored: Account = {
      source: 'secret',
      credentials: secret.credentials,
      contractNamespace: secret.contractNamespace,
      ...(uid === undefined ? {} : { contractNamespaceUid: uid }),
      offers: [],
      obtainedAt: timestamp(observed.now),
      sourceHash: secret.sourceHash,
    };
    return [{ name: 'connection.account.store', account: stored }];
  }
  if (account === undefined) return [];
  const learnt = withLearnt(account, observed);
  return learnt === account ? [] : [{ name: 'connection.account.update', account: learnt }];
}

/** Only a worker that found the provider to be the expected one is listened to. */
function withLearnt(account: Account, observed: ConnectionObservation): Account {
  let result = account;
  for (const { report } of observed.bindings) {
    if (report?.conditions.Connected?.status !== 'True') continue;
    const uid = report.contractNamespaceUid;
    if (result.contractNamespaceUid === undefined && uid !== undefined) {
      result = { ...result, contractNamespaceUid: uid };
    }
    const rotated = report.rotatedCredentials;
    // A Secret that the user keeps is the user's to change.
    if (rotated !== undefined && account.source === 'handshake' && !sameJson(rotated, account.credentials)) {
      result = { ...result, credentials: rotated };
    }
  }
  return result;
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function stateConditions(observed: ConnectionObservation): ConnectionConditions {
  const authenticated = authenticatedCondition(observed);
  const credentials = credentialsCondition(observed.bindings);
  const heartbeat = heartbeatCondition(observed.bindings);
  const rest: ConnectionConditions = [
    ['Authenticated', authenticated],
    ['CredentialsValid', credentials],
    ['Heartbeating', heartbeat],
    ['Ready', readyCondition(authenticated, credentials, heartbeat)],
  ];
  return observed.spec.backend === undefined
    ? rest
    : [['BackendReachable', backendCondition(observed)], ...rest];
}

function backendCondition({ provider }: ConnectionObservation): ConditionState {
  switch (provider.kind) {
    case 'pending':
      return unknown('Unreachable', 'The backend is being asked.');
    case 'failed':
      return no(provider.reason, provider.message);
    case 'reachable':
      return yes('Reachable');
  }
}

/** Ready follows Authenticated; what bindings have found out since can only take it away. */
function readyCondition(...parts: readonly ConditionState[]): ConditionState {
  const [authenticated, ...others] = parts;
  const bad =
    authenticated?.status === 'True' ? others.find(({ status }) => status === 'False') : authenticated;
  return bad === undefined ? yes('Ready') : no('NotReady', bad.message);
}

function phaseOf(
  observed: ConnectionObservation,
  conditions: ConnectionConditions,
): NonNullable<ConnectionStatus['phase']> {
  if (observed.state.account !== undefined) return 'Connected';
  const login = loginView(observed.state.login, observed.now);
  if (login.kind === 'live') return 'AwaitingLogin';
  const retried: readonly string[] = ['Unreachable', 'TLSFailed'];
  const failed = conditions.some(
    ([type, { status, reason }]) =>
      status === 'False' && type !== 'Ready' && !(type === 'BackendReachable' && retried.includes(reason)),
  );
  return failed ? 'Failed' : 'Pending';
}

/** Nothing goes while a binding still needs the account to clean up with. */
function decideDeletion(observed: ConnectionObservation): ConnectionPlan {
  if (!observed.hasFinalizer) return { steps: [] };
  const remaining = observed.bindings.map(({ name }) => name);
  if (remaining.length + observed.leftovers > 0) {
    const ready =
      remaining.length > 0
        ? no(
            'BindingsRemain',
            `Bindings still use this connection: ${nameList(remaining)}. Delete them first; the connection goes after the last one.`,
          )
        : no('Deleting', 'What was made for deleted bindings is still being cleaned up; wait for that.');
    const conditions = stateConditions(observed).filter(([type]) => type !== 'Ready');
    return {
      // Nothing tells when the last of it is gone.
      wakeAt: observed.now + LEFTOVER_POLL_MS,
      steps: observed.bindings.length > 0 ? accountSteps(observed) : [],
      status: { phase: 'Deleting', conditions: [...conditions, ['Ready', ready]] },
    };
  }
  return { steps: [{ name: 'connection.state.remove' }, { name: 'connection.finalizer.remove' }] };
}

function nameList(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(', ');
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}
