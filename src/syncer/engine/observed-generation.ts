import { isJsonObject } from '../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../kube/json-value.js';

/** What ties the provider's generations to the consumer's. */
export interface GenerationLink {
  /** Generation of the consumer's object that the copy was made from last (its annotation). */
  readonly sent: number;
  /** First generation of the copy that holds that edit: a provider that observed it has observed the edit. */
  readonly copy: number;
}

const FIELD = 'observedGeneration';

/**
 * The status with every `observedGeneration` in it in the consumer's counting, at any depth: APIs keep them at the
 * top, in conditions, and in conditions for each parent, listener, ancestor and so on. A consumer never reads
 * "observed" for an edit that the provider has not observed: what is older than the copy's last edit becomes one
 * less than that edit's generation. Values that are no integers stay as they are, and so does all that is said of
 * another object (a map with a `kind` or `metadata` of its own): that one has generations of its own.
 *
 * Shares all parts that do not change. As deep as the status is, which is no deeper than JSON is read.
 */
export function translateObservedGeneration(status: JsonObject, link: GenerationLink): JsonObject {
  return translateFields(status, link);
}

function translate(value: JsonValue | undefined, link: GenerationLink): JsonValue | undefined {
  if (Array.isArray(value)) {
    const items = value.map((item) => translate(item, link) ?? item);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  return isJsonObject(value) && !isAnotherObject(value) ? translateFields(value, link) : value;
}

function translateFields(object: JsonObject, link: GenerationLink): JsonObject {
  const entries = Object.entries(object).map(([key, value]): [string, JsonValue | undefined] => {
    const next =
      key === FIELD && isInteger(value) ? inConsumersCounting(value, link) : translate(value, link);
    return [key, next];
  });
  return entries.some(([key, next]) => next !== object[key]) ? Object.fromEntries(entries) : object;
}

function inConsumersCounting(observed: number | bigint, { sent, copy }: GenerationLink): number | bigint {
  const value = observed >= copy ? sent : Math.max(0, sent - 1);
  // By value: an equal one of the other type is no change.
  return BigInt(observed) === BigInt(value) ? observed : value;
}

function isAnotherObject(value: JsonObject): boolean {
  return (
    (Object.hasOwn(value, 'kind') && typeof value['kind'] === 'string') ||
    (Object.hasOwn(value, 'metadata') && isJsonObject(value['metadata']))
  );
}

function isInteger(value: JsonValue | undefined): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}
