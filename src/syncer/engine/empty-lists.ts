import { EMPTY_LISTS_ANNOTATION } from '../../api/markers.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../kube/json-value.js';
import { parseJson, stringifyJson } from '../../kube/json.js';
import type { KubeObject } from '../../kube/object.js';
import { member } from './field-access.js';
import { toPointer } from './json-pointer.js';
import type { JsonPath } from './json-pointer.js';
import { indexItems, itemIdentity } from './list-identity.js';
import type { OwnedNode } from './managed-fields.js';

/** So many empty lists are noted on a copy; more of them are sent but cannot be taken away one by one. */
const MAX_EMPTY_LISTS = 64;
/** The note is an annotation: it takes no more than this of the room for all of them, in characters. */
const MAX_NOTE_LENGTH = 16 * 1024;
/** Fields by which servers know items are short. */
const MAX_KEY_TEXT = 256;
const MAX_NOTE_DEPTH = 4;

/** A field, or an item of a list by its plain fields: its position is no lasting address. */
type NotedStep = string | JsonObject;
type NotedPath = readonly NotedStep[];

/**
 * Text for the annotation that says which empty lists are sent; undefined where there are none. A path is a JSON
 * pointer, or a list of steps where it leads through items of lists. Which fields tell items apart only the server
 * knows, so an item is noted with all that it has of text, numbers and the like.
 */
export function noteOfEmptyLists(payload: JsonObject): string | undefined {
  const notes: string[] = [];
  let length = 2;
  const note = (path: NotedPath): void => {
    const text = stringifyJson(isPlain(path) ? toPointer(path) : [...path]);
    if (notes.length >= MAX_EMPTY_LISTS || length + text.length + 1 > MAX_NOTE_LENGTH) return;
    notes.push(text);
    length += text.length + 1;
  };
  const walk = (value: JsonObject, path: NotedPath): void => {
    for (const key of Object.keys(value).sort()) {
      if (notes.length >= MAX_EMPTY_LISTS) return;
      const child = value[key];
      if (isJsonObject(child)) walk(child, [...path, key]);
      else if (Array.isArray(child) && child.length === 0) note([...path, key]);
      else if (Array.isArray(child)) walkItems(child, [...path, key]);
    }
  };
  const walkItems = (list: readonly JsonValue[], path: NotedPath): void => {
    for (const item of list) {
      const fields = isJsonObject(item) ? plainFields(item) : {};
      if (isJsonObject(item) && Object.keys(fields).length > 0) walk(item, [...path, fields]);
    }
  };
  walk(payload, []);
  return notes.length === 0 ? undefined : `[${notes.join(',')}]`;
}

/**
 * Paths of empty lists of ours in the live copy, by its note, which the desired copy does not say any more. Only
 * fields of objects, never items, so that removing them moves nothing.
 *
 * @param owned what our manager owns; says how the server knows the items of a list
 */
export function emptyListsToRemove(
  desired: KubeObject,
  live: KubeObject,
  owned: OwnedNode | undefined,
): readonly JsonPath[] {
  return readNote(live).flatMap((path) => {
    const found = follow(path, { live, desired, owned, path: [] });
    return found === undefined ? [] : [found];
  });
}

interface Place {
  readonly live: JsonValue | undefined;
  readonly desired: JsonValue | undefined;
  readonly owned: OwnedNode | undefined;
  readonly path: JsonPath;
}

function follow([step, ...rest]: NotedPath, at: Place): JsonPath | undefined {
  if (step === undefined) {
    const isEmptyList = Array.isArray(at.live) && at.live.length === 0;
    return isEmptyList && at.desired === undefined ? at.path : undefined;
  }
  const next = typeof step === 'string' ? fieldOf(at, step) : itemOf(at, step);
  return next && follow(rest, next);
}

function fieldOf({ live, desired, owned, path }: Place, key: string): Place {
  return {
    live: member(live, key),
    desired: member(desired, key),
    owned: owned?.fields.get(key),
    path: [...path, key],
  };
}

function itemOf({ live, desired, owned, path }: Place, noted: JsonObject): Place | undefined {
  const list = owned?.list;
  const id = list && itemIdentity(list.identity, noted);
  if (list === undefined || id === undefined || !Array.isArray(live)) return undefined;
  const position = indexItems(list.identity, live).get(id);
  if (position === undefined || !list.items.has(id)) return undefined;
  const wanted = Array.isArray(desired) ? desired : [];
  const wantedAt = indexItems(list.identity, wanted).get(id);
  return {
    live: live[position],
    desired: wantedAt === undefined ? undefined : wanted[wantedAt],
    owned: list.items.get(id),
    path: [...path, position],
  };
}

/** The annotation is on the provider's side, so it is read with suspicion. */
function readNote(live: KubeObject): readonly NotedPath[] {
  const text = member(live.metadata.annotations, EMPTY_LISTS_ANNOTATION);
  if (typeof text !== 'string' || text.length > MAX_NOTE_LENGTH) return [];
  let notes: JsonValue;
  try {
    notes = parseJson(text, { maxDepth: MAX_NOTE_DEPTH });
  } catch {
    return [];
  }
  if (!Array.isArray(notes)) return [];
  return notes
    .slice(0, MAX_EMPTY_LISTS)
    .map(readPath)
    .filter(([first]) => typeof first === 'string' && !NOT_PAYLOAD.has(first));
}

const NOT_PAYLOAD = new Set(['apiVersion', 'kind', 'metadata', 'status']);

function readPath(note: JsonValue): NotedPath {
  if (typeof note === 'string' && note.startsWith('/')) {
    const steps = note.slice(1).split('/');
    return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  if (!Array.isArray(note)) return [];
  const steps = note.filter((step) => typeof step === 'string' || isJsonObject(step));
  return steps.length === note.length && typeof steps.at(-1) === 'string' ? steps : [];
}

function isPlain(path: NotedPath): path is readonly string[] {
  return path.every((step) => typeof step === 'string');
}

function plainFields(item: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(item).filter(([, value]) => {
      if (typeof value === 'string') return value.length <= MAX_KEY_TEXT;
      return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint';
    }),
  );
}
