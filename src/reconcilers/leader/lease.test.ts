import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GVR } from '../../api/gvr.js';
import type { KubeClient } from '../../kube/client.js';
import { TransportError } from '../../kube/errors.js';
import { ManualClock, settle } from '../../kube/testing/manual-clock.js';
import { silentLogger } from '../../telemetry/logger.js';
import { fakeClient } from '../testing/fake-client.js';
import { FakeObjects } from '../testing/fake-objects.js';
import { at, textAt } from '../views.js';
import { fencedClient, NotLeaderError } from '../../kube/fenced-client.js';
import { Lease, microTime } from './lease.js';
import { runAsLeader } from './run-as-leader.js';

const TIMES = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };
const TARGET = { namespace: 'ns', name: 'lease' };

/** Several processes that share an API server; each has a clock of its own. */
class Cluster {
  readonly objects = new FakeObjects();

  client(isCut: () => boolean = () => false): KubeClient {
    const admit = (): void => {
      if (isCut()) throw new TransportError('cut off', 'connect');
    };
    return fakeClient(this.objects, 'client', { admit, gate: (write) => write() });
  }

  lease(
    identity: string,
    clock: ManualClock,
    options: { isCut?: () => boolean; monotonic?: () => number; onHeld?: (leftMs: number) => void } = {},
  ): Lease {
    const monotonic = options.monotonic ?? (() => clock.now());
    return new Lease({
      client: this.client(options.isCut),
      ...TARGET,
      identity,
      times: TIMES,
      clock,
      monotonic,
      ...(options.onHeld && { onHeld: options.onHeld }),
    });
  }

  get spec() {
    return at(this.objects.get(GVR.leases, 'client', TARGET.name, TARGET.namespace), 'spec');
  }
}

const never = new AbortController().signal;

