import { isJsonObject } from '../../kube/json-value.js';
import type { JsonValue } from '../../kube/json-value.js';
import { jsonEqual } from '../../kube/json.js';
import { member } from './field-access.js';
import type { JsonPath } from './json-pointer.js';

/** More lost fields than this are not told apart. */
export const MAX_LOST_FIELDS = 200;
/** Values that are compared to find out which items belong together. What is left over then counts as not lost. */
const MAX_COMPARISONS = 200_000;

/**
 * Paths of the outermost fields that were sent and are not in what came back. A server's webhooks may have put items
 * into lists, or in another order: an item is compared with the one that has most in common with it.
 */
export function lostFields(sent: JsonValue, received: JsonValue | undefined): readonly JsonPath[] {
  const lost: JsonPath[] = [];
  const budget = { left: MAX_COMPARISONS };
  const walk = (wanted: JsonValue, there: JsonValue | undefined, path: JsonPath): void => {
    if (lost.length >= MAX_LOST_FIELDS) return;
    if (Array.isArray(wanted)) {
      if (!Array.isArray(there)) return;
      wanted.forEach((item, index) => walk(item, counterpart(item, index, there, budget), [...path, index]));
    } else if (isJsonObject(wanted) && isJsonObject(there)) {
      for (const key of Object.keys(wanted)) {
        const value = wanted[key];
        if (value === undefined) continue;
        const other = member(there, key);
        if (other === undefined) lost.push([...path, key]);
        else walk(value, other, [...path, key]);
      }
    }
  };
  walk(sent, received, []);
  return lost;
}

interface Budget {
  left: number;
}

/**
 * The item that has most values in common with the wanted one; among equals the one at its position, else the one
 * with the fewest fields missing. Undefined where it would cost too much to tell: a field that is left out for the
 * wrong reason is lost in silence, one that is sent for the wrong reason is refused and said.
 */
function counterpart(
  wanted: JsonValue,
  index: number,
  items: readonly JsonValue[],
  budget: Budget,
): JsonValue | undefined {
  if (!isJsonObject(wanted) && !Array.isArray(wanted)) return undefined;
  const atPlace = items[index];
  if (jsonEqual(wanted, atPlace)) return atPlace;
  let best: { readonly item: JsonValue; readonly score: Score } | undefined;
  for (const [position, item] of items.entries()) {
    if (budget.left <= 0) return undefined;
    const score = { common: 0, atPlace: position === index, missing: 0 };
    compare(wanted, item, score, budget);
    if (best === undefined || isBetter(score, best.score)) best = { item, score };
  }
  return best?.item;
}

/** What two items have in common. */
interface Score {
  common: number;
  readonly atPlace: boolean;
  missing: number;
}

function isBetter(a: Score, b: Score): boolean {
  if (a.common !== b.common) return a.common > b.common;
  if (a.missing !== b.missing) return a.missing < b.missing;
  return a.atPlace && !b.atPlace;
}

function compare(wanted: JsonValue, there: JsonValue | undefined, score: Score, budget: Budget): void {
  if (--budget.left <= 0) return;
  if (there === undefined) score.missing += 1;
  else if (isJsonObject(wanted)) {
    for (const key of Object.keys(wanted)) {
      const value = wanted[key];
      if (value !== undefined) compare(value, member(there, key), score, budget);
    }
  } else if (Array.isArray(wanted)) {
    const others = Array.isArray(there) ? there : [];
    wanted.forEach((item, index) => compare(item, others[index], score, budget));
  } else if (jsonEqual(wanted, there)) score.common += 1;
}
