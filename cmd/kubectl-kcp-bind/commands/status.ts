import { explainBinding, explainConnection, type Standing } from '../bind/explain.js';
import type { CommandContext } from '../command-context.js';
import { PluginError } from '../errors.js';
import { EXIT_CODES } from '../exit-codes.js';
import { listBindings, listConnections } from '../objects.js';
import { printable } from '../output/printable.js';
import { renderTable } from '../output/table.js';
import type { ApiCondition, Binding, Connection } from '../typed-objects.js';
import { asObject } from '../typed-objects.js';

/**
 * `kubectl kcp bind status [NAME]`: all conditions of what is bound, and the first one to look at.
 *
 * @returns `notReady` when something that is shown is not Ready
 */
export async function status(context: CommandContext, operand: unknown): Promise<number> {
  const { client } = await context.session();
  const name = typeof operand === 'string' ? operand : undefined;
  const named = (object: { metadata: { name: string } }): boolean =>
    name === undefined || object.metadata.name === name;
  const connections = ((await listConnections(client, context.signal)) ?? []).filter(named);
  const bindings = ((await listBindings(client, context.signal)) ?? []).filter(named);
  if (name !== undefined && connections.length + bindings.length === 0) {
    throw new PluginError({
      code: 'NOT_FOUND',
      message: `this workspace has no connection or binding ${JSON.stringify(name)}`,
      remedy: 'see `kubectl kcp bind list`',
    });
  }
  const standings = [...connections.map(explainConnection), ...bindings.map(explainBinding)];
  if (!(await context.report.objects([...connections, ...bindings].map(asObject)))) {
    const parts = [
      ...connections.map((connection) => connectionStatus(connection)),
      ...bindings.map((binding) => bindingStatus(binding)),
    ];
    context.report.result(parts.length === 0 ? 'Nothing is bound in this workspace' : parts.join('\n'));
  }
  return standings.every((standing) => standing.kind === 'ready') ? EXIT_CODES.ok : EXIT_CODES.notReady;
}

/** One connection for people. */
export function connectionStatus(connection: Connection): string {
  const { authentication, phase, provider } = connection.status ?? {};
  const provided = [provider?.prettyName, provider?.version, provider?.server].filter(
    (part) => part !== undefined,
  );
  return [
    `Connection ${connection.metadata.name}: ${headline(explainConnection(connection))}`,
    `  from:      ${printable(sourceOf(connection))}`,
    `  phase:     ${phase ?? 'Pending'}`,
    ...(provided.length === 0 ? [] : [`  provider:  ${printable(provided.join(', '))}`]),
    ...(authentication?.url === undefined
      ? []
      : [`  login:     kubectl kcp bind login ${connection.metadata.name}`]),
    conditionLines(connection.status?.conditions),
  ].join('\n');
}

function sourceOf({ spec }: Connection): string {
  if (spec.backend !== undefined) return spec.backend.url;
  const secret = spec.kubeconfigSecretRef;
  return secret === undefined ? '' : `Secret ${secret.namespace}/${secret.name}`;
}

/** One binding for people. */
export function bindingStatus(binding: Binding): string {
  const { apis = [], apiBinding, sync } = binding.status ?? {};
  const claims = (binding.spec.permissionClaims ?? []).map((claim) => `${claim.resource} ${claim.state}`);
  return [
    `Binding ${binding.metadata.name}: ${headline(explainBinding(binding))}`,
    `  connection: ${binding.spec.connection}`,
    ...(binding.spec.template === undefined ? [] : [`  template:   ${printable(binding.spec.template)}`]),
    ...apis.map(
      (api) =>
        `  api:        ${printable(`${api.resource}.${api.group}`)} ${printable((api.versions ?? []).join(','))}`,
    ),
    ...(apiBinding === undefined ? [] : [`  apibinding: ${printable(apiBinding)}`]),
    ...(claims.length === 0 ? [] : [`  claims:     ${printable(claims.join(', '))}`]),
    `  objects:    ${sync?.objects ?? 0}, pending ${sync?.pending ?? 0}, failing ${sync?.failing ?? 0}`,
    conditionLines(binding.status?.conditions),
  ].join('\n');
}

function headline(standing: Standing): string {
  switch (standing.kind) {
    case 'ready':
      return 'Ready';
    case 'waiting':
      return `not Ready yet: ${standing.why}`;
    case 'stuck':
      return `needs you: ${standing.why}`;
    case 'deleting':
      return `being deleted: ${standing.why}`;
  }
}

function conditionLines(conditions: readonly ApiCondition[] | undefined): string {
  const rows = (conditions ?? []).map(({ type, status: value, reason, message }) => [
    type,
    value,
    reason,
    message,
  ]);
  if (rows.length === 0) return '  no conditions yet\n';
  return renderTable(['CONDITION', 'STATUS', 'REASON', 'MESSAGE'], rows).replace(/^(?=.)/gm, '  ');
}
