import { isJsonObject } from '../../../kube/json-value.js';
import type { JsonValue } from '../../../kube/json-value.js';
import { member } from '../field-access.js';

/** `name`: a member, or, where the value is a list, the item at that position. `each`: every item of a list. */
export type PathStep = { readonly kind: 'name'; readonly name: string } | { readonly kind: 'each' };
export type ReferencePath = readonly PathStep[];

const MAX_LENGTH = 512;
const MAX_STEPS = 16;
/** An object refers to no more than this many things through one path. */
export const MAX_VALUES = 257;

const EACH: PathStep = { kind: 'each' };
/** Characters that mean something else in one of the path languages: nothing is guessed about them. */
const SPECIAL = /[*?|@!(){}="'<>%~$,[\]#\\]/;

/**
 * Reads a path as templates of the kube-bind ecosystem write it, `spec.refs.#.name` (dots between names, `#` for every
 * item, `\.` for a dot in a name), or as the same thing in JSONPath: `$.spec.refs[*].name`, `{.spec.refs[0].name}`.
 *
 * @returns undefined for anything else: queries, wildcards, modifiers, pipes
 */
export function parseReferencePath(text: string): ReferencePath | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const steps: PathStep[] = [];
  for (const segment of segmentsOf(bare(text.trim()))) {
    const read = readSegment(segment);
    if (read === undefined) return undefined;
    steps.push(...read);
  }
  return steps.length === 0 || steps.length > MAX_STEPS ? undefined : steps;
}

/** Without what JSONPath puts around a path. */
function bare(text: string): string {
  const inner = text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1) : text;
  return inner.replace(/^\$?\./, '');
}

/** Splits at dots that no backslash stands before; a backslash takes the next character as it is. */
function segmentsOf(text: string): Segment[] {
  const segments: Segment[] = [{ text: '', escaped: new Set() }];
  for (let at = 0; at < text.length; at++) {
    const last = segments[segments.length - 1];
    if (last === undefined) break;
    if (text[at] === '.') segments.push({ text: '', escaped: new Set() });
    else if (text[at] === '\\' && at + 1 < text.length) {
      last.escaped.add(last.text.length);
      last.text += text[++at] ?? '';
    } else last.text += text[at] ?? '';
  }
  return segments;
}

interface Segment {
  text: string;
  /** Positions of characters that are meant as they are. */
  readonly escaped: Set<number>;
}

function readSegment({ text, escaped }: Segment): PathStep[] | undefined {
  if (text === '#' && !escaped.has(0)) return [EACH];
  const brackets = escaped.size === 0 ? /^([^[\]]*)((?:\[(?:\*|\d{1,6})\])+)$/.exec(text) : null;
  const name = brackets?.[1] ?? text;
  if (name === '' && brackets === null) return undefined;
  for (let at = 0; at < name.length; at++)
    if (!escaped.has(at) && SPECIAL.test(name.charAt(at))) return undefined;
  const indexes = [...(brackets?.[2] ?? '').matchAll(/\[(\*|\d+)\]/g)].map(([, index = '']): PathStep =>
    index === '*' ? EACH : { kind: 'name', name: index },
  );
  return name === '' ? indexes : [{ kind: 'name', name }, ...indexes];
}

/** Every value that a path leads to; a step that leads nowhere gives none. */
export function valuesAt(value: JsonValue | undefined, path: ReferencePath): readonly JsonValue[] {
  let current: JsonValue[] = value === undefined ? [] : [value];
  for (const step of path) {
    current = current.flatMap((each) => follow(each, step).slice(0, MAX_VALUES)).slice(0, MAX_VALUES);
  }
  return current;
}

function follow(value: JsonValue, step: PathStep): readonly JsonValue[] {
  if (step.kind === 'each') return Array.isArray(value) ? value : [];
  if (Array.isArray(value)) {
    const item = /^\d{1,6}$/.test(step.name) ? value[Number(step.name)] : undefined;
    return item === undefined ? [] : [item];
  }
  const found = isJsonObject(value) ? member(value, step.name) : undefined;
  return found === undefined ? [] : [found];
}

/** The strings at a path; a list of strings counts as that many. */
export function textsAt(value: JsonValue | undefined, path: ReferencePath): readonly string[] {
  return valuesAt(value, path)
    .flatMap((found) => (Array.isArray(found) ? found : [found]))
    .filter((found) => typeof found === 'string')
    .slice(0, MAX_VALUES);
}
