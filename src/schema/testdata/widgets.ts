import type { JsonObject } from '../../kube/json-value.js';

/** A bound schema's spec that uses all that a CRD can say. Made anew for each call, so tests may change it. */
export function widgets(): JsonObject {
  return {
    group: 'shop.example.com',
    informerScope: 'Namespaced',
    scope: 'Namespaced',
    names: {
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
      shortNames: ['wg'],
      categories: ['shop'],
    },
    conversion: { strategy: 'None' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: false,
        deprecated: true,
        deprecationWarning: 'use v1',
        schema: { openAPIV3Schema: widgetSchema() },
        subresources: { status: {} },
      },
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: widgetSchema() },
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          {
            name: 'Ready',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="Ready")].status',
            priority: 1,
          },
        ],
      },
    ],
  };
}

/** A bare JSON schema with every extension, defaults, enums and validation rules. */
export function widgetSchema(): JsonObject {
  return {
    type: 'object',
    description: 'A widget.',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: {
        type: 'object',
        'x-kubernetes-validations': [{ rule: 'self.replicas <= 9007199254740993', message: 'too many' }],
        properties: {
          description: { type: 'string', description: 'A property of that name.' },
          replicas: { type: 'integer', format: 'int64', default: 3, maximum: 9007199254740993n },
          port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
          size: { type: 'string', enum: ['small', 'large'], default: 'small', nullable: true },
          raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          template: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            'x-kubernetes-preserve-unknown-fields': true,
          },
          selector: {
            type: 'object',
            'x-kubernetes-map-type': 'atomic',
            additionalProperties: { type: 'string', not: { enum: ['forbidden'] } },
          },
          rules: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            items: {
              type: 'object',
              required: ['name'],
              properties: { name: { type: 'string' }, weight: { type: 'number', multipleOf: 0.1 } },
            },
          },
          tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          limits: {
            type: 'object',
            additionalProperties: { type: 'object', additionalProperties: { type: 'integer' } },
          },
        },
      },
      status: { type: 'object', properties: { replicas: { type: 'integer' } } },
    },
  };
}
