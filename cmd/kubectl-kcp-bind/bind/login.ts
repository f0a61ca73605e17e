import { CONNECTIONS } from '../../../src/api/group.js';
import { isStatus } from '../../../src/kube/errors.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { confirmLoginHost } from '../login-hosts/confirm-host.js';
import { printable } from '../output/printable.js';
import { pollUntil, type Look } from '../poll.js';
import { asConnection, type Connection } from '../typed-objects.js';
import type { OpenConnection } from './connection.js';
import { explainConnection, isStale } from './explain.js';
import { loginPage } from './login-page.js';
import { presentPage } from './present-page.js';

/** How a login page is opened. */
export interface PageOptions {
  readonly browser: boolean;
  /** `--login-host`: the only host that it may be on. */
  readonly loginHost: string | undefined;
}

/**
 * Waits for the login page, opens (or prints) it, and waits until the connection is Connected.
 *
 * @throws PluginError LOGIN, PROVIDER, NOT_FOUND (the connection was deleted meanwhile)
 */
export async function completeLogin(
  context: CommandContext,
  session: Session,
  open: OpenConnection,
  options: PageOptions,
): Promise<Connection> {
  const shown = await showLoginPage(context, session, open, options);
  if (shown.kind === 'connected') return shown.connection;
  return waitConnected(context, session, open.connection);
}

type Shown =
  | { readonly kind: 'page' }
  /** It needed no login after all. */
  | { readonly kind: 'connected'; readonly connection: Connection };

/** Waits until the controller has published the login page of this login, and opens or prints it. */
export async function showLoginPage(
  context: CommandContext,
  session: Session,
  open: OpenConnection,
  options: PageOptions,
): Promise<Shown> {
  const { name } = open.connection.metadata;
  const { progress } = context.report;
  context.remains(`KubeBindConnection ${name} exists and waits for its login`);
  const phase = progress.phase('Waiting for the login page');
  const before = open.connection.status?.authentication?.url;
  const found = await pollUntil({
    look: async (): Promise<Look<{ url: string } | { connection: Connection }>> => {
      const connection = await readConnection(context, session, name);
      const settled = settledLook(connection, open.connection);
      if (settled !== undefined) return { done: true, value: { connection: settled } };
      const url = connection.status?.authentication?.url;
      const fresh = isStale(connection)
        ? false
        : connection.status?.observedGeneration !== undefined || url !== before;
      if (url !== undefined && fresh) return { done: true, value: { url } };
      return { done: false, detail: waitingText(connection) };
    },
    phase,
    clock: context.effects.clock,
    signal: context.signal,
  });
  if ('connection' in found) {
    phase.done(`Connected to ${printable(found.connection.status?.provider?.prettyName ?? name)}`);
    return { kind: 'connected', connection: found.connection };
  }
  const page = loginPage(found.url, open.login?.verifier);
  await confirmLoginHost(context, session, { url: page.url, expected: options.loginHost });
  phase.done(`The login page is on ${page.host}`);
  await presentPage(context, page, options.browser);
  return { kind: 'page' };
}

/** Waits until a connection is Connected, or has failed for good. */
export async function waitConnected(
  context: CommandContext,
  session: Session,
  opened: Connection,
): Promise<Connection> {
  const { name } = opened.metadata;
  const login = opened.spec.backend !== undefined;
  const phase = context.report.progress.phase(
    login ? 'Waiting until you have logged in' : `Waiting until KubeBindConnection ${name} is Connected`,
  );
  const connection = await pollUntil({
    look: async (): Promise<Look<Connection>> => {
      const current = await readConnection(context, session, name);
      const settled = settledLook(current, opened);
      if (settled !== undefined) return { done: true, value: settled };
      return { done: false, detail: waitingText(current) };
    },
    phase,
    clock: context.effects.clock,
    signal: context.signal,
  });
  phase.done(`Connected to ${printable(connection.status?.provider?.prettyName ?? name)}`);
  return connection;
}

/**
 * The connection when its newest login has succeeded.
 *
 * @throws PluginError when it has failed for good
 */
function settledLook(connection: Connection, before: Connection): Connection | undefined {
  if (isStale(connection)) return undefined;
  const { authentication, phase } = connection.status ?? {};
  // A connection that was Connected before stays so during a new login; that one's page tells.
  const renewing = before.status?.phase === 'Connected' && authentication?.url !== undefined;
  if (phase === 'Connected' && !renewing) return connection;
  const standing = explainConnection(connection);
  if (standing.kind !== 'stuck') return undefined;
  const unreachable = connection.status?.conditions?.some(
    (condition) => condition.type === 'BackendReachable' && condition.status === 'False',
  );
  throw new PluginError({
    code: unreachable === true ? 'PROVIDER' : failureOf(standing.reason),
    message: `the connection ${connection.metadata.name} failed: ${standing.why}`,
    remedy: unreachable === true ? anotherUrl(connection) : anotherLogin(standing.reason),
  });
}

function anotherUrl({ metadata }: Connection): string {
  return `correct what the message names; a wrong URL needs another connection (kubectl delete kubebindconnection ${metadata.name})`;
}

/** Without login pages another handshake may do. */
function failureOf(reason: string): 'LOGIN' | 'NO_LOGIN_PAGES' {
  return reason === 'HandshakeUnavailable' ? 'NO_LOGIN_PAGES' : 'LOGIN';
}

/** A login that could not even begin needs more than another try. */
function anotherLogin(reason: string): string {
  return reason === 'HandshakeUnavailable'
    ? 'do what the message says and run the same command again, or with --handshake=local, which needs no login pages'
    : 'run the same command again for a new login';
}

function waitingText(connection: Connection): string {
  if (isStale(connection)) return 'the controller has not seen it yet';
  if (connection.status?.phase === undefined) return 'the controller has not answered yet; is it running?';
  const standing = explainConnection(connection);
  return 'why' in standing ? standing.why : '';
}

async function readConnection(context: CommandContext, session: Session, name: string): Promise<Connection> {
  try {
    return asConnection(await session.client.get(CONNECTIONS, { name }, { signal: context.signal }));
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
    throw new PluginError({
      code: 'NOT_FOUND',
      message: `KubeBindConnection ${name} was deleted meanwhile`,
      remedy: 'run the command again to make another',
      cause: error,
    });
  }
}
