import { KUBE_BIND } from '../../../api/markers.js';
import { followResource } from '../../../kube/cache/follow-resource.js';
import type { ResourceStore } from '../../../kube/cache/store.js';
import type { ReflectorEvent, ReflectorLimits } from '../../../kube/cache/reflector.js';
import type { Clock } from '../../../kube/clock.js';
import type { Gvr, KubeObject, LogicalCluster } from '../../../kube/object.js';
import type { KubeClient } from '../../../kube/client.js';
import type { CopyMarks } from '../../engine/desired-copy.js';
import { member } from '../../engine/field-access.js';
import { withoutManagedFields } from '../../engine/managed-fields.js';
import { isCopyOfBinding } from '../../engine/ownership.js';
import type { SyncContext } from '../../engine/sync-context.js';
import type { SyncPlaces, SyncPolicy, SyncTarget } from '../resource-sync.js';

/** The consumer's objects, as one workspace of the generated export's virtual workspace shows them. */
export function followConsumer(options: {
  readonly client: KubeClient;
  readonly gvr: Gvr;
  readonly cluster: LogicalCluster;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limits: Partial<ReflectorLimits>;
  readonly signal: AbortSignal;
  readonly onEvent: (event: ReflectorEvent) => void;
}): { readonly store: ResourceStore; readonly stopped: Promise<void> } {
  return followResource({
    ...options,
    strict: true,
    schemaMayChange: true,
    transform: withoutManagedFields,
  });
}

/** What the engine needs to know, of what the worker knows. */
export function syncContext(
  target: Pick<SyncTarget, 'scope' | 'isolation'>,
  places: SyncPlaces,
  policy: SyncPolicy,
  draining: boolean,
): SyncContext {
  const { cluster, contractNamespace, bindingUid, bindingName, namespaces } = places;
  return {
    rule: { scope: target.scope, isolation: target.isolation, contractNamespace },
    namespaces,
    marks: { cluster, contractNamespace, bindingUid, bindingName },
    policies: {
      conflict: policy.conflictPolicy,
      deletion: policy.deletionPolicy,
      paused: policy.paused,
      draining,
    },
  };
}

/** Namespaces of the consumer that this binding has copies from, in order. */
export function consumerNamespaces(copies: Iterable<KubeObject>, marks: CopyMarks): readonly string[] {
  const names = new Set<string>();
  for (const copy of copies) {
    const name = member(copy.metadata.annotations, KUBE_BIND.consumerNamespace);
    if (typeof name === 'string' && name !== '' && isCopyOfBinding(copy, marks)) names.add(name);
  }
  return [...names].sort();
}
