import { afterEach, describe, expect, it } from '@jest/globals';
import { expectReason } from '../../api/testing/expect-reason.js';
import { ManualClock, settle } from '../../kube/testing/manual-clock.js';
import { silentLogger } from '../../telemetry/logger.js';
import type { BindingReport, ConvertedSchema, ObjectEvent } from '../protocol/report.js';
import type { SyncerPool } from '../protocol/pool.js';
import type { SyncerPoolSettings } from './pool-settings.js';
import { createSyncerPool } from './syncer-pool.js';
import { content, testOptions } from './testing/assignments.js';
import { FakeWorker } from './testing/fake-worker.js';
import { DEFAULT_WORKER_LIMITS } from './worker-handle.js';

const CRASH = { code: 1, outOfMemory: true };

class Bench {
  readonly clock = new ManualClock();
  readonly workers: FakeWorker[] = [];
  readonly failures: string[] = [];
  readonly dropped: string[] = [];
  readonly reports: string[] = [];
  readonly events: ObjectEvent[] = [];
  readonly pool: SyncerPool;
  noThreads = false;

  constructor(settings: Partial<SyncerPoolSettings> = {}) {
    this.pool = createSyncerPool({
      spawn: (options) => {
        if (this.noThreads) throw new Error('EAGAIN');
        const worker = new FakeWorker(options);
        this.workers.push(worker);
        return worker;
      },
      options: testOptions,
      clock: this.clock,
      random: () => 0,
      log: silentLogger(),
      metrics: {
        workers: () => undefined,
        workerFailed: (cause) => this.failures.push(cause),
        messageDropped: (why) => this.dropped.push(why),
        workerMetrics: () => undefined,
      },
      ...settings,
    });
    this.pool.onReport((key) => this.reports.push(key));
    this.pool.onEvent((event) => this.events.push(event));
  }

  get alive(): FakeWorker[] {
    return this.workers.filter((worker) => worker.alive);
  }

  /** The thread that has the binding now. */
  of(key: string): FakeWorker {
    const worker = this.alive.find((each) => each.keys.includes(key));
    if (worker === undefined) throw new Error(`no worker has ${key}`);
    return worker;
  }

  /** Moves the clock while every living worker gives its pulse. */
  async live(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 2000) {
      for (const worker of this.alive) worker.pulse();
      await this.clock.advance(2000);
    }
  }
}

let bench = new Bench();
afterEach(async () => {
  for (const worker of bench.workers) worker.obedient = true;
  await bench.pool.close();
});

function syncing(key: string): string | undefined {
  return bench.pool.report(key)?.conditions.Syncing?.reason;
}

describe('assignments', () => {
  it('hands a new binding to a thread and says nothing again while nothing changed', () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    bench.pool.assign(content('a'));
    expect(bench.workers).toHaveLength(1);
    expect(bench.of('a').assignments('a')).toBe(1);
  });

  it('hands changed credentials to the same thread with a higher revision', () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    const first = bench.of('a').revisionOf('a');
    const { provider } = content('a');
    const credentials = { ...provider.credentials, auth: { kind: 'token', token: 'new' } } as const;
    bench.pool.assign(content('a', { provider: { ...provider, credentials } }));
    expect(bench.workers).toHaveLength(1);
    expect(bench.of('a').revisionOf('a')).toBeGreaterThan(first);
  });

  it('shows a report only when it is about the newest revision', () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    const worker = bench.of('a');
    worker.report('a', { left: true });
    expect(bench.pool.report('a')?.left).toBe(true);
    const old = worker.revisionOf('a');
    bench.pool.assign(content('a', { stage: 'drain' }));
    expect(bench.pool.report('a')).toBeUndefined();
    worker.report('a', { revision: old });
    expect(bench.pool.report('a')).toBeUndefined();
    worker.report('a', { drained: true });
    expect(bench.pool.report('a')?.drained).toBe(true);
    expect(bench.reports).toEqual(['a', 'a']);
  });

  it('gives a binding that was released and assigned again a revision that no late report fits', async () => {
    bench = new Bench({ maxWorkers: 1 });
    bench.pool.assign(content('other'));
    bench.pool.assign(content('a'));
    const old = bench.of('a').revisionOf('a');
    await bench.pool.release('a');
    bench.pool.assign(content('a'));
    expect(bench.of('a').revisionOf('a')).toBeGreaterThan(old);
  });
});

