import { expect, it } from '@jest/globals';
import { planWatch } from './watch-plan.js';

const ours = { kind: 'labelled', labelSelector: 'kcp.kube-bind.io/binding-uid=b-1' };
const contract = { kind: 'namespace', namespace: 'cns' };
const mapped = { kind: 'mapped' };

it.each([
  ['Namespaced', 'Prefixed', 'Cluster', ours],
  ['Namespaced', 'Prefixed', 'Namespaced', mapped],
  ['Namespaced', 'None', 'Cluster', ours],
  ['Namespaced', 'None', 'Namespaced', mapped],
  ['Cluster', 'Prefixed', 'Cluster', ours],
  ['Cluster', 'Prefixed', 'Namespaced', ours],
  ['Cluster', 'Namespaced', 'Cluster', contract],
  ['Cluster', 'Namespaced', 'Namespaced', contract],
  ['Cluster', 'None', 'Cluster', ours],
] as const)(
  'a %s API with isolation %s and informer scope %s is watched without reading other consumers’ objects',
  (scope, isolation, informerScope, expected) =>
    expect(
      planWatch({ scope, isolation, informerScope }, { contractNamespace: 'cns', bindingUid: 'b-1' }),
    ).toEqual(expected),
);
