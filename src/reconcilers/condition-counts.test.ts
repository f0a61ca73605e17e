import { describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../kube/object.js';
import { countConditions } from './condition-counts.js';

const object = (...conditions: readonly (readonly [type: string, status: string, reason: string])[]) =>
  ({
    apiVersion: 'kcp.kube-bind.io/v1alpha1',
    kind: 'KubeBindBinding',
    metadata: { name: 'databases' },
    status: { conditions: conditions.map(([type, status, reason]) => ({ type, status, reason })) },
  }) as KubeObject;

describe('countConditions', () => {
  it('counts objects by condition, status and reason', () => {
    const objects = [
      object(['Ready', 'True', 'Ready'], ['Connected', 'True', 'Connected']),
      object(['Ready', 'True', 'Ready'], ['Connected', 'False', 'ProviderUnreachable']),
      object(['Ready', 'False', 'NotReady']),
      { ...object(), status: undefined } as unknown as KubeObject,
    ];
    expect(countConditions('binding', objects)).toEqual([
      { type: 'Ready', status: 'True', reason: 'Ready', count: 2 },
      { type: 'Connected', status: 'True', reason: 'Connected', count: 1 },
      { type: 'Connected', status: 'False', reason: 'ProviderUnreachable', count: 1 },
      { type: 'Ready', status: 'False', reason: 'NotReady', count: 1 },
    ]);
  });

  it('leaves out what nobody of us has written', () => {
    const objects = [
      object(['Ready', 'True', 'Invented'], ['Invented', 'True', 'Ready'], ['__proto__', 'True', 'Ready']),
    ];
    expect(countConditions('binding', objects)).toEqual([]);
    expect(countConditions('connection', objects)).toEqual([]);
  });
});
