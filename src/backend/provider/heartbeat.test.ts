import { describe, expect, it } from '@jest/globals';
import { GVR } from '../../api/gvr.js';
import type { JsonObject } from '../../kube/json-value.js';
import { ManualClock } from '../../kube/testing/manual-clock.js';
import { apiError, FakeProvider } from '../testing/fake-provider.js';
import { recordedObject } from '../testing/recorded.js';
import { beat, type Heartbeat } from './heartbeat.js';
import { timestamp } from './timestamp.js';

const MINUTE = 60_000;
const OURS: Heartbeat = {
  secret: { namespace: 'kube-bind', name: 'kubeconfig-ours' },
  version: 'v0.1.0',
  intervalMs: 5 * MINUTE,
};

function setUp(status?: JsonObject): {
  provider: FakeProvider;
  clock: ManualClock;
  status: () => JsonObject;
} {
  const provider = new FakeProvider();
  const { spec } = recordedObject('clusterbindings-v0.8.2');
  provider.put(GVR.clusterBindings, 'cluster', { spec, ...(status === undefined ? {} : { status }) });
  return {
    provider,
    clock: new ManualClock(Date.parse('2026-11-30T12:00:00.789Z')),
    status: () => provider.objects.get('clusterbindings/cluster')?.['status'] as JsonObject,
  };
}

/** A beat of somebody else, so many milliseconds ago. */
function foreign(clock: ManualClock, agoMs: number, extra: JsonObject = {}): JsonObject {
  return {
    lastHeartbeatTime: timestamp(clock.now() - agoMs),
    heartbeatInterval: '5m0s',
    consumerSecretRef: { namespace: 'kube-bind', name: 'kubeconfig-theirs' },
    ...extra,
  };
}

describe('beat', () => {
  it('writes what a konnector writes', async () => {
    const { provider, clock, status } = setUp();
    const outcome = await beat(provider.contract, OURS, { clock });
    expect(outcome).toEqual({ state: 'Beating', written: true, prettyName: 'BigCorp' });
    const lastTransitionTime = '2026-11-30T12:00:00Z';
    expect(status()).toEqual({
      lastHeartbeatTime: '2026-11-30T12:00:00Z',
      heartbeatInterval: '5m0s',
      konnectorVersion: 'v0.1.0',
      consumerSecretRef: OURS.secret,
      conditions: ['Ready', 'SecretValid', 'ValidVersion'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime,
      })),
    });
    expect(provider.patches[0]).toMatchObject({
      metadata: { uid: expect.anything(), resourceVersion: expect.anything() },
    });
  });

  it('writes again only after half an interval, or when something differs', async () => {
    const { provider, clock, status } = setUp();
    await beat(provider.contract, OURS, { clock });
    await clock.advance(2 * MINUTE);
    expect(await beat(provider.contract, OURS, { clock })).toMatchObject({ written: false });
    await clock.advance(MINUTE);
    expect(await beat(provider.contract, OURS, { clock })).toMatchObject({ written: true });
    expect(status()['lastHeartbeatTime']).toBe('2026-11-30T12:03:00Z');
    expect(provider.patches[1]).toMatchObject({ status: { lastHeartbeatTime: '2026-11-30T12:03:00Z' } });
    expect(await beat(provider.contract, { ...OURS, version: 'v2' }, { clock })).toMatchObject({
      written: true,
    });
  });

  it('keeps conditions of others', async () => {
    const { provider, clock, status } = setUp({
      conditions: [{ type: 'Healthy', status: 'False', severity: 'Warning', reason: 'R' }],
    });
    await beat(provider.contract, OURS, { clock });
    const types = (status()['conditions'] as JsonObject[]).map(({ type, status: value }) => [type, value]);
    expect(types).toEqual([
      ['Ready', 'False'],
      ['Healthy', 'False'],
      ['SecretValid', 'True'],
      ['ValidVersion', 'True'],
    ]);
  });

  it.each<[string, number, JsonObject, boolean]>([
    ['a fresh beat', 9 * MINUTE, {}, true],
    ['a beat two intervals old', 10 * MINUTE, {}, false],
    ['a fresh beat without a Secret', MINUTE, { consumerSecretRef: null }, true],
    ['a fresh beat with our Secret', MINUTE, { consumerSecretRef: OURS.secret }, false],
    ['a beat with a longer interval', 30 * MINUTE, { heartbeatInterval: '20m0s' }, true],
    ['a beat with an interval beyond reason', 3 * 60 * MINUTE, { heartbeatInterval: '9999h0m0s' }, false],
    ['a beat from a clock a little ahead', -5 * MINUTE, {}, true],
    ['a beat from far in the future', -60 * MINUTE, {}, false],
    ['a time that is none', 0, { lastHeartbeatTime: 'soon' }, false],
  ])('%s: somebody else is %p', async (_, ago, extra, stops) => {
    const { provider, clock } = setUp();
    provider.put(GVR.clusterBindings, 'cluster', { status: foreign(clock, ago, extra) });
    const outcome = await beat(provider.contract, OURS, { clock });
    expect(outcome.state).toBe(stops ? 'ForeignKonnector' : 'Beating');
    expect(provider.writes).toHaveLength(stops ? 0 : 1);
  });

  it('names the other one', async () => {
    const { provider, clock } = setUp();
    provider.put(GVR.clusterBindings, 'cluster', { status: foreign(clock, MINUTE) });
    expect(await beat(provider.contract, OURS, { clock })).toMatchObject({
      message: expect.stringContaining('kube-bind/kubeconfig-theirs'),
    });
  });

  it('tries again on the state that overtook it', async () => {
    const { provider, clock } = setUp();
    let conflicts = 1;
    provider.fault = (verb) => {
      if (verb !== 'patch' || conflicts-- <= 0) return undefined;
      provider.put(GVR.clusterBindings, 'cluster', { status: foreign(clock, 0) });
      return apiError(409, 'Conflict');
    };
    expect(await beat(provider.contract, OURS, { clock })).toMatchObject({ state: 'ForeignKonnector' });
  });

  it.each([
    ['without a ClusterBinding', 'get', 404],
    ['without the right to write', 'patch', 403],
  ])('fails in words %s', async (_, verb, status) => {
    const { provider, clock } = setUp();
    provider.fault = (at) =>
      at === verb ? apiError(status, status === 404 ? 'NotFound' : 'Forbidden') : undefined;
    expect(await beat(provider.contract, OURS, { clock })).toMatchObject({ state: 'HeartbeatFailed' });
  });

  it('leaves other errors to the caller', async () => {
    const { provider, clock } = setUp();
    provider.fault = () => apiError(401, 'Unauthorized');
    await expect(beat(provider.contract, OURS, { clock })).rejects.toMatchObject({ status: 401 });
  });
});
