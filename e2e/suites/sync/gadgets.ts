import { stringify } from 'yaml';

import type { Gvr } from '../../../src/api/gvr.js';
import type { JsonObject } from '../../../src/kube/json-value.js';

/** The kinds that these suites make for themselves, in a group of their own. */
export interface GadgetApi {
  readonly group: string;
  /** Name of the template that offers them. */
  readonly template: string;
  readonly gadgets: Gvr;
  /** No spec, no status subresource. */
  readonly memos: Gvr;
}

export function gadgetApi(name: string): GadgetApi {
  const group = `${name}.example.org`;
  return {
    group,
    template: name,
    gadgets: { group, version: 'v1', resource: 'gadgets' },
    memos: { group, version: 'v1', resource: 'memos' },
  };
}

const text = { type: 'string' };
const int64 = { type: 'integer', format: 'int64' };
const anything = { 'x-kubernetes-preserve-unknown-fields': true };

/** Something of everything that a schema may hold. */
const GADGET_SPEC: JsonObject = {
  type: 'object',
  properties: {
    title: text,
    /** Two defaults, one of them inside of list items. */
    mode: { ...text, default: 'auto' },
    injected: text,
    size: int64,
    ratio: { type: 'number' },
    note: { ...text, nullable: true },
    replicas: { type: 'integer', format: 'int32' },
    required: { type: 'object', properties: { on: { type: 'boolean' } } },
    tags: { type: 'object', additionalProperties: text },
    parts: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: text,
          count: { ...int64, default: 1 },
          color: text,
          options: { type: 'object', additionalProperties: text },
        },
      },
    },
    flags: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    steps: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        properties: {
          run: text,
          retries: { ...int64, default: 3 },
          args: { type: 'array', items: text },
        },
      },
    },
    sealed: {
      type: 'object',
      'x-kubernetes-map-type': 'atomic',
      properties: { left: text, right: text },
    },
    free: { type: 'object', ...anything },
  },
};

const GADGET: JsonObject = {
  type: 'object',
  properties: { spec: GADGET_SPEC, status: { type: 'object', ...anything } },
};

const MEMO: JsonObject = {
  type: 'object',
  properties: {
    data: { type: 'object', additionalProperties: text },
    lines: { type: 'array', items: text },
    amount: int64,
    free: { type: 'object', ...anything },
    status: { type: 'object', ...anything },
  },
};

function crd(group: string, kind: string, schema: JsonObject, subresources: JsonObject): JsonObject {
  const singular = kind.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}`, labels: { 'kube-bind.io/exported': 'true' } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural: `${singular}s`, singular },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources },
      ],
    },
  };
}

/** What the provider's administrator installs. */
export function gadgetManifests({ group, template }: GadgetApi): string {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  return [
    crd(group, 'Gadget', GADGET, { status: {}, scale }),
    crd(group, 'Memo', MEMO, {}),
    {
      apiVersion: 'kube-bind.io/v1alpha2',
      kind: 'APIServiceExportTemplate',
      metadata: { name: template },
      spec: {
        description: 'Kinds of the sync suites.',
        scope: 'Namespaced',
        resources: ['gadgets', 'memos'].map((resource) => ({ group, resource, versions: ['v1'] })),
      },
    },
  ]
    .map((manifest) => stringify(manifest))
    .join('---\n');
}
