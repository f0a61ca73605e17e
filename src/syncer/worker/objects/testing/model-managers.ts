import { isJsonObject } from '../../../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../../../kube/json-value.js';
import type { KubeObject } from '../../../../kube/object.js';
import type { Managers } from '../../../engine/testing/model-apply.js';
import { toFieldsV1 } from '../../../engine/testing/model-fields.js';

/** Managers as a server shows them. */
export function managedFieldsOf(managers: Managers, apiVersion: string): JsonObject[] {
  return [...managers].map(([name, set]) => {
    const [manager = '', operation = ''] = name.split(':');
    return { manager, operation, apiVersion, fieldsType: 'FieldsV1', fieldsV1: toFieldsV1(set) };
  });
}

/** The name under which the model keeps an entry of managedFields. */
export function managerOf(entry: JsonValue): string {
  if (!isJsonObject(entry)) return '';
  const { manager, operation } = entry;
  return typeof manager === 'string' && typeof operation === 'string' ? `${manager}:${operation}` : '';
}

/** Whether an object as somebody sends it enters all managers under that version. */
export function isEnteredIn({ metadata }: KubeObject, apiVersion: string): boolean {
  const entries = metadata.managedFields ?? [];
  return entries.every((entry) => isJsonObject(entry) && entry['apiVersion'] === apiVersion);
}

export function sameManagers(a: Managers, b: Managers): boolean {
  const text = (managers: Managers): string =>
    JSON.stringify([...managers].map(([name, set]) => [name, [...set].sort()]).sort());
  return text(a) === text(b);
}
