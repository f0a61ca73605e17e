import type { Backend, Connection } from '../typed-objects.js';

/** Two `spec.backend`s mean the same provider account, verified in the same way. */
function sameBackend(a: Backend, b: Backend): boolean {
  return sameAccount(a, b) && (a.caBundle ?? '').trim() === (b.caBundle ?? '').trim();
}

/** Two `spec.backend`s mean the same provider account. */
export function sameAccount(a: Backend, b: Backend): boolean {
  return (
    normalUrl(a.url) === normalUrl(b.url) &&
    (a.clusterID ?? '') === (b.clusterID ?? '') &&
    (a.account ?? 'default') === (b.account ?? 'default')
  );
}

/** What becomes of a wish for a connection. */
export type ConnectionChoice =
  | { readonly kind: 'use'; readonly connection: Connection }
  | { readonly kind: 'create'; readonly name: string }
  /** A connection of that name says something else. */
  | { readonly kind: 'conflict'; readonly connection: Connection };

/**
 * Chooses the connection: the one that is named; without a name any to the same backend, the oldest first;
 * else a new one under `derivedName`.
 */
export function chooseConnection(
  connections: readonly Connection[],
  wish: { readonly backend: Backend; readonly name: string | undefined; readonly derivedName: string },
): ConnectionChoice {
  const fits = (connection: Connection): boolean =>
    connection.spec.backend !== undefined && sameBackend(connection.spec.backend, wish.backend);
  if (wish.name === undefined) {
    const existing = connections
      .filter((connection) => fits(connection) && !isLeaving(connection))
      .sort(byAge)[0];
    if (existing !== undefined) return { kind: 'use', connection: existing };
  }
  const name = wish.name ?? wish.derivedName;
  const named = connections.find((connection) => connection.metadata.name === name);
  if (named === undefined) return { kind: 'create', name };
  return fits(named) && !isLeaving(named)
    ? { kind: 'use', connection: named }
    : { kind: 'conflict', connection: named };
}

export function isLeaving(object: { readonly metadata: { readonly deletionTimestamp?: string } }): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

function byAge(a: Connection, b: Connection): number {
  return (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '');
}

function normalUrl(url: string): string {
  return URL.canParse(url) ? new URL(url).href.replace(/\/+$/, '') : url;
}
