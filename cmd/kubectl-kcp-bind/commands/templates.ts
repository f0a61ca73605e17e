import { offerClaims, offerResources } from '../bind/offers.js';
import type { CommandContext } from '../command-context.js';
import { PluginError } from '../errors.js';
import { EXIT_CODES } from '../exit-codes.js';
import { listBindings, listConnections } from '../objects.js';
import { renderTable } from '../output/table.js';
import { asObject } from '../typed-objects.js';

/** `kubectl kcp bind templates [CONNECTION]`: what can be bound, and what already is. */
export async function templates(context: CommandContext, operand: unknown): Promise<number> {
  const { client } = await context.session();
  const all = (await listConnections(client, context.signal)) ?? [];
  const connections =
    typeof operand === 'string' ? all.filter(({ metadata }) => metadata.name === operand) : all;
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
