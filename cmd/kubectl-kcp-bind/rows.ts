import type { Binding, Connection } from './typed-objects.js';
import { claimName } from './bind/client-claims.js';
import { explainBinding, explainConnection, type Standing } from './bind/explain.js';
import { formatAge } from './output/durations.js';
import { renderTable } from './output/table.js';

/** The connections of a workspace as a table; `wide` adds URL and cause. */
export function connectionTable(connections: readonly Connection[], now: number, wide: boolean): string {
  const headers = [
    'CONNECTION',
    'PHASE',
    'PROVIDER',
    'OFFERS',
    'READY',
    'AGE',
    ...(wide ? ['URL', 'WHY'] : []),
  ];
  return renderTable(
    headers,
    connections.map((connection) => {
      const standing = explainConnection(connection);
      return [
        connection.metadata.name,
        connection.status?.phase ?? 'Pending',
        connection.status?.provider?.prettyName ?? '',
        String(connection.status?.offers?.length ?? 0),
        readyText(standing),
        formatAge(connection.metadata.creationTimestamp, now),
        ...(wide ? [connection.spec.backend?.url ?? 'kubeconfig', whyText(standing)] : []),
      ];
    }),
  );
}

/** The bindings of a workspace as a table; `wide` adds template, APIBinding and cause. */
export function bindingTable(bindings: readonly Binding[], now: number, wide: boolean): string {
  const headers = [
    'BINDING',
    'CONNECTION',
    'APIS',
    'OBJECTS',
    'FAILING',
    'READY',
    'AGE',
    ...(wide ? ['TEMPLATE', 'APIBINDING', 'WHY'] : []),
  ];
  return renderTable(
    headers,
    bindings.map((binding) => {
      const standing = explainBinding(binding);
      const apis = binding.status?.apis ?? [];
      return [
        binding.metadata.name,
        binding.spec.connection,
        apis.map(claimName).join(','),
        String(binding.status?.sync?.objects ?? 0),
        String(binding.status?.sync?.failing ?? 0),
        readyText(standing),
        formatAge(binding.metadata.creationTimestamp, now),
        ...(wide ? [binding.spec.template ?? '', binding.status?.apiBinding ?? '', whyText(standing)] : []),
      ];
    }),
  );
}

function readyText(standing: Standing): string {
  switch (standing.kind) {
    case 'ready':
      return 'True';
    case 'deleting':
      return 'Deleting';
    case 'stuck':
    case 'waiting':
      return 'False';
  }
}

function whyText(standing: Standing): string {
  return standing.kind === 'ready' ? '' : standing.why;
}
