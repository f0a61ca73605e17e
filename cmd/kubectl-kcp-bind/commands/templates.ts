import { isStatus } from '../../../src/kube/errors.js';
import { readAccount } from '../account/account-secret.js';
import { withOffers } from '../account/bind-locally.js';
import { localBackend } from '../account/secret-connection.js';
import { offerClaims, offerResources } from '../bind/offers.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { EXIT_CODES } from '../exit-codes.js';
import { listBindings, listConnections } from '../objects.js';
import { renderTable } from '../output/table.js';
import { asObject, type Connection } from '../typed-objects.js';

/** `kubectl kcp bind templates [CONNECTION]`: what can be bound, and what already is. */
export async function templates(context: CommandContext, operand: unknown): Promise<number> {
  const session = await context.session();
  const { client } = session;
  const all = (await listConnections(client, context.signal)) ?? [];
  const named = typeof operand === 'string' ? all.filter(({ metadata }) => metadata.name === operand) : all;
  const connections = await withStoredOffers(context, session, named);
  if (typeof operand === 'string' && connections.length === 0) {
    throw new PluginError({
      code: 'NOT_FOUND',
      message: `this workspace has no connection ${JSON.stringify(operand)}`,
      remedy: 'see `kubectl kcp bind list`',
    });
  }
  // The offers are part of the connections.
  if (await context.report.objects(connections.map(asObject))) return EXIT_CODES.ok;
  const bindings = (await listBindings(client, context.signal)) ?? [];
  const wide = context.report.format === 'wide';
  const rows = connections.flatMap((connection) =>
    (connection.status?.offers ?? []).map((offer) => {
      const bound = bindings.filter(
        ({ spec }) => spec.connection === connection.metadata.name && spec.template === offer.template,
      );
      return [
        connection.metadata.name,
        offer.template,
        offer.title ?? '',
        offerResources(offer),
        offerClaims(offer),
        bound.map(({ metadata }) => metadata.name).join(','),
        ...(wide ? [offer.scope ?? '', offer.description ?? ''] : []),
      ];
    }),
  );
  if (rows.length === 0) {
    context.report.result('No connection has offers; they are read at the login');
    return EXIT_CODES.ok;
  }
  const headers = ['CONNECTION', 'TEMPLATE', 'TITLE', 'RESOURCES', 'ASKS FOR', 'BOUND AS'];
  context.report.result(renderTable([...headers, ...(wide ? ['SCOPE', 'DESCRIPTION'] : [])], rows));
  return EXIT_CODES.ok;
}

/** The offers of a handshake that this plugin made are in its Secret; who may not read it sees none. */
async function withStoredOffers(
  context: CommandContext,
  session: Session,
  connections: readonly Connection[],
): Promise<readonly Connection[]> {
  return Promise.all(
    connections.map(async (connection) => {
      if (localBackend(connection) === undefined) return connection;
      try {
        const account = await readAccount(context, session, connection.metadata.name);
        return account === undefined ? connection : withOffers(connection, account);
      } catch (error) {
        if (isStatus(error, 403)) return connection;
        throw error;
      }
    }),
  );
}
