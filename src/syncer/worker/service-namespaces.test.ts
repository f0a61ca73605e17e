import { afterEach, describe, expect, it } from '@jest/globals';
import { GVR } from '../../api/gvr.js';
import type { LogicalCluster } from '../../kube/object.js';
import { ManualClock } from '../../kube/testing/manual-clock.js';
import { followNamespaces } from './service-namespaces.js';
import { CONTRACT, FakeProvider } from './testing/fake-provider.js';

const provider = new FakeProvider();
const clock = new ManualClock();
const stop = new AbortController();
const heard: string[] = [];
const map = followNamespaces({
  contract: {
    client: provider.connect({ server: 'https://p', auth: { kind: 'none' } }),
    namespace: CONTRACT,
  },
  cluster: 'cluster-a' as LogicalCluster,
  clock,
  random: Math.random,
  silenceMs: 1000,
  signal: stop.signal,
});
map.subscribe((name) => heard.push(name));

afterEach(() => {
  heard.length = 0;
});

function put(name: string, namespace?: string, deletionTimestamp?: string): void {
  provider.put(
    GVR.serviceNamespaces,
    { namespace: CONTRACT, name },
    {
      metadata: deletionTimestamp === undefined ? {} : { deletionTimestamp },
      ...(namespace !== undefined && { status: { namespace } }),
    },
  );
}

describe('the map of namespaces', () => {
  it('follows what the provider says', async () => {
    put('a');
    await clock.advance(0);
    expect(map.synced).toBe(true);
    expect(map.providerNamespace('a')).toBeUndefined();
    put('a', 'x-a');
    await clock.advance(0);
    expect(map.providerNamespace('a')).toBe('x-a');
    expect(map.consumerNamespace('x-a')).toBe('a');
    expect(map.names()).toEqual(['a']);
    expect(heard).toEqual(['a', 'a']);
  });

  it('maps neither of two that claim one namespace', async () => {
    put('b', 'x-a');
    await clock.advance(0);
    expect([map.providerNamespace('a'), map.providerNamespace('b'), map.consumerNamespace('x-a')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    provider.remove(GVR.serviceNamespaces, { namespace: CONTRACT, name: 'b' });
    await clock.advance(0);
    expect(map.providerNamespace('a')).toBe('x-a');
  });

  it('has no place for what is being deleted, or for a name that is none', async () => {
    put('a', 'x-a', '2026-11-30T12:00:00Z');
    put('c', '../kube-system');
    await clock.advance(0);
    expect([map.providerNamespace('a'), map.providerNamespace('c')]).toEqual([undefined, undefined]);
  });

  it('ends with its signal', async () => {
    stop.abort();
    await map.stopped;
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });
});
