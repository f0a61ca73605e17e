import { explainBinding, explainConnection, type Standing } from '../bind/explain.js';
import type { Colors } from '../output/colors.js';
import { printable } from '../output/printable.js';
import { renderTable } from '../output/table.js';
import type { ApiCondition, Binding, Connection } from '../typed-objects.js';
import { followChain, type Chain, type ChainLink } from './chain.js';

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

/** One binding for people: what it is, its chain with the first broken link explained, all conditions. */
export function bindingStatus(binding: Binding, connection: Connection | undefined, colors: Colors): string {
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
    ...chainLines(followChain(binding, connection), colors),
    conditionLines(binding.status?.conditions),
  ].join('\n');
}

const MARKS: Readonly<Record<ChainLink['state'], string>> = {
  ok: '✓',
  waiting: '…',
  broken: '✗',
  later: '·',
};

function chainLines(chain: Chain, colors: Colors): string[] {
  const paint = { ok: colors.good, broken: colors.bad, waiting: colors.dim, later: colors.dim };
  const marked = chain.links.map(({ link, state }) => `${paint[state](MARKS[state])} ${link}`);
  const lines = [`  chain:      ${marked.join(' → ')}`];
  const { first } = chain;
  if (first === undefined) return lines;
  const word = first.link.state === 'broken' ? 'broken at' : 'waits for';
  return [
    ...lines,
    `    ${word} ${first.link.link}: ${first.meaning}`,
    ...(first.link.text === '' ? [] : [`      ${first.link.text}`]),
    `      to do: ${first.todo}`,
  ];
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
