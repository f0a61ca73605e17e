import { readAccount } from '../account/account-secret.js';
import { renewAccount } from '../account/bind-locally.js';
import { localBackend } from '../account/secret-connection.js';
import { readCaFile } from '../bind/ca-file.js';
import { startLogin } from '../bind/connection.js';
import { completeLogin } from '../bind/login.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { EXIT_CODES } from '../exit-codes.js';
import { portFlag, switchFlag, textFlag, timeoutFlag } from '../flag-values.js';
import { listConnections } from '../objects.js';
import type { FlagValues } from '../options.js';
import { asObject, type Connection } from '../typed-objects.js';

/** `kubectl kcp bind login [CONNECTION]`: a new login, for instance to see new offers. */
export async function login(context: CommandContext, operand: unknown, flags: FlagValues): Promise<number> {
  const timeoutMs = timeoutFlag(flags);
  const session = await context.session();
  context.limit(timeoutMs);
  const connection = await chooseConnection(context, session, operand);
  const { name } = connection.metadata;
  if (connection.spec.backend === undefined) return loginFromHere(context, session, { connection, flags });
  const open = await startLogin(context, session, name);
  const connected = await completeLogin(
    context,
    session,
    // What the phase was before tells how the end of this login is seen.
    { connection: { ...open.connection, ...statusOf(connection) }, login: open.login },
    { browser: switchFlag(flags, 'browser', true), loginHost: textFlag(flags, 'loginHost') },
  );
  return finish(context, connected);
}

async function finish(context: CommandContext, connected: Connection): Promise<number> {
  if (!(await context.report.objects([asObject(connected)]))) {
    const { name } = connected.metadata;
    context.report.result(`Logged in. See the offers with: kubectl kcp bind templates ${name}`);
  }
  return EXIT_CODES.ok;
}

/** A connection whose account this plugin has obtained: the same handshake again, with the same identity. */
async function loginFromHere(
  context: CommandContext,
  session: Session,
  given: { readonly connection: Connection; readonly flags: FlagValues },
): Promise<number> {
  const { connection, flags } = given;
  const { name } = connection.metadata;
  const backend = localBackend(connection);
  const stored = backend === undefined ? undefined : await readAccount(context, session, name);
  if (backend === undefined || stored?.identity === undefined) {
    throw new PluginError({
      code: 'USAGE',
      message: `KubeBindConnection ${name} uses a kubeconfig that was made elsewhere; there is nothing to log in to`,
      remedy: `ask the provider for a new one, then: kubectl kcp bind --kubeconfig-file FILE --connection ${name}`,
    });
  }
  const caBundle = await readCaFile(context, textFlag(flags, 'caFile'));
  await renewAccount(context, session, {
    name,
    backend: { ...backend, ...(caBundle === undefined ? {} : { caBundle }) },
    stored: { ...stored, identity: stored.identity },
    options: { browser: switchFlag(flags, 'browser', true), callbackPort: portFlag(flags) },
  });
  return finish(context, connection);
}

async function chooseConnection(
  context: CommandContext,
  session: Session,
  operand: unknown,
): Promise<Connection> {
  const connections = (await listConnections(session.client, context.signal)) ?? [];
  const names = connections.map(({ metadata }) => metadata.name);
  const only = connections.length === 1 ? connections[0] : undefined;
  const found =
    typeof operand === 'string' ? connections.find(({ metadata }) => metadata.name === operand) : only;
  if (found !== undefined) return found;
  throw new PluginError({
    code: typeof operand === 'string' || names.length === 0 ? 'NOT_FOUND' : 'USAGE',
    message:
      typeof operand === 'string'
        ? `this workspace has no connection ${JSON.stringify(operand)}`
        : `which connection? There are ${names.length}`,
    remedy:
      names.length === 0 ? 'make one with `kubectl kcp bind https://…`' : `name one of: ${names.join(', ')}`,
  });
}

function statusOf(connection: Connection): Pick<Connection, 'status'> {
  return connection.status === undefined ? {} : { status: connection.status };
}
