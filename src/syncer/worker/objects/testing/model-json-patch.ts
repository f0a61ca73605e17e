import { isJsonObject } from '../../../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../../../kube/json-value.js';
import { apiError } from './model-status.js';

/** RFC 6902 as far as this program uses it: add, remove, replace. Refuses with 422 as a server does. */
export function applyJsonPatch(value: JsonValue, operations: readonly JsonObject[]): JsonValue {
  return operations.reduce<JsonValue>((current, operation) => {
    const { op, path, value: operand } = operation;
    if (typeof path !== 'string') throw refused();
    const steps = path
      .slice(1)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    return change(current, steps, typeof op === 'string' ? op : '', operand);
  }, value);
}

function change(
  value: JsonValue,
  steps: readonly string[],
  op: string,
  operand: JsonValue | undefined,
): JsonValue {
  const [step = '', ...rest] = steps;
  if (Array.isArray(value)) return changeList(value, step, rest, { op, operand });
  if (!isJsonObject(value)) throw refused();
  const next: JsonObject = { ...value };
  const child = next[step];
  if (rest.length > 0) {
    if (child === undefined) throw refused();
    next[step] = change(child, rest, op, operand);
  } else if (op === 'add' || (op === 'replace' && child !== undefined)) next[step] = operand ?? null;
  else if (op === 'remove' && child !== undefined)
    return Object.fromEntries(Object.entries(value).filter(([key]) => key !== step));
  else throw refused();
  return next;
}

function changeList(
  value: JsonValue[],
  step: string,
  rest: readonly string[],
  { op, operand }: { op: string; operand: JsonValue | undefined },
): JsonValue[] {
  const next = [...value];
  const index = step === '-' ? next.length : Number(step);
  const child = next[index];
  if (rest.length > 0) {
    if (child === undefined) throw refused();
    next[index] = change(child, rest, op, operand);
  } else if (op === 'add') next.splice(index, 0, operand ?? null);
  else if (child === undefined) throw refused();
  else if (op === 'remove') next.splice(index, 1);
  else next[index] = operand ?? null;
  return next;
}

function refused(): Error {
  return apiError(422, 'Invalid', 'the server rejected our request due to an error in our request');
}
