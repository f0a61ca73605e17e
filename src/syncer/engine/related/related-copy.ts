import {
  BINDING_ANNOTATION,
  BINDING_UID_LABEL,
  CLUSTER_LABEL,
  COPIED_KEYS_ANNOTATION,
  KUBE_BIND,
} from '../../../api/markers.js';
import { parseJson, jsonEqual } from '../../../kube/json.js';
import { isJsonObject } from '../../../kube/json-value.js';
import type { JsonObject, JsonValue } from '../../../kube/json-value.js';
import type { KubeObject, ObjectName } from '../../../kube/object.js';
import { jsonDigest } from '../canonical-json.js';
import { travellingKeys } from '../desired-copy.js';
import type { CopyMarks } from '../desired-copy.js';
import { member } from '../field-access.js';
import type { RelatedKind } from './related-kinds.js';

/** One of the two servers. */
export type End = 'consumer' | 'provider';

export interface RelatedCopy {
  /** As it is to be created. */
  readonly object: KubeObject;
  readonly hash: string;
}

/** Longer notes of copied keys are not read. */
const MAX_NOTE = 512 * 1024;

/**
 * What the copy of a related object should be: the fields of its kind, labels and annotations but bookkeeping, and the
 * marks that prove whose copy it is.
 *
 * @param to the end that the copy lies at
 */
export function relatedCopy(
  original: KubeObject,
  { kind, to, target }: { readonly kind: RelatedKind; readonly to: End; readonly target: ObjectName },
  marks: CopyMarks,
): RelatedCopy {
  const labels = travellingKeys(original.metadata.labels);
  const annotations = travellingKeys(original.metadata.annotations);
  const { namespace = '', uid = '' } = original.metadata;
  const origin =
    to === 'provider'
      ? { [KUBE_BIND.consumerNamespace]: namespace, [KUBE_BIND.consumerUid]: uid }
      : { [KUBE_BIND.providerNamespace]: namespace, [KUBE_BIND.providerUid]: uid };
  const object: KubeObject = {
    ...payloadOf(original, kind),
    apiVersion: kind.gvr.version,
    kind: kind.kind,
    metadata: {
      name: target.name,
      ...(target.namespace !== undefined && { namespace: target.namespace }),
      labels: {
        ...labels,
        [BINDING_UID_LABEL]: marks.bindingUid,
        [KUBE_BIND.owner]: to === 'provider' ? 'consumer' : 'provider',
      },
      annotations: {
        ...annotations,
        ...origin,
        [KUBE_BIND.clusterNamespace]: marks.contractNamespace,
        [CLUSTER_LABEL]: marks.cluster,
        [BINDING_ANNOTATION]: marks.bindingName,
        [COPIED_KEYS_ANNOTATION]: noteOf({
          labels: Object.keys(labels).sort(),
          annotations: Object.keys(annotations).sort(),
        }),
      },
    },
  };
  return { object, hash: jsonDigest(object) };
}

/** What has to change in a copy; `content`: its fields, `metadata`: only labels and annotations. */
export type Difference = 'none' | 'metadata' | 'content';

export function differenceOf(live: KubeObject, desired: KubeObject, kind: RelatedKind): Difference {
  if (!jsonEqual(payloadOf(live, kind), payloadOf(desired, kind))) return 'content';
  const { labels, annotations } = mergedMetadata(live, desired);
  const same =
    jsonEqual(labels, live.metadata.labels ?? {}) && jsonEqual(annotations, live.metadata.annotations ?? {});
  return same ? 'none' : 'metadata';
}

/** True where no update can make the copy what it should be: its type differs, or it is immutable. */
export function needsNewObject(live: KubeObject, desired: KubeObject, kind: RelatedKind): boolean {
  const is = payloadOf(live, kind);
  const wanted = payloadOf(desired, kind);
  return is['type'] !== wanted['type'] || (is['immutable'] === true && !jsonEqual(is, wanted));
}

/** The live copy with everything put right that is ours; labels and annotations of others stay. For a PUT. */
export function updatedCopy(live: KubeObject, desired: KubeObject, kind: RelatedKind): KubeObject {
  const others = Object.entries(live).filter(([key]) => !kind.fields.includes(key));
  return {
    ...Object.fromEntries(others),
    ...payloadOf(desired, kind),
    apiVersion: desired.apiVersion,
    kind: desired.kind,
    metadata: { ...live.metadata, ...mergedMetadata(live, desired) },
  };
}

/** Stands for everything about a copy that the sync compares. */
export function stateOfCopy(live: KubeObject, kind: RelatedKind): string {
  const { labels, annotations } = live.metadata;
  return jsonDigest({ payload: payloadOf(live, kind), labels, annotations });
}

/** The fields that travel. Servers leave empty maps and lists out, and fill in a Secret's type. */
function payloadOf(object: KubeObject, { kind, fields }: RelatedKind): JsonObject {
  const entries: [string, JsonValue][] = [];
  for (const field of fields) {
    const value = member(object, field);
    if (value !== undefined && value !== null && !isEmpty(value)) entries.push([field, value]);
  }
  const payload = Object.fromEntries(entries);
  return kind === 'Secret' ? { ...payload, type: payload['type'] ?? 'Opaque' } : payload;
}

function isEmpty(value: JsonValue): boolean {
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}

function mergedMetadata(
  live: KubeObject,
  desired: KubeObject,
): { readonly labels: Record<string, string>; readonly annotations: Record<string, string> } {
  const copied = readNote(live.metadata.annotations);
  return {
    labels: merged(live.metadata.labels, desired.metadata.labels, copied.labels),
    annotations: merged(live.metadata.annotations, desired.metadata.annotations, copied.annotations),
  };
}

/** Theirs, without what came from the original before, and ours. */
function merged(
  live: Readonly<Record<string, string>> = {},
  desired: Readonly<Record<string, string>> = {},
  copied: ReadonlySet<string>,
): Record<string, string> {
  const theirs = Object.entries(live).filter(([key]) => !copied.has(key) && !Object.hasOwn(desired, key));
  return Object.fromEntries([...theirs, ...Object.entries(desired)]);
}

interface CopiedKeys<T> {
  readonly labels: T;
  readonly annotations: T;
}

function noteOf(keys: CopiedKeys<string[]>): string {
  return JSON.stringify([keys.labels, keys.annotations]);
}

function readNote(annotations: JsonValue | undefined): CopiedKeys<ReadonlySet<string>> {
  const text = member(annotations, COPIED_KEYS_ANNOTATION);
  const none = new Set<string>();
  if (typeof text !== 'string' || text.length > MAX_NOTE) return { labels: none, annotations: none };
  try {
    const note = parseJson(text, { maxDepth: 4 });
    const [labels, notes] = Array.isArray(note) ? note : [];
    return { labels: textSet(labels), annotations: textSet(notes) };
  } catch {
    // Somebody changed it; it is written anew.
    return { labels: none, annotations: none };
  }
}

function textSet(value: JsonValue | undefined): ReadonlySet<string> {
  return new Set(Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []);
}
