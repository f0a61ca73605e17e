import type { KubeObject } from '../../../kube/object.js';
import { hasSyncerFinalizer } from '../../engine/consumer-patch.js';
import { isCopyOfBinding } from '../../engine/ownership.js';
import type { CopyMarks } from '../../engine/desired-copy.js';

/** True when none of a consumer's objects is held by us. */
export function isReleased(originals: Iterable<KubeObject>): boolean {
  for (const object of originals) if (hasSyncerFinalizer(object)) return false;
  return true;
}

/** True while the provider has copies that a binding made and can still reach. */
export function hasCopies(
  copies: Iterable<KubeObject>,
  marks: CopyMarks,
  inReach: (copy: KubeObject) => boolean,
): boolean {
  for (const copy of copies) if (isCopyOfBinding(copy, marks) && inReach(copy)) return true;
  return false;
}
