import { describe, expect, it } from '@jest/globals';
import { generatedExportName } from '../../../src/api/names.js';
import type { ApiBinding, Binding } from '../typed-objects.js';
import { consentedClaims, expectedExport, needsApiBinding } from './generated-binding.js';

function binding(init: Partial<Binding['spec']> = {}, metadata: object = {}, status: object = {}): Binding {
  return {
    metadata: { name: 'cowboys', uid: 'u1', annotations: { 'kcp.io/cluster': 'c1' }, ...metadata },
    spec: { connection: 'west', template: 'cowboys', ...init },
    status,
  };
}

function apiBinding(init: object): ApiBinding {
  return { metadata: { name: 'x' }, spec: {}, ...init } as ApiBinding;
}

describe('a generated export', () => {
  const name = generatedExportName('c1', 'u1');
  const client = apiBinding({
    spec: {
      reference: { export: { path: 'root:kube-bind', name: 'kcp.kube-bind.io' } },
      permissionClaims: [
        { group: '', resource: 'secrets', state: 'Accepted' },
        { group: '', resource: 'namespaces', state: 'Accepted' },
        { group: '', resource: 'configmaps', state: 'Rejected' },
      ],
    },
    status: { apiExportClusterName: 'clientcluster' },
  });
  const shown = (apiExport: object): Binding => binding({}, {}, { apiExport });

  it('is bound when it is the one of this binding, at the client’s place', () => {
    expect(expectedExport(shown({ path: 'root:kube-bind', name }), client)).toEqual({
      path: 'root:kube-bind',
      name,
    });
    expect(expectedExport(shown({ path: 'clientcluster', name }), client)).toEqual({
      path: 'clientcluster',
      name,
    });
  });

  it.each([
    ['another place', { path: 'root:evil', name }],
    ['another name', { path: 'root:kube-bind', name: generatedExportName('c1', 'u2') }],
    ['another workspace’s name', { path: 'root:kube-bind', name: generatedExportName('c2', 'u1') }],
  ])('is not bound when the status names %s', (_name, apiExport) => {
    expect(() => expectedExport(shown(apiExport), client)).toThrow(/not the one generated/);
  });

  it('is bound by the plugin only for the missing claim, and not while the binding goes', () => {
    const conditions = [{ type: 'APIBound', status: 'False', reason: 'ClaimMissing' }];
    const waiting = binding({}, {}, { apiExport: { name }, conditions });
    expect(needsApiBinding(waiting)).toBe(true);
    expect(needsApiBinding(binding({}, { deletionTimestamp: 'now' }, waiting.status))).toBe(false);
    expect(needsApiBinding(binding({}, {}, { conditions }))).toBe(false);
  });

  it('gets only claims that were accepted in both places', () => {
    const bound = apiBinding({
      status: {
        exportPermissionClaims: [
          { group: 'apis.kcp.io', resource: 'apibindings', verbs: ['get', 'delete'] },
          { group: '', resource: 'secrets', verbs: ['get'] },
          { group: '', resource: 'configmaps', verbs: ['get'] },
          { group: '', resource: 'namespaces', verbs: ['get'] },
          { group: '', resource: 'serviceaccounts', verbs: ['get'] },
        ],
      },
    });
    const accepted = (...resources: string[]): Binding =>
      binding({
        permissionClaims: resources.map((resource) => ({ group: '', resource, state: 'Accepted' })),
      });
    const names = (given: Binding): string[] =>
      consentedClaims(bound, given, client).map(({ resource }) => resource);
    expect(names(accepted('secrets', 'configmaps', 'serviceaccounts'))).toEqual([
      'apibindings',
      'secrets',
      'namespaces',
    ]);
    expect(names(accepted())).toEqual(['apibindings']);
  });

  it('never gets more on APIBindings than what it needs to leave', () => {
    const greedy = apiBinding({
      status: {
        exportPermissionClaims: [{ group: 'apis.kcp.io', resource: 'apibindings', verbs: ['get', 'create'] }],
      },
    });
    expect(consentedClaims(greedy, binding(), client)).toEqual([]);
  });
});