describe('a lease', () => {
  it('is taken by the first, and not by the second while it is renewed', async () => {
    const [cluster, clock] = [new Cluster(), new ManualClock()];
    const [a, b] = [cluster.lease('a', clock), cluster.lease('b', clock)];
    expect(await a.tryHold(never)).toBe(true);
    for (let i = 0; i < 20; i++) {
      await clock.advance(2_000);
      expect(await a.tryHold(never)).toBe(true);
      expect(await b.tryHold(never)).toBe(false);
    }
    expect(cluster.spec).toMatchObject({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
    });
  });

  it('says for how long it is held, counted from before it was asked for, and that it is not', async () => {
    const [cluster, clock] = [new Cluster(), new ManualClock()];
    const told: number[] = [];
    const times = [0, 400, 400, 400];
    const a = cluster.lease('a', clock, {
      monotonic: () => times.shift() ?? 0,
      onHeld: (leftMs) => told.push(leftMs),
    });
    await a.tryHold(never);
    await a.release();
    const b = cluster.lease('b', clock, { onHeld: (leftMs) => told.push(leftMs) });
    await cluster.lease('c', clock).tryHold(never);
    await b.tryHold(never);
    expect(told).toEqual([TIMES.renewDeadlineMs - 400, 0, 0]);
  });

  it('goes to another one after the holder was silent for its duration, by the other one’s clock', async () => {
    const [cluster, clock] = [new Cluster(), new ManualClock()];
    // A clock that is an hour wrong makes no difference: only how long it has been watched counts.
    const other = new ManualClock(clock.now() + 3_600_000);
    const [a, b] = [cluster.lease('a', clock), cluster.lease('b', other)];
    await a.tryHold(never);
    expect(await b.tryHold(never)).toBe(false);
    await other.advance(14_999);
    expect(await b.tryHold(never)).toBe(false);
    await other.advance(1);
    expect(await b.tryHold(never)).toBe(true);
    expect(cluster.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it('is free at once when it was given back', async () => {
    const [cluster, clock] = [new Cluster(), new ManualClock()];
    const [a, b] = [cluster.lease('a', clock), cluster.lease('b', clock)];
    await a.tryHold(never);
    await b.tryHold(never);
    await a.release();
    expect(a.isHeld()).toBe(false);
    expect(await b.tryHold(never)).toBe(true);
  });

  it('is not given back by one that does not hold it', async () => {
    const [cluster, clock] = [new Cluster(), new ManualClock()];
    const [a, b] = [cluster.lease('a', clock), cluster.lease('b', clock)];
    await a.tryHold(never);
    await b.release();
    expect(textAt(cluster.spec, 'holderIdentity')).toBe('a');
  });

  it('is not held any more by a process that could not renew it, or that slept', async () => {
    const [cluster, clock] = [new Cluster(), new ManualClock()];
    const a = cluster.lease('a', clock);
    await a.tryHold(never);
    await clock.advance(9_999);
    expect(a.isHeld()).toBe(true);
    await clock.advance(1);
    expect(a.isHeld()).toBe(false);
  });

  it('is not kept by a wall clock that is put back', async () => {
    const [cluster, clock] = [new Cluster(), new ManualClock()];
    let monotonic = 0;
    const a = cluster.lease('a', clock, { monotonic: () => monotonic });
    await a.tryHold(never);
    monotonic = 10_000;
    expect(a.isHeld()).toBe(false);
  });

  it('writes times with six digits', () => {
    expect(microTime(Date.parse('2026-06-01T12:00:00.5Z'))).toBe('2026-06-01T12:00:00.500000Z');
  });

  it('has one holder at most, whatever is cut off and however long', async () => {
    const event = fc.record({
      who: fc.constantFrom(0, 1, 2),
      cut: fc.boolean(),
      ms: fc.integer({ min: 0, max: 6_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 40 }), async (events) => {
        const [cluster, clock] = [new Cluster(), new ManualClock()];
        const cut = [false, false, false];
        const leases = cut.map((_, i) => cluster.lease(`p${i}`, clock, { isCut: () => cut[i] === true }));
        for (const { who, cut: isCut, ms } of events) {
          cut[who] = isCut;
          await clock.advance(ms);
          await leases[who]?.tryHold(never).catch(() => undefined);
          expect(leases.filter((lease) => lease.isHeld()).length).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('running as leader', () => {
  function run(cluster: Cluster, identity: string, clock: ManualClock, isCut: () => boolean = () => false) {
    const stop = new AbortController();
    const log: string[] = [];
    const lease = cluster.lease(identity, clock, { isCut });
    const done = runAsLeader({
      lease,
      times: TIMES,
      clock,
      random: () => 0,
      log: silentLogger(),
      signal: stop.signal,
      onStarted: (signal) =>
        new Promise((resolve) => {
          log.push('started');
          signal.addEventListener('abort', () => {
            log.push(`stopped, held: ${String(lease.isHeld())}`);
            resolve();
          });
        }),
    });
    return { stop, log, done, lease };
  }

  it('starts once the lease is held, and gives it back when it is stopped', async () => {
    const [cluster, clock] = [new Cluster(), new ManualClock()];
    const a = run(cluster, 'a', clock);
    const b = run(cluster, 'b', clock);
    await clock.advance(30_000);
    expect([a.log, b.log]).toEqual([['started'], []]);
    a.stop.abort();
    expect(await a.done).toBe('stopped');
    expect(a.log).toEqual(['started', 'stopped, held: true']);
    await clock.advance(2_000);
    expect(b.log).toEqual(['started']);
    b.stop.abort();
    await b.done;
  });

  it('stops all work before anybody else can take over', async () => {
    const [cluster, clock] = [new Cluster(), new ManualClock()];
    let isCut = false;
    const a = run(cluster, 'a', clock, () => isCut);
    const b = run(cluster, 'b', clock);
    await clock.advance(4_000);
    isCut = true;
    await clock.advance(11_000);
    expect(await a.done).toBe('lost');
    expect(a.log).toEqual(['started', 'stopped, held: false']);
    expect(b.log).toEqual([]);
    await clock.advance(8_000);
    expect(b.log).toEqual(['started']);
    b.stop.abort();
    await b.done;
  });

  it('survives short troubles with the API', async () => {
    const [cluster, clock] = [new Cluster(), new ManualClock()];
    let isCut = false;
    const a = run(cluster, 'a', clock, () => isCut);
    await clock.advance(4_000);
    isCut = true;
    await clock.advance(7_000);
    isCut = false;
    await clock.advance(20_000);
    expect(a.log).toEqual(['started']);
    a.stop.abort();
    expect(await a.done).toBe('stopped');
  });

  it('stops waiting when it is told to', async () => {
    const [cluster, clock] = [new Cluster(), new ManualClock()];
    await cluster.lease('other', clock).tryHold(never);
    const a = run(cluster, 'a', clock);
    await settle();
    a.stop.abort();
    expect(await a.done).toBe('stopped');
    expect(a.log).toEqual([]);
  });
});

describe('a fenced client', () => {
  it('reads always and writes only with the lease, also below another path', async () => {
    const cluster = new Cluster();
    let mayWrite = false;
    const inner = { ...cluster.client(), at: () => cluster.client(), raw: async () => null };
    const client = fencedClient(inner, () => mayWrite);
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'ns' } };
    const target = { name: 's', namespace: 'ns' };
    const writes = [
      () => client.create(GVR.secrets, secret),
      () => client.replace(GVR.secrets, secret),
      () => client.patch(GVR.secrets, target, 'merge', {}),
      () => client.delete(GVR.secrets, target),
      () => client.raw('POST', '/x', {}),
      () => client.at('/x').create(GVR.secrets, secret),
    ];
    for (const write of writes) await expect(write()).rejects.toBeInstanceOf(NotLeaderError);
    await expect(client.list(GVR.secrets)).resolves.toMatchObject({ items: [] });
    await expect(client.raw('GET', '/x')).resolves.toBeNull();
    mayWrite = true;
    await expect(client.create(GVR.secrets, secret)).resolves.toMatchObject({ kind: 'Secret' });
  });
});
