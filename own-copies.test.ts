import { describe, expect, it } from '@jest/globals';
import { BINDING_UID_LABEL, CLUSTER_LABEL, KUBE_BIND } from '../../../api/markers.js';
import type { KubeObject } from '../../../kube/object.js';
import { OwnCopies } from './own-copies.js';
import type { OwnCopiesOptions } from './own-copies.js';

const MARKS = { cluster: 'abc', contractNamespace: 'contract', bindingUid: 'b-1', bindingName: 'databases' };

function object(name: string, bindingUid?: string): KubeObject {
  const marks = bindingUid !== undefined && {
    labels: { [BINDING_UID_LABEL]: bindingUid },
    annotations: { [KUBE_BIND.clusterNamespace]: 'contract', [CLUSTER_LABEL]: 'abc' },
  };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'ns', ...marks } };
}

const OURS = object('ours', 'b-1');
const OTHERS = [object('users'), object('other-binding', 'b-2')];

interface World {
  readonly accepted: boolean;
  readonly mapped: boolean;
  readonly consumers: readonly KubeObject[] | 'unread';
  readonly consumersSynced: boolean;
  readonly copies: readonly KubeObject[];
  readonly copiesSynced: boolean;
}

function open(world: Partial<World>): OwnCopies {
  const { consumers = [], copies = [] } = world;
  const cache = (objects: readonly KubeObject[], synced = true): object => ({ all: () => objects, synced });
  const ends = {
    consumers: consumers === 'unread' ? undefined : cache(consumers, world.consumersSynced),
    copies: cache(copies, world.copiesSynced),
    // Only these members of the caches are read.
  } as OwnCopiesOptions['ends'];
  return new OwnCopies({
    ends,
    marks: MARKS,
    accepted: world.accepted ?? true,
    isMapped: () => world.mapped ?? true,
  });
}

describe('the copies that a binding made', () => {
  it.each<[string, Partial<World>, boolean]>([
    ['one is there', { consumers: [...OTHERS, OURS] }, true],
    ['only objects of others are there', { consumers: OTHERS }, false],
    ['nothing is there', {}, false],
    ['the workspace has not been listed', { consumersSynced: false }, true],
    ['the workspace is not read yet', { consumers: 'unread' }, true],
    ['there is no consent, so nothing can be let go', { accepted: false, consumers: 'unread' }, false],
  ])('in the workspace, left or not where %s', (_, world, expected) => {
    expect(open(world).isLeft('consumer')).toBe(expected);
  });

  it.each<[string, Partial<World>, boolean]>([
    ['one is there', { copies: [...OTHERS, OURS] }, true],
    ['one is there and the workspace is empty without consent', { accepted: false, copies: [OURS] }, true],
    ['only objects of others are there', { copies: OTHERS }, false],
    ['nothing is there', {}, false],
    ['the provider has not been listed', { copiesSynced: false }, true],
    ['the namespace is mapped no more', { copies: [OURS], mapped: false }, false],
  ])('on the provider, left or not where %s', (_, world, expected) => {
    expect(open(world).isLeft('provider')).toBe(expected);
  });

  it('are named with the side that they are on, and objects of others are not', () => {
    const own = open({ consumers: [...OTHERS, OURS], copies: [OURS, ...OTHERS] });
    expect(own.names('consumer')).toEqual(['ns/ours in the workspace']);
    expect(own.names('provider')).toEqual(['ns/ours on the provider']);
  });
});
