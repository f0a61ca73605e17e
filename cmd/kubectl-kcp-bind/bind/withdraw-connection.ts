import { CONNECTIONS } from '../../../src/api/group.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { listBindings } from '../objects.js';
import { asConnection, asObject, type Connection } from '../typed-objects.js';
import { startRemoval, waitGone } from '../unbind/remove.js';
import { explainConnection } from './explain.js';

/**
 * Takes a connection away that has never had an account, so that another kind of connection can have its name:
 * `spec.backend` cannot be changed.
 *
 * @throws PluginError CONFLICT where bindings use it
 */
export async function withdrawConnection(
  context: CommandContext,
  session: Session,
  connection: Connection,
): Promise<void> {
  const { name } = connection.metadata;
  const bindings = (await listBindings(session.client, context.signal)) ?? [];
  const users = bindings.filter(({ spec }) => spec.connection === name).map(({ metadata }) => metadata.name);
  if (users.length > 0) {
    throw new PluginError({
      code: 'CONFLICT',
      message: `KubeBindConnection ${name} waits for a login page of the controller, and bindings use it already: ${users.join(', ')}`,
      remedy: `remove them first (kubectl kcp bind unbind ${users.join(' ')} --with-connection), or use another name with --connection and --handshake=local`,
    });
  }
  const removal = { gvr: CONNECTIONS, object: asObject(connection), orphan: false, force: false };
  await startRemoval(context, session, removal);
  await waitGone(context, session, removal, (object) => {
    const standing = explainConnection(asConnection(object));
    return 'why' in standing ? standing.why : '';
  });
}
