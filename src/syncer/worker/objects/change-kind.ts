import { jsonEqual } from '../../../kube/json.js';
import type { StoreChange } from '../../../kube/cache/object-store.js';
import type { KubeObject } from '../../../kube/object.js';

/** True for a change of a consumer's object after which an attempt that was refused is worth another try. */
export function isEdit(previous: KubeObject | undefined, now: KubeObject): boolean {
  if (previous === undefined) return true;
  const a = previous.metadata;
  const b = now.metadata;
  return (
    a.uid !== b.uid ||
    a.generation !== b.generation ||
    a.deletionTimestamp !== b.deletionTimestamp ||
    !jsonEqual(a.labels, b.labels) ||
    !jsonEqual(a.annotations, b.annotations)
  );
}

/** True for a change of a copy that is the provider's report, nothing that could lift a refusal. */
export function isReport(change: StoreChange): boolean {
  if (change.type === 'missing') return false;
  return change.previous !== undefined && !isEdit(change.previous, change.object);
}
