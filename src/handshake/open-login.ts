import { ApiError } from '../kube/errors.js';
import { isNamedBy } from '../state/login/login-steps.js';
import type { Refusal, Step } from '../state/login/login-steps.js';
import { parseLoginTarget } from '../state/login/login-url.js';
import type { LoginTarget } from '../state/login/login-url.js';
import type { ConnectionStates } from '../state/connection-states.js';
import type { ConnectionState, Login, Versioned } from '../state/records.js';
import type { VirtualWorkspace, WorkspaceClient } from '../vw-client/virtual-workspace.js';
import { readConnection } from './live-connection.js';
import type { LiveConnection } from './live-connection.js';
import { PageProblem } from './problems.js';

/** A login that a URL names, with everything that was read for it just now. */
export interface OpenLogin {
  readonly target: LoginTarget;
  readonly state: Versioned<ConnectionState>;
  readonly login: Login;
  readonly connection: LiveConnection;
  readonly workspace: WorkspaceClient;
}

export interface LoginReader {
  readonly states: ConnectionStates;
  readonly workspaces: VirtualWorkspace;
}

/** Writes that lose against others are tried again this often. */
const ATTEMPTS = 5;

/**
 * Finds the login of a URL's last segment.
 *
 * @throws PageProblem `unknown-login` where there is none, or what is wrong with its connection
 */
export async function openLogin(reader: LoginReader, segment: string): Promise<OpenLogin> {
  const target = parseLoginTarget(segment);
  if (target === undefined) throw new PageProblem('unknown-login');
  const { state, login } = await readLogin(reader.states, target);
  const workspace = reader.workspaces.workspace(state.value.connection.cluster);
  const connection = await readConnection(workspace, state.value.connection);
  const open = { target, state, login, connection, workspace };
  if (isSuperseded(open)) throw new PageProblem('superseded');
  return open;
}

/** Stored login of a target, live. */
async function readLogin(
  states: ConnectionStates,
  target: LoginTarget,
): Promise<{ readonly state: Versioned<ConnectionState>; readonly login: Login }> {
  const state = await readState(states, target.stateName);
  const login = state?.value.login;
  // One answer for "no such state", "no login" and "another id": nothing can be found out by guessing.
  if (state === undefined || login === undefined || !isNamedBy(login, target.id)) {
    throw new PageProblem('unknown-login');
  }
  return { state, login };
}

/**
 * Takes a step and stores what comes of it, against the newest state. Steps are pure, so one that was overtaken is
 * simply taken again.
 *
 * @param step also says what becomes of the account, when it is not to stay
 * @throws PageProblem `overtaken`, `connection-gone`
 */
export async function takeStep(
  states: ConnectionStates,
  from: Pick<OpenLogin, 'target' | 'state' | 'login'>,
  step: (login: Login, state: ConnectionState) => Step & { readonly account?: ConnectionState['account'] },
): Promise<{ readonly step: Step; readonly state: Versioned<ConnectionState>; readonly login: Login }> {
  let current = { state: from.state, login: from.login };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const taken = step(current.login, current.state.value);
    if (taken.login === undefined || taken.login === current.login) return { step: taken, ...current };
    const account = taken.account ?? current.state.value.account;
    const value: ConnectionState = {
      ...current.state.value,
      login: taken.login,
      ...(account === undefined ? {} : { account }),
    };
    const state = await write(states, { ...current.state, value });
    if (state !== undefined) return { step: taken, state, login: taken.login };
    current = await readLogin(states, from.target);
  }
  throw new PageProblem('overtaken');
}

/** Undefined where somebody else was faster. */
async function write(
  states: ConnectionStates,
  state: Versioned<ConnectionState>,
): Promise<Versioned<ConnectionState> | undefined> {
  try {
    return await states.write(state);
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) return undefined;
    // Stored state goes with its connection and must not be brought back.
    if (error instanceof ApiError && error.status === 404) {
      throw new PageProblem('connection-gone', { cause: error });
    }
    throw unavailable(error);
  }
}

export async function readState(
  states: ConnectionStates,
  stateName: string,
): Promise<Versioned<ConnectionState> | undefined> {
  try {
    return await states.readByName(stateName);
  } catch (error) {
    throw unavailable(error);
  }
}

/** A state that cannot be used stays an unknown error, for the log; a server that fails is nothing to explain. */
function unavailable(error: unknown): unknown {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('KUBE_')
    ? new PageProblem('kcp-unavailable', { cause: error })
    : error;
}

/** The connection asks for a login with another challenge, and that one will replace this. */
function isSuperseded({ state, login, connection }: OpenLogin): boolean {
  if (login.stage === 'finished' || login.challenge === connection.challenge) return false;
  return connection.challenge !== undefined || state.value.account === undefined;
}

/** The problem page for a refused step. */
export function refusalProblem(refusal: Refusal): PageProblem {
  switch (refusal) {
    case 'expired':
    case 'ended':
      return new PageProblem(refusal);
    case 'finished':
    case 'wrong-stage':
      return new PageProblem('overtaken');
    case 'wrong-secret':
      return new PageProblem('wrong-browser');
  }
}
