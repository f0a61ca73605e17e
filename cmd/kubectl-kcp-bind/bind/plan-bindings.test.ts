import { describe, expect, it } from '@jest/globals';
import type { Binding, ClaimState } from '../typed-objects.js';
import { planBinding } from './plan-bindings.js';

function binding(init: Partial<Binding['spec']> = {}, metadata: object = {}, status: object = {}): Binding {
  return {
    metadata: { name: 'cowboys', uid: 'u1', annotations: { 'kcp.io/cluster': 'c1' }, ...metadata },
    spec: { connection: 'west', template: 'cowboys', ...init },
    status,
  };
}

describe('a wanted template', () => {
  const wanted = { template: 'cowboys', name: undefined, claims: undefined };
  const accepted: ClaimState[] = [{ group: '', resource: 'secrets', state: 'Accepted' }];
  it.each([
    ['is created where nothing is', [], wanted, 'create'],
    ['adopts a binding of any name', [binding({}, { name: 'other' })], wanted, 'adopt'],
    [
      'is created beside another connection’s',
      [binding({ connection: 'east' }, { name: 'other' })],
      wanted,
      'create',
    ],
    [
      'conflicts with another connection’s of its name',
      [binding({ connection: 'east' })],
      wanted,
      'conflict',
    ],
    ['conflicts with one that is leaving', [binding({}, { deletionTimestamp: 'now' })], wanted, 'conflict'],
    ['is made once more under --name', [binding()], { ...wanted, name: 'second' }, 'create'],
    ['changes consent', [binding()], { ...wanted, claims: accepted }, 'consent'],
    [
      'changes no consent that is the same',
      [binding({ permissionClaims: accepted })],
      { ...wanted, claims: accepted },
      'adopt',
    ],
  ])('%s', (_name, existing, given, kind) => {
    expect(planBinding(existing, 'west', given).kind).toBe(kind);
  });
});
