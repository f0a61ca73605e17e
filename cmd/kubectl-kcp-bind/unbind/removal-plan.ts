import { claimName } from '../bind/client-claims.js';
import { printable } from '../output/printable.js';
import type { Binding, Connection } from '../typed-objects.js';

/** How things are removed. */
export interface RemovalOptions {
  readonly orphan: boolean;
  readonly force: boolean;
  /** Also connections that no binding uses afterwards. */
  readonly connections: boolean;
}

/** What is removed, bindings first. */
export interface RemovalPlan {
  readonly bindings: readonly Binding[];
  readonly connections: readonly Connection[];
  /** Names that are neither. */
  readonly unknown: readonly string[];
  /** Connections that stay although they were asked for, and the bindings that keep them. */
  readonly kept: readonly { readonly connection: string; readonly bindings: readonly string[] }[];
}

/** Finds what the names mean: bindings, or with `connections` also connections. */
export function planRemoval(
  names: readonly string[],
  existing: { readonly bindings: readonly Binding[]; readonly connections: readonly Connection[] },
  options: Pick<RemovalOptions, 'connections'>,
): RemovalPlan {
  const unique = [...new Set(names)];
  const bindings = existing.bindings.filter(({ metadata }) => unique.includes(metadata.name));
  const going = new Set(bindings.map(({ metadata }) => metadata.name));
  const others = unique.filter((name) => !going.has(name));
  const wanted = new Set(
    options.connections ? [...others, ...bindings.map(({ spec }) => spec.connection)] : [],
  );
  const found = existing.connections.filter(({ metadata }) => wanted.has(metadata.name));
  const users = (connection: Connection): string[] =>
    existing.bindings
      .filter(
        ({ metadata, spec }) => spec.connection === connection.metadata.name && !going.has(metadata.name),
      )
      .map(({ metadata }) => metadata.name);
  return {
    bindings,
    connections: found.filter((connection) => users(connection).length === 0),
    unknown: others.filter((name) => !found.some(({ metadata }) => metadata.name === name)),
    kept: found
      .map((connection) => ({ connection: connection.metadata.name, bindings: users(connection) }))
      .filter((entry) => entry.bindings.length > 0),
  };
}

/** What will be deleted where, for the user to read before it happens. */
export function removalLines(
  plan: RemovalPlan,
  connections: readonly Connection[],
  options: RemovalOptions,
): string[] {
  const lines = plan.bindings.flatMap((binding) => {
    const provider = connections.find(({ metadata }) => metadata.name === binding.spec.connection);
    return bindingLines(binding, provider, options);
  });
  for (const connection of plan.connections) {
    lines.push(
      `Connection ${connection.metadata.name}:`,
      `  in this workspace: the connection and its stored credentials are removed`,
      `  on the provider${where(connection)}: the account and its namespace stay; only the provider can remove them`,
    );
  }
  for (const { connection, bindings } of plan.kept) {
    lines.push(`Connection ${connection} is kept: ${bindings.join(', ')} still uses it`);
  }
  return lines;
}

function bindingLines(binding: Binding, provider: Connection | undefined, options: RemovalOptions): string[] {
  const { apis = [], sync } = binding.status ?? {};
  const served = apis.map((api) => printable(claimName(api), 200)).join(', ');
  const orphan = options.orphan || binding.spec.deletionPolicy === 'Orphan';
  const count = `${sync?.objects ?? 0} synced objects`;
  const fate = orphan
    ? 'are kept'
    : options.force
      ? 'are deleted where the provider answers, else they stay'
      : 'are deleted';
  return [
    `Binding ${binding.metadata.name}:`,
    `  in this workspace: ${served === '' ? 'the API' : served} is no longer served, and all its objects here are deleted (${count})`,
    `  on the provider${where(provider)}: the copies of these objects ${fate}`,
  ];
}

function where(connection: Connection | undefined): string {
  const { namespace, prettyName, server } = connection?.status?.provider ?? {};
  const host = connection?.spec.backend === undefined ? server : new URL(connection.spec.backend.url).host;
  const parts = [host, prettyName, namespace === undefined ? undefined : `namespace ${namespace}`];
  const text = parts.filter((part) => part !== undefined && part !== '').join(', ');
  return text === '' ? '' : ` (${printable(text, 200)})`;
}
