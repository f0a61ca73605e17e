import { isJsonObject } from '../../kube/json-value.js';
import type { JsonValue } from '../../kube/json-value.js';
import type { KubeObject, ObjectName } from '../../kube/object.js';
import { payloadOf } from './desired-copy.js';
import { member } from './field-access.js';
import { toFieldPath } from './json-pointer.js';
import type { JsonPath } from './json-pointer.js';
import { isReservedPlace } from './key-mapping.js';
import type { CopyOwner } from './ownership.js';
import { describeName } from './sync-context.js';
import type { SyncContext } from './sync-context.js';

/**
 * - `ForeignObject`: an object that carries nobody's marks
 * - `OtherConsumerObject`: a copy that belonged to another object of this contract
 * - `OtherConsumer`: another consumer's copy
 */
export type ConflictReason = 'ForeignObject' | 'OtherConsumerObject' | 'OtherConsumer';

/** Whether an object at the copy's place may become the copy. */
export function mayTakeOver(owner: CopyOwner, { policies, rule }: SyncContext): boolean {
  switch (owner.kind) {
    case 'ours':
    case 'konnector':
      return true;
    case 'unmarked':
      return policies.conflict === 'Adopt' && isReservedPlace(rule);
    case 'otherConsumerObject':
      return policies.conflict === 'Adopt' && !owner.live;
    case 'otherContract':
      return false;
  }
}

/** Why it may not, and what to do. */
export function conflictOf(
  owner: CopyOwner,
  target: ObjectName,
  { rule }: SyncContext,
): { readonly kind: 'conflict'; readonly reason: ConflictReason; readonly message: string } {
  const name = describeName(target);
  if (owner.kind === 'otherContract') {
    return {
      kind: 'conflict',
      reason: 'OtherConsumer',
      message: `The provider's object ${name} belongs to another consumer. Use another name for this object.`,
    };
  }
  if (owner.kind === 'otherConsumerObject') {
    const advice = owner.live
      ? 'Another workspace uses the same account; use another name for this object.'
      : "Set the binding's spec.conflictPolicy to Adopt to take it over, or have it removed on the provider.";
    return {
      kind: 'conflict',
      reason: 'OtherConsumerObject',
      message: `The provider's object ${name} was made for the consumer object with UID ${short(owner.uid)}. ${advice}`,
    };
  }
  const advice = isReservedPlace(rule)
    ? "Set the binding's spec.conflictPolicy to Adopt to take it over, or have it removed on the provider."
    : 'It cannot be taken over at a place that all consumers share: use another name for this object.';
  return {
    kind: 'conflict',
    reason: 'ForeignObject',
    message: `The provider already has an object ${name} that was not made by this binding. ${advice}`,
  };
}

const MAX_FOREIGN_FIELDS = 20;

/** Fields, outermost first, that the live object has and the desired one does not say. For people. */
export function foreignFields(desired: KubeObject, live: KubeObject): readonly string[] {
  const fields: string[] = [];
  const walk = (wanted: JsonValue | undefined, there: JsonValue | undefined, path: JsonPath): void => {
    if (fields.length >= MAX_FOREIGN_FIELDS || there === undefined) return;
    if (wanted === undefined) fields.push(toFieldPath(path));
    else if (isJsonObject(wanted) && isJsonObject(there))
      for (const key of Object.keys(there)) walk(member(wanted, key), there[key], [...path, key]);
  };
  const payload = payloadOf(live);
  for (const key of Object.keys(payload)) walk(member(desired, key), payload[key], [key]);
  return fields;
}

/** A provider wrote it: bounded before it goes into a message. */
function short(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}
