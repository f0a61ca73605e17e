import type { KubeObject } from '../../kube/object.js';
import type { GuardedPatch } from './consumer-patch.js';
import { stripMarks } from './orphan.js';
import { isCopyOfBinding } from './ownership.js';
import type { SyncContext } from './sync-context.js';
import { deletionPolicyOf } from './user-annotations.js';

export interface AbsenceInput {
  /** The copy at the place that belongs to a consumer object which the store does not have. */
  readonly copy: KubeObject | undefined;
  readonly context: SyncContext;
  /** Since when the consumer object has been missing, milliseconds since the epoch. */
  readonly since: number;
  readonly now: number;
  readonly graceMs: number;
  /**
   * `gone`: the API is bound and served, and a GET just answered 404 with a Status that names the object.
   * Everything else is no proof.
   */
  readonly proof: 'none' | 'gone';
}

export type AbsenceDecision =
  | { readonly kind: 'none' }
  | { readonly kind: 'paused' }
  | { readonly kind: 'wait'; readonly retryInMs: number }
  /** Ask the consumer's side. */
  | { readonly kind: 'prove' }
  | { readonly kind: 'waitGone' }
  | { readonly kind: 'deleteCopy'; readonly uid: string }
  | { readonly kind: 'orphanCopy'; readonly patch: GuardedPatch };

/**
 * What to do with a copy whose consumer object is not to be seen. Not seeing it is never a deletion by
 * itself: a rejected claim, a wrong answer or a vanished URL looks the same. Only a copy that this very
 * binding made is ever touched. A binding that is being deleted needs no proof: its copies go anyway.
 */
export function decideAbsence(input: AbsenceInput): AbsenceDecision {
  const { copy, context, since, now, graceMs, proof } = input;
  if (copy === undefined || !isCopyOfBinding(copy, context.marks)) return { kind: 'none' };
  const { draining, paused } = context.policies;
  if (!draining) {
    if (paused) return { kind: 'paused' };
    const left = since + graceMs - now;
    if (left > 0) return { kind: 'wait', retryInMs: left };
    if (proof === 'none') return { kind: 'prove' };
  }
  if (deletionPolicyOf(copy, context.policies) === 'Orphan')
    return { kind: 'orphanCopy', patch: stripMarks(copy) };
  if (copy.metadata.deletionTimestamp !== undefined) return { kind: 'waitGone' };
  return { kind: 'deleteCopy', uid: copy.metadata.uid ?? '' };
}