describe('schemas that a report leaves out', () => {
  const schema: ConvertedSchema = {
    group: 'g',
    resource: 'r',
    kind: 'K',
    scope: 'Cluster',
    versions: ['v1'],
    syncVersion: 'v1',
    contentHash: 'a'.repeat(64),
    specJson: '{}',
  };
  const figures = (key: string, revision: number): BindingReport => ({
    key,
    revision,
    conditions: {},
    sync: { objects: 5, pending: 0, failing: 0 },
    drained: false,
    left: false,
    remaining: [],
    namespaces: [],
  });

  it('are those of the last report of the same session', () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    const worker = bench.of('a');
    worker.report('a', { schemas: [schema] });
    worker.say({ type: 'report', report: figures('a', worker.revisionOf('a')), sameSchemas: true });
    expect(bench.pool.report('a')).toMatchObject({ schemas: [schema], sync: { objects: 5 } });
    worker.report('a');
    expect(bench.pool.report('a')?.schemas).toBeUndefined();
  });

  it('are never those of a session that has ended', async () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    bench.of('a').report('a', { schemas: [schema] });
    bench.of('a').exit(CRASH);
    await bench.live(2000);
    const worker = bench.of('a');
    worker.say({ type: 'report', report: figures('a', worker.revisionOf('a')), sameSchemas: true });
    expect(bench.pool.report('a')?.schemas).toBeUndefined();
  });
});

describe('release', () => {
  it('resolves when the worker has let go, and ends a thread that nobody needs', async () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    await bench.pool.release('a');
    await settle();
    expect(bench.alive).toHaveLength(0);
    expect(bench.pool.report('a')).toBeUndefined();
  });

  it('is fine with unknown keys', async () => {
    bench = new Bench();
    await expect(bench.pool.release('nobody')).resolves.toBeUndefined();
  });

  it('ends a thread that does not let go in time, and its other bindings start again', async () => {
    bench = new Bench({ maxWorkers: 1 });
    bench.pool.assign(content('a'));
    bench.pool.assign(content('b'));
    const stuck = bench.of('a');
    stuck.obedient = false;
    const released = bench.pool.release('a');
    await bench.clock.advance(DEFAULT_WORKER_LIMITS.closeMs);
    await released;
    expect(stuck.terminated).toBe(true);
    await bench.live(2000);
    expect(bench.of('b')).not.toBe(stuck);
  });

  it('starts a binding that is assigned while it is being released after the release only', async () => {
    bench = new Bench({ maxWorkers: 1 });
    bench.pool.assign(content('other'));
    bench.pool.assign(content('a'));
    const worker = bench.of('a');
    worker.obedient = false;
    const released = bench.pool.release('a');
    bench.pool.assign(content('a', { paused: true }));
    expect(worker.assignments('a')).toBe(1);
    worker.say({ type: 'released', key: 'a' });
    await released;
    expect(worker.assignments('a')).toBe(2);
  });
});

