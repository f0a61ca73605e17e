import { startLogin } from '../bind/connection.js';
import { completeLogin } from '../bind/login.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { EXIT_CODES } from '../exit-codes.js';
import { switchFlag, timeoutFlag } from '../flag-values.js';
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
  if (connection.spec.backend === undefined) {
    throw new PluginError({
      code: 'USAGE',
      message: `KubeBindConnection ${name} uses a kubeconfig; there is nothing to log in to`,
      remedy: 'change the Secret that its spec.kubeconfigSecretRef names',
    });
  }
  const open = await startLogin(context, session, name);
  const connected = await completeLogin(
    context,
    session,
    // What the phase was before tells how the end of this login is seen.
    { connection: { ...open.connection, ...statusOf(connection) }, login: open.login },
    { browser: switchFlag(flags, 'browser', true) },
  );
  if (!(await context.report.objects([asObject(connected)]))) {
    context.report.result(`Logged in. See the offers with: kubectl kcp bind templates ${name}`);
  }
  return EXIT_CODES.ok;
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
