import { BINDING_UID_LABEL } from '../../../api/markers.js';
import type { SyncTarget } from '../resource-sync.js';

/**
 * How the provider's side is watched.
 * - `labelled`: everywhere, but only objects with this binding's label: other consumers' are never read
 * - `namespace`: one namespace, everything in it
 * - `mapped`: each namespace that the provider has mapped for us, everything in it or what carries a label
 */
export type WatchPlan =
  | { readonly kind: 'labelled'; readonly labelSelector: string }
  | { readonly kind: 'namespace'; readonly namespace: string }
  | { readonly kind: 'mapped'; readonly labelSelector?: string };

/**
 * Watches as much as may matter and no other consumer's objects. With `informerScope: Cluster` a single watch
 * serves any number of namespaces.
 */
export function planWatch(
  target: Pick<SyncTarget, 'scope' | 'isolation' | 'informerScope'>,
  owner: { readonly contractNamespace: string; readonly bindingUid: string },
): WatchPlan {
  if (target.scope === 'Cluster' && target.isolation === 'Namespaced')
    return { kind: 'namespace', namespace: owner.contractNamespace };
  if (target.scope === 'Namespaced' && target.informerScope === 'Namespaced') return { kind: 'mapped' };
  return { kind: 'labelled', labelSelector: `${BINDING_UID_LABEL}=${owner.bindingUid}` };
}