describe('bounded threads', () => {
  it('never runs more threads than allowed, even while bindings move', async () => {
    bench = new Bench({ maxWorkers: 3 });
    for (let i = 0; i < 12; i += 1) bench.pool.assign(content(`b${String(i)}`));
    expect(bench.alive).toHaveLength(3);
    for (let i = 0; i < 4; i += 1) {
      bench.alive[0]?.exit(CRASH);
      expect(bench.alive.length).toBeLessThanOrEqual(3);
      await bench.live(4000);
      expect(bench.alive.length).toBeLessThanOrEqual(3);
    }
    await bench.live(60_000);
    const placed = bench.alive.flatMap((worker) => worker.keys);
    expect(new Set(placed).size).toBe(12);
    expect(placed).toHaveLength(12);
  });

  it('waits with a new thread until one that is not needed any more has ended', async () => {
    bench = new Bench({ maxWorkers: 4 });
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    for (const key of keys) bench.pool.assign(content(key));
    for (const worker of bench.workers) worker.obedient = false;
    bench.of('a').exit(CRASH);
    await bench.clock.advance(2000);
    // Two new ones are wanted, and one that is to go has not let go yet.
    expect(bench.alive).toHaveLength(4);
    for (const worker of bench.workers) worker.obedient = true;
    for (const worker of bench.alive) {
      for (const message of worker.received) {
        if (message.type === 'release') worker.say({ type: 'released', key: message.key });
      }
    }
    await bench.live(4000);
    expect(bench.alive).toHaveLength(4);
    expect(bench.alive.flatMap((worker) => worker.keys).sort()).toEqual(keys);
  });

  it('tries again later when the system gives no thread', async () => {
    bench = new Bench();
    bench.noThreads = true;
    bench.pool.assign(content('a'));
    expect(bench.pool.report('a')?.conditions.Syncing).toMatchObject({
      status: 'False',
      reason: 'WorkerFailed',
    });
    bench.noThreads = false;
    await bench.live(2000);
    expect(bench.of('a').keys).toEqual(['a']);
  });
});

describe('supervision', () => {
  it.each([
    ['out of memory', { code: 1, outOfMemory: true }, 'ran out of memory (limit 512 MiB)'],
    ['an exit code', { code: 9, outOfMemory: false }, 'ended with exit code 9'],
    ['an unhandled rejection', { code: 70, outOfMemory: false }, 'unhandled rejection'],
    [
      'an uncaught error',
      { code: 1, outOfMemory: false, error: new Error('secret') },
      'an error that nothing',
    ],
  ])('shows %s as WorkerFailed and starts again', async (_name, exit, words) => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    bench.of('a').report('a', { namespaces: ['default'] });
    bench.of('a').exit(exit);
    const report = bench.pool.report('a');
    expectReason('binding/Syncing/WorkerFailed', report?.conditions.Syncing);
    expect(report?.conditions.Syncing?.status).toBe('False');
    expect(report?.conditions.Syncing?.message).toContain(words);
    expect(report?.conditions.Syncing?.message).not.toContain('secret');
    expect(report?.namespaces).toEqual(['default']);
    expect(bench.alive).toHaveLength(0);
    await bench.live(2000);
    bench.of('a').report('a');
    expect(syncing('a')).toBeUndefined();
  });

  it('waits longer after each death and starts small again after a calm time', async () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    const delays: number[] = [];
    const crash = async (): Promise<void> => {
      bench.of('a').exit(CRASH);
      delays.push(bench.clock.nextIn ?? 0);
      await bench.clock.advance(delays.at(-1) ?? 0);
    };
    for (let i = 0; i < 12; i += 1) await crash();
    await bench.live(610_000);
    await crash();
    expect(delays.slice(0, 4)).toEqual([1000, 2000, 4000, 8000]);
    expect(delays[11]).toBe(300_000);
    expect(delays[12]).toBe(1000);
  });

  it('moves the bindings of a dead shared thread to threads of their own', async () => {
    bench = new Bench({ maxWorkers: 4 });
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) bench.pool.assign(content(key));
    const pair = bench.of('a').keys;
    expect(pair.length).toBe(2);
    bench.of('a').exit(CRASH);
    await bench.live(6000);
    for (const key of pair) expect(bench.of(key).keys).toEqual([key]);
  });

  it('keeps good bindings away from one that killed its thread, until it has been calm for long', async () => {
    bench = new Bench({ maxWorkers: 2 });
    const cluster = content('a').cluster;
    bench.pool.assign(content('a'));
    bench.of('a').exit(CRASH);
    await bench.live(2000);
    for (const key of ['b', 'c']) bench.pool.assign(content(key, { cluster }));
    expect(bench.of('a').keys).toEqual(['a']);
    await bench.live(610_000);
    bench.pool.assign(content('d', { cluster }));
    expect(bench.of('a').keys).toEqual(['a', 'd']);
  });

  it('does not count progress of an older revision while there is no worker', () => {
    bench = new Bench();
    bench.pool.assign(content('a', { stage: 'drain' }));
    bench.of('a').report('a', { drained: true });
    bench.pool.assign(content('a', { stage: 'leave' }));
    bench.of('a').exit(CRASH);
    expect(bench.pool.report('a')).toMatchObject({ drained: false, left: false });
  });

  it('ends a thread without pulse after 30 s, and leaves one with a pulse alone', async () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    bench.pool.assign(content('b'));
    const [a, b] = [bench.of('a'), bench.of('b')];
    for (let i = 0; i < 20; i += 1) {
      b.pulse();
      await bench.clock.advance(2000);
    }
    expect(a.terminated).toBe(true);
    expect(bench.failures).toEqual(['unresponsive']);
    expect(b.terminated).toBe(false);
  });

  it('blames no worker for a time in which this process itself stood still', async () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    const worker = bench.of('a');
    const frozen = bench.clock.nextIn ?? 0;
    // A frozen process sees its timer late: all timers of two minutes fire at one time.
    const clock = bench.clock;
    const realNow = clock.now.bind(clock);
    clock.now = () => realNow() + 120_000;
    await clock.advance(frozen);
    expect(worker.terminated).toBe(false);
  });

  it('ends a thread whose buffers exceed the limit', () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    bench.of('a').pulse(DEFAULT_WORKER_LIMITS.externalBytes + 1);
    expect(bench.workers[0]?.terminated).toBe(true);
  });

  it('ends a thread that floods, and hears nothing of it afterwards', async () => {
    bench = new Bench({ limits: { messageBurst: 10, messagesPerSecond: 1, messagesPerBinding: 0 } });
    bench.pool.assign(content('a'));
    const worker = bench.of('a');
    for (let i = 0; i < 20; i += 1) worker.report('a', { namespaces: [String(i)] });
    expect(bench.pool.report('a')?.namespaces).toEqual(['9']);
    await settle();
    expect(bench.failures).toEqual(['flood']);
  });
});

