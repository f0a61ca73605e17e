import { FIELD_MANAGER, SYNCER_FINALIZER } from '../../../api/markers.js';
import type { JsonObject } from '../../../kube/json-value.js';
import type { KubeObject, ObjectMeta } from '../../../kube/object.js';
import { EMPTY_MEMORY } from '../object-memory.js';
import { desiredCopy, payloadOf } from '../desired-copy.js';
import type { CopyMarks } from '../desired-copy.js';
import type { UpInput } from '../decide-up.js';
import type { SyncContext, SyncPolicies } from '../sync-context.js';
import { fieldSet, toFieldsV1 } from './model-fields.js';
import { METADATA, WIDGET } from './model-schema.js';

export const MARKS: CopyMarks = {
  cluster: '2xji7zd2596u6dvg',
  contractNamespace: 'cns',
  bindingUid: 'b-1',
  bindingName: 'widgets',
};

export const TARGET = { namespace: 'cns-ns', name: 'a' };

export function consumerObject(content: JsonObject = {}, metadata: Partial<ObjectMeta> = {}): KubeObject {
  return {
    apiVersion: 'example.org/v1',
    kind: 'Widget',
    metadata: {
      name: 'a',
      namespace: 'ns',
      uid: 'u-1',
      resourceVersion: '7',
      generation: 2,
      finalizers: [SYNCER_FINALIZER],
      ...metadata,
    },
    ...content,
  };
}

/** The copy of a consumer's object as a server stores it after our apply. */
export function copyOf(
  consumer: KubeObject,
  change: Partial<ObjectMeta> = {},
  content: JsonObject = {},
): KubeObject {
  const { object } = desiredCopy(consumer, TARGET, MARKS);
  return {
    ...object,
    ...content,
    metadata: {
      ...object.metadata,
      uid: 'c-1',
      resourceVersion: '90',
      generation: 5,
      managedFields: [entry(FIELD_MANAGER, 'Apply', object)],
      ...change,
    },
  };
}

/** A managedFields entry for everything in the object. */
export function entry(manager: string, operation: 'Apply' | 'Update', object: KubeObject): JsonObject {
  const { apiVersion } = object;
  const { labels = {}, annotations = {} } = object.metadata;
  const payload = payloadOf(object);
  const schema = {
    kind: 'struct' as const,
    fields: { metadata: METADATA, ...(WIDGET.kind === 'struct' ? WIDGET.fields : {}) },
  };
  const fieldsV1 = toFieldsV1(fieldSet({ ...payload, metadata: { labels, annotations } }, schema));
  return { manager, operation, apiVersion, fieldsType: 'FieldsV1', fieldsV1 };
}

export function context(
  change: { policies?: Partial<SyncPolicies>; rule?: Partial<SyncContext['rule']> } = {},
): SyncContext {
  return {
    rule: { scope: 'Namespaced', isolation: 'Prefixed', contractNamespace: 'cns', ...change.rule },
    namespaces: {
      providerNamespace: (name) => (name === 'ns' ? 'cns-ns' : undefined),
      consumerNamespace: (name) => (name === 'cns-ns' ? 'ns' : undefined),
    },
    marks: MARKS,
    policies: { conflict: 'Fail', deletion: 'Delete', paused: false, draining: false, ...change.policies },
  };
}

export function upInput(change: Partial<UpInput>): UpInput {
  return {
    consumer: consumerObject(),
    consumerLive: false,
    copy: { object: undefined, live: true },
    context: context(),
    memory: EMPTY_MEMORY,
    now: 1_000_000,
    ...change,
  };
}
