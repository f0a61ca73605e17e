import { describe, expect, it } from '@jest/globals';
import {
  CREDENTIALS_LABEL,
  FORCE_RELEASE_ANNOTATION,
  KCP_CLUSTER_ANNOTATION,
} from '../../src/api/markers.js';
import { leanObject } from './lean-object.js';

const METADATA = {
  name: 'a',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '7',
  generation: 2,
  deletionTimestamp: '2026-01-01T00:00:00Z',
  finalizers: ['example.org/other'],
  labels: { [CREDENTIALS_LABEL]: 'true' },
  annotations: { [KCP_CLUSTER_ANNOTATION]: 'c', [FORCE_RELEASE_ANNOTATION]: 'true' },
};

describe('leanObject', () => {
  it('keeps all that decisions are made from', () => {
    const object = {
      apiVersion: 'kcp.kube-bind.io/v1alpha1',
      kind: 'KubeBindBinding',
      metadata: METADATA,
      spec: { connection: 'x' },
      status: { phase: 'Ready' },
    };
    expect(leanObject(object)).toEqual(object);
  });

  it('leaves out what a tenant can fill and nobody reads', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...METADATA,
        labels: { ...METADATA.labels, app: 'x', 'example.org/a': 'b' },
        annotations: { ...METADATA.annotations, 'example.org/big': 'x'.repeat(1000), plain: 'y' },
        managedFields: [{}],
        ownerReferences: [],
      },
      data: { kubeconfig: 'eA==' },
      type: 'Opaque',
    };
    expect(leanObject(object)).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: METADATA,
      type: 'Opaque',
    });
    expect(object.metadata.managedFields).toHaveLength(1);
    expect(leanObject({ ...object, kind: 'Other' })).toHaveProperty('data');
  });
});