describe('what a worker may say', () => {
  const event: ObjectEvent = {
    key: 'b',
    apiVersion: 'v1',
    kind: 'Cowboy',
    name: 'x',
    uid: 'u',
    type: 'Warning',
    reason: 'Pruned',
    message: 'm',
  };

  it('drops and counts what breaks the protocol', async () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    bench.of('a').sayAnything({ type: 'report', report: { key: 'a' } });
    expect(bench.dropped).toEqual(['invalid']);
    expect(bench.pool.report('a')).toBeUndefined();
    for (let i = 0; i < 100; i += 1) bench.workers[0]?.sayAnything(i);
    await settle();
    expect(bench.failures).toEqual(['flood']);
  });

  it('lets a worker speak about its own bindings only', () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    bench.pool.assign(content('b'));
    const revision = bench.of('b').revisionOf('b');
    bench.of('a').report('b', { revision, left: true });
    bench.of('a').say({ type: 'event', event });
    expect(bench.pool.report('b')).toBeUndefined();
    expect(bench.events).toEqual([]);
    expect(bench.dropped).toEqual(['foreign', 'foreign']);
    bench.of('b').say({ type: 'event', event });
    expect(bench.events).toEqual([event]);
  });

  it('cannot answer a revision that it was not given yet', () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    const worker = bench.of('a');
    worker.report('a', { revision: worker.revisionOf('a') + 1, left: true });
    bench.pool.assign(content('a', { stage: 'leave' }));
    expect(bench.pool.report('a')).toBeUndefined();
  });

  it('says nothing more once it is being ended', () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    const worker = bench.of('a');
    worker.pulse(DEFAULT_WORKER_LIMITS.externalBytes + 1);
    worker.report('a', { left: true });
    expect(bench.pool.report('a')).toBeUndefined();
  });
});

describe('close', () => {
  it('ends all threads, the stubborn ones by force after the deadline', async () => {
    bench = new Bench();
    bench.pool.assign(content('a'));
    bench.pool.assign(content('b'));
    bench.of('b').obedient = false;
    const closed = bench.pool.close();
    await bench.clock.advance(DEFAULT_WORKER_LIMITS.closeMs);
    await closed;
    expect(bench.alive).toHaveLength(0);
    expect(bench.clock.pending).toBe(0);
    bench.pool.assign(content('c'));
    expect(bench.workers).toHaveLength(2);
  });
});
