import { BINDING_REASONS, CONNECTION_REASONS } from '../api/conditions.js';
import type { KubeObject } from '../kube/object.js';
import type { ReconcilerKind } from './keys.js';
import { bindingStatus, connectionStatus } from './views.js';

/** How many objects of a kind have a condition in that state. */
export interface ConditionCount {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly count: number;
}

const REASONS: Readonly<Record<ReconcilerKind, Readonly<Record<string, readonly string[]>>>> = {
  connection: CONNECTION_REASONS,
  binding: BINDING_REASONS,
};

/**
 * Counts conditions over all workspaces. What is not in the closed lists of types and reasons is left out: the number
 * of results does not depend on what anybody writes into a status.
 */
export function countConditions(
  kind: ReconcilerKind,
  objects: Iterable<KubeObject>,
): readonly ConditionCount[] {
  const counts = new Map<string, ConditionCount>();
  for (const object of objects) {
    const { conditions = [] } = kind === 'binding' ? bindingStatus(object) : connectionStatus(object);
    for (const { type, status, reason } of conditions) {
      const reasons = Object.hasOwn(REASONS[kind], type) ? REASONS[kind][type] : undefined;
      if (reasons?.includes(reason) !== true) continue;
      const key = `${type}/${status}/${reason}`;
      counts.set(key, { type, status, reason, count: (counts.get(key)?.count ?? 0) + 1 });
    }
  }
  return [...counts.values()];
}
