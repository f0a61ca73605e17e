import { describe, expect, it } from '@jest/globals';
import type { ApiBinding } from '../typed-objects.js';
import { searchClientBinding } from './client-export.js';

function apiBinding(init: object): ApiBinding {
  return { metadata: { name: 'x' }, spec: {}, ...init } as ApiBinding;
}

describe('the APIBinding to the client export', () => {
  const reference = { path: 'root:kube-bind', name: 'kcp.kube-bind.io' };
  const to = (path: string | undefined, name: string, more: object = {}): ApiBinding =>
    apiBinding({
      metadata: { name: `to-${name}` },
      spec: { reference: { export: { path, name } } },
      ...more,
    });
  const serving = {
    status: { boundResources: [{ group: 'kcp.kube-bind.io', resource: 'kubebindconnections' }] },
  };

  it.each([
    ['by its reference', [to('root:kube-bind', 'kcp.kube-bind.io')], 'found'],
    [
      'by its reference, before one that only serves the kinds',
      [to('root:kube-bind', 'other', serving), to('root:kube-bind', 'kcp.kube-bind.io')],
      'found',
    ],
    ['elsewhere, by name', [to('abc', 'kcp.kube-bind.io')], 'elsewhere'],
    ['elsewhere, by what it serves', [to('root:x', 'renamed', serving)], 'elsewhere'],
    ['not among others', [to('root', 'tenancy.kcp.io')], 'absent'],
  ])('is found %s', (_name, bindings, kind) => {
    expect(searchClientBinding(bindings, reference).kind).toBe(kind);
  });

  it('is found where the place is given as a logical cluster’s name', () => {
    const bound = to('root:kube-bind', 'kcp.kube-bind.io', { status: { apiExportClusterName: 'abc' } });
    expect(searchClientBinding([bound], { ...reference, path: 'abc' }).kind).toBe('found');
  });

  it('gets a name that is free', () => {
    const taken = { ...to('root', 'tenancy.kcp.io'), metadata: { name: 'kcp.kube-bind.io' } };
    expect(searchClientBinding([taken], reference)).toEqual({
      kind: 'absent',
      name: 'kcp.kube-bind.io-client',
    });
  });
});
