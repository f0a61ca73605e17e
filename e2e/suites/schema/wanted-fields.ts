import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/kube/json-value.js';
import { stringifyJson } from '../../../src/kube/json.js';

/** One step of a JSON patch, as far as generated objects are changed by one. */
export interface Step {
  readonly op: 'set' | 'remove';
  /** A JSON pointer. */
  readonly path: string;
  readonly value?: JsonValue;
}

/** Where a value lacks, or has otherwise, what another one has; what it has besides does not matter. Lists must be as long. */
export function differences(wanted: JsonValue, seen: JsonValue | undefined, path = ''): string[] {
  if (isJsonObject(wanted) && isJsonObject(seen))
    return Object.entries(wanted).flatMap(([key, value]) =>
      value === undefined
        ? []
        : differences(value, Object.hasOwn(seen, key) ? seen[key] : undefined, `${path}.${key}`),
    );
  if (Array.isArray(wanted) && Array.isArray(seen) && wanted.length === seen.length)
    return wanted.flatMap((value, index) => differences(value, seen[index], `${path}[${index}]`));
  if (wanted === seen) return [];
  const text = seen === undefined ? 'nothing' : stringifyJson(seen).slice(0, 200);
  return [`${path}: ${text} instead of ${stringifyJson(wanted).slice(0, 200)}`];
}

/** An object with the fields of another one put over it; lists and all else are replaced. */
export function overlaid(base: JsonValue | undefined, over: JsonValue): JsonValue {
  if (!isJsonObject(base) || !isJsonObject(over)) return over;
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(over))
    if (value !== undefined) merged.set(key, overlaid(merged.get(key), value));
  return Object.fromEntries(merged);
}

/** Throws where a step leads nowhere, so that a list of steps cannot rot. */
export function patched(value: JsonObject, steps: readonly Step[]): JsonObject {
  const result = structuredClone(value);
  for (const step of steps) {
    const keys = step.path
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop() ?? '';
    let at: JsonValue | undefined = result;
    for (const key of keys) at = Array.isArray(at) ? at[Number(key)] : isJsonObject(at) ? at[key] : undefined;
    if (Array.isArray(at)) change(at, Number(last), step);
    else if (isJsonObject(at) && (step.op === 'set' || Object.hasOwn(at, last))) {
      if (step.op === 'set') at[last] = step.value ?? null;
      else Reflect.deleteProperty(at, last);
    } else throw new Error(`${step.path} leads nowhere`);
  }
  return result;
}

function change(list: JsonValue[], index: number, step: Step): void {
  if (!(index >= 0 && index <= list.length)) throw new Error(`${step.path} leads nowhere`);
  if (step.op === 'set') list[index] = step.value ?? null;
  else list.splice(index, 1);
}
