import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GVR } from '../../api/gvr.js';
import { KUBE_BIND } from '../../api/markers.js';
import { TransportError } from '../../kube/errors.js';
import { ManualClock, settle } from '../../kube/testing/manual-clock.js';
import { apiError, FakeProvider } from '../testing/fake-provider.js';
import { recordedObject } from '../testing/recorded.js';
import { runToEnd } from '../testing/run-to-end.js';
import { indexServiceNamespaces, mapServiceNamespace } from './namespace-mapping.js';
import {
  ensureServiceNamespace,
  removeServiceNamespace,
  requestServiceNamespace,
} from './service-namespace.js';

/** Maps `default` as soon as it was asked for. */
function backend(verbs: readonly string[]): FakeProvider {
  const provider = new FakeProvider();
  provider.react = (verb, gvr, name) => {
    if (verbs.includes(verb)) provider.put(gvr, name, { status: { namespace: `contract-${name}` } });
  };
  return provider;
}

async function run(provider: FakeProvider): Promise<[unknown, number]> {
  const clock = new ManualClock();
  const result = await runToEnd(clock, ensureServiceNamespace(provider.contract, 'default', { clock }));
  expect(clock.pending).toBe(0);
  return result;
}

const MAPPED = { state: 'mapped', providerNamespace: 'contract-default' };

describe('ensureServiceNamespace', () => {
  it('makes it without an owner, and follows it until it is mapped', async () => {
    const provider = backend(['watch']);
    expect(await run(provider)).toEqual([MAPPED, 0]);
    expect(provider.writes).toEqual(['create apiservicenamespaces/default']);
    const { metadata, spec } = provider.objects.get('apiservicenamespaces/default')!;
    expect([metadata.ownerReferences, metadata.namespace, spec]).toEqual([undefined, 'contract', {}]);
  });

  it('takes one that is mapped already', async () => {
    const provider = new FakeProvider();
    provider.put(GVR.serviceNamespaces, 'default', { status: { namespace: 'contract-default' } });
    expect(await run(provider)).toEqual([MAPPED, 0]);
    expect(provider.writes).toEqual([]);
  });

  it('reads again where the watch fails', async () => {
    const provider = new FakeProvider();
    provider.fault = (verb, gvr, name) => {
      if (verb !== 'watch') return undefined;
      provider.put(gvr, name, { status: { namespace: 'contract-default' } });
      return new TransportError('reset', 'reset');
    };
    expect(await run(provider)).toEqual([MAPPED, 500]);
  });

  it('is pending after the deadline, and another call goes on', async () => {
    const provider = new FakeProvider();
    expect(await run(provider)).toEqual([{ state: 'pending' }, 30_000]);
    provider.put(GVR.serviceNamespaces, 'default', { status: { namespace: 'contract-default' } });
    expect(await run(provider)).toEqual([MAPPED, 0]);
    expect(provider.writes).toHaveLength(1);
  });

  it('does not use one that is being deleted', async () => {
    const provider = backend([]);
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    provider.put(GVR.serviceNamespaces, 'default', { metadata, status: { namespace: 'contract-default' } });
    expect(await run(provider)).toEqual([{ state: 'terminating' }, 0]);
  });

  it('takes the one that somebody else made at the same time', async () => {
    const provider = new FakeProvider();
    provider.fault = (verb, gvr, name) => {
      if (verb === 'create') provider.put(gvr, name, { status: { namespace: 'contract-default' } });
      return undefined;
    };
    expect(await run(provider)).toEqual([MAPPED, 0]);
  });

  it('leaves a refusal to the caller', async () => {
    const provider = new FakeProvider();
    provider.fault = (verb) => (verb === 'create' ? apiError(403, 'Forbidden') : undefined);
    await expect(run(provider)).rejects.toMatchObject({ status: 403 });
  });

  it('stops when it is told to', async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const options = { clock, signal: stop.signal };
    const mapping = ensureServiceNamespace(new FakeProvider().contract, 'default', options);
    await settle();
    stop.abort(new Error('stopped'));
    await expect(mapping).rejects.toThrow('stopped');
    expect(clock.pending).toBe(0);
  });
});

describe('removeServiceNamespace', () => {
  it('removes one that we made', async () => {
    const provider = new FakeProvider();
    await requestServiceNamespace(provider.contract, 'default');
    expect(await removeServiceNamespace(provider.contract, 'default')).toBe('removed');
    expect(await removeServiceNamespace(provider.contract, 'default')).toBe('absent');
  });

  it.each([
    ['without our label', { labels: {} }],
    [
      'of the provider',
      { labels: { 'kcp.kube-bind.io/component': 'service-namespace', [KUBE_BIND.owner]: 'provider' } },
    ],
    [
      'of an export',
      {
        labels: { 'kcp.kube-bind.io/component': 'service-namespace' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'E', name: 'e', uid: 'u' }],
      },
    ],
  ])('leaves one %s', async (_, metadata) => {
    const provider = new FakeProvider();
    provider.put(GVR.serviceNamespaces, 'default', { metadata });
    expect(await removeServiceNamespace(provider.contract, 'default')).toBe('foreign');
    expect(provider.writes).toEqual([]);
  });

  it('never deletes one that was made meanwhile', async () => {
    const provider = new FakeProvider();
    await requestServiceNamespace(provider.contract, 'default');
    provider.fault = (verb) => (verb === 'delete' ? apiError(409, 'Conflict') : undefined);
    expect(await removeServiceNamespace(provider.contract, 'default')).toBe('absent');
  });
});

describe('namespace mappings', () => {
  const recorded = recordedObject('apiservicenamespaces-v0.8.2');
  const named = (name: string, namespace: unknown) => ({
    ...recorded,
    metadata: { name },
    status: { namespace: namespace as string },
  });

  it('are read from a recorded object', () => {
    expect(mapServiceNamespace(recorded)).toEqual({
      state: 'mapped',
      providerNamespace: `${recorded.metadata.namespace ?? ''}-default`,
    });
  });

  it.each([undefined, '', 7, 'a/b', '..', 'A', 'x'.repeat(64)])(
    'take %p for no namespace yet',
    (namespace) => {
      expect(mapServiceNamespace(named('a', namespace))).toEqual({ state: 'pending' });
    },
  );

  it('lead both ways', () => {
    const index = indexServiceNamespaces([named('a', 'p-a'), named('b', 'p-b'), named('c', undefined)]);
    expect([index.toProvider('a'), index.toConsumer('p-b'), index.toProvider('c')]).toEqual([
      'p-a',
      'b',
      undefined,
    ]);
  });

  it('of which two claim one namespace count neither way', () => {
    const all = ['a', 'b', 'c'].map((name) => named(name, 'shared'));
    for (const objects of [all, all.slice(0, 2)]) {
      const index = indexServiceNamespaces([...objects, named('d', 'own')]);
      expect(index.toConsumer('shared')).toBeUndefined();
      expect(objects.map(({ metadata }) => index.toProvider(metadata.name)).filter(Boolean)).toEqual([]);
      expect(index.toProvider('d')).toBe('own');
    }
  });

  it('lead back to where they came from', () => {
    const pairs = fc.array(
      fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('w', 'x', 'y', 'z')),
    );
    fc.assert(
      fc.property(pairs, (list) => {
        const objects = [...new Map(list)].map(([name, namespace]) => named(name, namespace));
        const index = indexServiceNamespaces(objects);
        for (const { metadata } of objects) {
          const there = index.toProvider(metadata.name);
          if (there !== undefined) expect(index.toConsumer(there)).toBe(metadata.name);
        }
      }),
    );
  });
});
