import { isJsonObject } from '../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../kube/json-value.js';

/** What ties the provider's generations to the consumer's. */
export interface GenerationLink {
  /** Generation of the consumer's object that the copy was made from last (its annotation). */
  readonly sent: number;
  /** First generation of the copy that holds that edit: a provider that observed it has observed the edit. */
  readonly copy: number;
}

/**
 * The status with `observedGeneration`, at its top and in each condition, in the consumer's counting. A
 * consumer never reads "observed" for an edit that the provider has not observed: what is older than the
 * copy's last edit becomes one less than that edit's generation. Values that are no integers stay as they are.
 */
export function translateObservedGeneration(status: JsonObject, link: GenerationLink): JsonObject {
  const translated = translateField(status, link);
  const conditions = translated['conditions'];
  if (!Array.isArray(conditions)) return translated;
  const mapped = conditions.map((item) => (isJsonObject(item) ? translateField(item, link) : item));
  return mapped.every((item, index) => item === conditions[index])
    ? translated
    : { ...translated, conditions: mapped };
}

function translateField(object: JsonObject, link: GenerationLink): JsonObject {
  if (!Object.hasOwn(object, 'observedGeneration')) return object;
  const observed = object['observedGeneration'];
  if (!isInteger(observed)) return object;
  const value = observed >= link.copy ? link.sent : Math.max(0, link.sent - 1);
  return value === observed ? object : { ...object, observedGeneration: value };
}

function isInteger(value: JsonValue | undefined): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}
