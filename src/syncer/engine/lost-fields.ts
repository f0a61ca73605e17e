import { isJsonObject } from '../../kube/json-value.js';
import type { JsonValue } from '../../kube/json-value.js';
import { member } from './field-access.js';
import type { JsonPath } from './json-pointer.js';

/** More lost fields than this are not told apart. */
export const MAX_LOST_FIELDS = 200;

/** Paths of the outermost fields that were sent and are not in what came back; lists are compared by position. */
export function lostFields(sent: JsonValue, received: JsonValue | undefined): readonly JsonPath[] {
  const lost: JsonPath[] = [];
  const walk = (wanted: JsonValue, there: JsonValue | undefined, path: JsonPath): void => {
    if (lost.length >= MAX_LOST_FIELDS) return;
    if (Array.isArray(wanted)) {
      if (Array.isArray(there)) wanted.forEach((item, index) => walk(item, there[index], [...path, index]));
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
