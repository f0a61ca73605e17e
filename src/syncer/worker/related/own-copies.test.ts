import { describe, expect, it } from '@jest/globals';
import { ResourceStore } from '../../../kube/cache/store.js';
import type { KubeObject, LogicalCluster } from '../../../kube/object.js';
import { OwnCopies } from './own-copies.js';

const CLUSTER = 'abc' as LogicalCluster;
const MARKS = { contractNamespace: 'contract', cluster: CLUSTER, bindingName: 'b', bindingUid: 'uid-b' };

function copy(name: string, bindingUid = MARKS.bindingUid): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace: 'ns',
      uid: name,
      resourceVersion: '1',
      labels: { 'kcp.kube-bind.io/binding-uid': bindingUid },
      annotations: {
        'kube-bind.io/cluster-namespace': MARKS.contractNamespace,
        'kcp.kube-bind.io/cluster': CLUSTER,
      },
    },
  };
}

interface Side {
  /** Undefined: not listed yet. */
  readonly objects?: readonly KubeObject[];
}

function storeOf({ objects }: Side): ResourceStore {
  const store = new ResourceStore();
  const source = store.source('x', { kind: 'fixed', cluster: CLUSTER, strict: false });
  if (objects === undefined) return store;
  source.begin();
  source.page(objects);
  source.commit();
  return store;
}

function open(options: {
  readonly consumer?: Side | 'unread';
  readonly provider?: Side;
  readonly accepted?: boolean;
  readonly unmapped?: string;
}): OwnCopies {
  const { consumer = { objects: [] }, provider = { objects: [] }, accepted = true, unmapped } = options;
  return new OwnCopies({
    ends: {
      consumers: consumer === 'unread' ? undefined : storeOf(consumer),
      copies: storeOf(provider),
    },
    marks: MARKS,
    accepted,
    isMapped: ({ metadata }) => metadata.name !== unmapped,
  });
}

const foreign = copy('foreign', 'uid-of-another');

describe('copies that a binding has to let go', () => {
  it.each<[string, Parameters<typeof open>[0], boolean]>([
    ['are there while one is in the workspace', { consumer: { objects: [foreign, copy('a')] } }, true],
    ['may be there while the workspace was not listed', { consumer: {} }, true],
    ['may be there while the workspace is not read yet', { consumer: 'unread' }, true],
    ['are none of another binding', { consumer: { objects: [foreign] } }, false],
    ['cannot be let go without consent', { consumer: { objects: [copy('a')] }, accepted: false }, false],
  ])('%s', (_, options, left) => expect(open(options).isLeft('consumer')).toBe(left));

  it.each<[string, Parameters<typeof open>[0], boolean]>([
    ['are there while one is on the provider', { provider: { objects: [foreign, copy('a')] } }, true],
    ['are there without consent, too', { provider: { objects: [copy('a')] }, accepted: false }, true],
    ['may be there while the provider was not listed', { provider: {} }, true],
    ['are none of another binding on the provider', { provider: { objects: [foreign] } }, false],
    [
      'are out of reach where the namespace is mapped no more',
      { provider: { objects: [copy('a')] }, unmapped: 'a' },
      false,
    ],
    [
      'are there beside one that is out of reach',
      { provider: { objects: [copy('a'), copy('z')] }, unmapped: 'a' },
      true,
    ],
  ])('%s', (_, options, left) => expect(open(options).isLeft('provider')).toBe(left));

  it('are named with where they are', () => {
    const own = open({
      consumer: { objects: [copy('here'), foreign] },
      provider: { objects: [copy('there'), foreign] },
    });
    expect(own.names('consumer')).toEqual(['ns/here in the workspace']);
    expect(own.names('provider')).toEqual(['ns/there on the provider']);
    expect(open({ consumer: 'unread' }).names('consumer')).toEqual([]);
  });
});
