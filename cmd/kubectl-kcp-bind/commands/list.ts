import type { CommandContext } from '../command-context.js';
import { EXIT_CODES } from '../exit-codes.js';
import { listBindings, listConnections } from '../objects.js';
import { bindingTable, connectionTable } from '../rows.js';
import { asObject } from '../typed-objects.js';

/** `kubectl kcp bind list`: the workspace's connections and bindings. */
export async function list(context: CommandContext): Promise<number> {
  const { client, address } = await context.session();
  const [connections, bindings] = await Promise.all([
    listConnections(client, context.signal),
    listBindings(client, context.signal),
  ]);
  const { report } = context;
  if (await report.objects([...(connections ?? []), ...(bindings ?? [])].map(asObject))) return EXIT_CODES.ok;
  if (connections === undefined || bindings === undefined) {
    report.result(
      `Workspace ${address.workspace} is not bound to the kube-bind client yet: kubectl kcp bind https://…`,
    );
    return EXIT_CODES.ok;
  }
  if (connections.length === 0 && bindings.length === 0) {
    report.result(`Nothing is bound in workspace ${address.workspace}: kubectl kcp bind https://…`);
    return EXIT_CODES.ok;
  }
  const now = context.effects.clock.now();
  const wide = report.format === 'wide';
  const tables = [
    ...(connections.length === 0 ? [] : [connectionTable(connections, now, wide)]),
    ...(bindings.length === 0 ? [] : [bindingTable(bindings, now, wide)]),
  ];
  report.result(tables.join('\n'));
  return EXIT_CODES.ok;
}
