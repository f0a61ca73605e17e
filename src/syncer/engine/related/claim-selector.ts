import { isJsonObject } from '../../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../../kube/json-value.js';
import type { ObjectName } from '../../../kube/object.js';
import { matchesLabels, parseLabelSelector } from './label-selector.js';
import type { LabelSelector } from './label-selector.js';
import { parseReferencePath } from './reference-path.js';
import type { ReferencePath } from './reference-path.js';

/** Objects that objects of an API refer to. */
export interface ClaimReference {
  readonly group: string;
  readonly resource: string;
  readonly name: ReferencePath;
  readonly namespace?: ReferencePath;
}

/** Which objects of a resource a provider claims: those that any one of the three parts selects. */
export interface ClaimSelector {
  readonly labels: LabelSelector | undefined;
  /** Without namespace: that name in every namespace. */
  readonly names: readonly ObjectName[];
  readonly references: readonly ClaimReference[];
  /** Parts that select nothing because they are not understood, in words; for people. */
  readonly refused: readonly string[];
}

const MAX_NAMES = 1024;
const MAX_REFERENCES = 32;
const MAX_TEXT = 253;

/**
 * Reads the selector of a permission claim, which a provider wrote. What is not understood, or is too much, selects
 * nothing: more than what was agreed to must never move.
 */
export function parseClaimSelector(selector: JsonObject): ClaimSelector {
  const refused: string[] = [];
  const labels = readLabels(selector['labelSelector'], refused);
  const names = readEach(
    selector['namedResources'],
    { what: 'namedResources', max: MAX_NAMES, refused },
    readName,
  );
  const references = readEach(
    selector['references'],
    { what: 'references', max: MAX_REFERENCES, refused },
    readReference,
  );
  return { labels, names, references, refused };
}

/** True for a claim that moves nothing at all. */
export function selectsNothing({ labels, names, references }: ClaimSelector): boolean {
  return labels === undefined && names.length === 0 && references.length === 0;
}

/** True where labels or names select the object; `name` is its address in the consumer's workspace. */
export function selectsByItself(
  selector: ClaimSelector,
  name: ObjectName,
  labels: JsonValue | undefined,
): boolean {
  if (selector.labels !== undefined && matchesLabels(selector.labels, labels)) return true;
  return selector.names.some(
    (each) => each.name === name.name && (each.namespace === undefined || each.namespace === name.namespace),
  );
}

function readLabels(value: JsonValue | undefined, refused: string[]): LabelSelector | undefined {
  if (value === undefined || value === null) return undefined;
  const labels = parseLabelSelector(value);
  if (labels === 'empty') {
    refused.push('labelSelector is empty, which would ask for everything');
    return undefined;
  }
  if (labels === 'invalid') {
    refused.push('labelSelector is not a valid label selector');
    return undefined;
  }
  return labels;
}

/** The items of a list that are understood; each of the others is named, and selects nothing. */
function readEach<T>(
  value: JsonValue | undefined,
  { what, max, refused }: { readonly what: string; readonly max: number; readonly refused: string[] },
  read: (item: JsonValue) => T | undefined,
): readonly T[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > max) {
    refused.push(`${what} is not a list of at most ${String(max)} entries`);
    return [];
  }
  const items: T[] = [];
  value.forEach((item, index) => {
    const found = read(item);
    if (found === undefined) refused.push(`${what}[${String(index)}] is not understood`);
    else items.push(found);
  });
  return items;
}

function readName(item: JsonValue): ObjectName | undefined {
  if (!isJsonObject(item)) return undefined;
  const name = text(item['name']);
  const namespace = text(item['namespace'] ?? '');
  if (name === undefined || name === '' || namespace === undefined) return undefined;
  return namespace === '' ? { name } : { namespace, name };
}

function readReference(item: JsonValue): ClaimReference | undefined {
  if (!isJsonObject(item)) return undefined;
  const group = text(item['group'] ?? '');
  const resource = text(item['resource']);
  const paths = item['jsonPath'];
  if (group === undefined || resource === undefined || resource === '' || !isJsonObject(paths))
    return undefined;
  const name = path(paths['name']);
  if (name === undefined) return undefined;
  const stated = paths['namespace'] ?? '';
  if (stated === '') return { group, resource, name };
  const namespace = path(stated);
  return namespace === undefined ? undefined : { group, resource, name, namespace };
}

function path(value: JsonValue | undefined): ReferencePath | undefined {
  return typeof value === 'string' ? parseReferencePath(value) : undefined;
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.length <= MAX_TEXT ? value : undefined;
}
