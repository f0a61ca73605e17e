import { CONNECTIONS } from '../../../src/api/group.js';
import type { ApiBinding } from '../typed-objects.js';
import type { ExportReference } from './manifests.js';

/** What a workspace's APIBindings say about the client export. */
export type ClientBindingSearch =
  | { readonly kind: 'found'; readonly binding: ApiBinding }
  /** Bound to the client of another place than `reference` says. */
  | { readonly kind: 'elsewhere'; readonly binding: ApiBinding }
  /** `name` is free for a new APIBinding. */
  | { readonly kind: 'absent'; readonly name: string };

/**
 * Looks for the workspace's APIBinding to the client export, under whatever name: by its reference, or by
 * the kinds that it serves (the reference may hold a logical cluster's name in place of a path). Two
 * bindings to one export would make kcp's authorisation random, so a second one is never made.
 */
export function searchClientBinding(
  bindings: readonly ApiBinding[],
  reference: ExportReference,
): ClientBindingSearch {
  const candidates = bindings.filter(
    (binding) => exportOf(binding)?.name === reference.name || servesConnections(binding),
  );
  const exact = candidates.find((binding) => refersTo(binding, reference));
  if (exact !== undefined) return { kind: 'found', binding: exact };
  const other = candidates.find((binding) => servesConnections(binding)) ?? candidates[0];
  if (other !== undefined) return { kind: 'elsewhere', binding: other };
  const taken = new Set(bindings.map((binding) => binding.metadata.name));
  const names = [reference.name, `${reference.name}-client`];
  const free = names.find((name) => !taken.has(name));
  return { kind: 'absent', name: free ?? `${reference.name}-${bindings.length}` };
}

/** `path:name` of the export that an APIBinding refers to, for people. */
export function describeExport(binding: ApiBinding): string {
  const found = exportOf(binding);
  return found === undefined ? 'no export' : `${found.path ?? 'this workspace'}:${found.name}`;
}

function refersTo(binding: ApiBinding, reference: ExportReference): boolean {
  const found = exportOf(binding);
  if (found?.name !== reference.name) return false;
  return found.path === reference.path || binding.status?.apiExportClusterName === reference.path;
}

function exportOf(binding: ApiBinding): { path?: string; name: string } | undefined {
  return binding.spec.reference?.export;
}

function servesConnections(binding: ApiBinding): boolean {
  return (binding.status?.boundResources ?? []).some(
    (bound) => bound.group === CONNECTIONS.group && bound.resource === CONNECTIONS.resource,
  );
}
