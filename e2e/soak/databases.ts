import type { KubeObject } from '../../src/kube/object.js';
import { isJsonObject } from '../../src/kube/json-value.js';

export const DATABASES = { group: 'example.org', version: 'v1', resource: 'databases' } as const;

export function database(name: string, sizeGiB: number, namespace = 'default'): KubeObject {
  return {
    apiVersion: 'example.org/v1',
    kind: 'Database',
    metadata: { name, namespace },
    spec: { engine: 'postgres', sizeGiB },
  };
}

/** UID of the consumer's object that a copy belongs to. */
export function consumerUid(copy: KubeObject): string | undefined {
  return copy.metadata.annotations?.['kube-bind.io/consumer-uid'];
}

export function sizeOf(object: KubeObject, part: 'spec' | 'status' = 'spec'): unknown {
  const value = object[part];
  return isJsonObject(value) ? value['sizeGiB'] : undefined;
}
