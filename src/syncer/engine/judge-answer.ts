import type { KubeObject } from '../../kube/object.js';
import type { DesiredCopy } from './desired-copy.js';
import { findDeviations, fingerprint } from './deviations.js';
import type { Deviation } from './deviations.js';
import { toFieldPath } from './json-pointer.js';
import { otherManagers, ourOwnership } from './managed-fields.js';

export type AnswerVerdict =
  | { readonly kind: 'asMeant' }
  /**
   * - `Pruned`: fields are not there
   * - `Mutated`: fields have other values
   */
  | {
      readonly kind: 'otherwise';
      readonly reason: 'Pruned' | 'Mutated';
      readonly fields: readonly string[];
      readonly fingerprint: string;
      /** Sending it again may help; it cannot where only the field's owner is another one. */
      readonly repairable: boolean;
    };

const MAX_FIELDS = 10;

/** Compares what a server answered to the write of a copy with what was meant. */
export function judgeAnswer(desired: DesiredCopy, answer: KubeObject): AnswerVerdict {
  const deviations = findDeviations(desired.object, answer, ourOwnership(answer));
  if (deviations.length === 0) return { kind: 'asMeant' };
  const visible = deviations.filter((deviation) => deviation.kind !== 'unowned');
  return {
    kind: 'otherwise',
    reason: visible.every((deviation) => deviation.kind === 'missing') ? 'Pruned' : 'Mutated',
    fields: describeFields(visible),
    fingerprint: fingerprint(deviations),
    repairable: visible.length > 0,
  };
}

/** Field paths for a message, at most ten. */
export function describeFields(deviations: readonly Deviation[]): readonly string[] {
  const fields = deviations.map(({ path }) => toFieldPath(path));
  const rest = fields.length - MAX_FIELDS;
  return rest > 0 ? [...fields.slice(0, MAX_FIELDS), `${String(rest)} more`] : fields;
}

/**
 * True where an apply that was meant to create has met an object that was already there: it has managers
 * besides us, or an earlier generation. Without force such an apply changed nobody's value, so an empty
 * apply takes exactly our part back.
 */
export function joinedForeignObject(answer: KubeObject): boolean {
  return otherManagers(answer).length > 0 || (answer.metadata.generation ?? 1) > 1;
}
