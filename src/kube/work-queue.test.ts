import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ManualClock, settle } from './testing/manual-clock.js';
import { WorkQueue } from './work-queue.js';
import type { WorkQueueOptions } from './work-queue.js';

function queueWith(options: Partial<WorkQueueOptions<string>> = {}) {
  const clock = new ManualClock();
  return { clock, queue: new WorkQueue<string>({ clock, random: () => 1, ...options }) };
}

const byCluster = (key: string): string => key.split('|')[0] ?? '';

describe('WorkQueue', () => {
  it('hands out a key once, however often it was added', async () => {
    const { queue } = queueWith();
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    expect([await queue.get(), await queue.get()]).toEqual(['a', 'b']);
    expect(queue.length).toBe(0);
  });

  it('hands out a key again only after done, when it was added while being worked on', async () => {
    const { queue } = queueWith();
    queue.add('a');
    await queue.get();
    queue.add('a');
    let again: string | undefined;
    void queue.get().then((key) => (again = key));
    await settle();
    expect(again).toBeUndefined();
    queue.done('a');
    await settle();
    expect(again).toBe('a');
  });

  it('wakes one waiting taker for each key', async () => {
    const { queue } = queueWith();
    const takers = [queue.get(), queue.get()];
    queue.add('a');
    queue.add('b');
    expect(await Promise.all(takers)).toEqual(['a', 'b']);
  });

  it('adds later at the earliest of several times', async () => {
    const { queue, clock } = queueWith();
    queue.addAfter('a', 500);
    queue.addAfter('a', 100);
    queue.addAfter('a', 300);
    await clock.advance(99);
    expect(queue.length).toBe(0);
    await clock.advance(1);
    expect(queue.length).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it.each([0, -1, Number.NaN])('adds at once for a delay of %p', (ms) => {
    const { queue } = queueWith();
    queue.addAfter('a', ms);
    expect(queue.length).toBe(1);
  });

  it('grows the back-off of each key on its own, until forget', () => {
    const { queue } = queueWith({ backoff: { baseMs: 100, maxMs: 350 } });
    expect([1, 2, 3, 4].map(() => queue.addRateLimited('a'))).toEqual([100, 200, 350, 350]);
    expect(queue.addRateLimited('b')).toBe(100);
    expect(queue.failures('a')).toBe(4);
    queue.forget('a');
    expect(queue.addRateLimited('a', 20_000)).toBe(20_100);
  });

  it('ends takers, drops timers and takes nothing more on shutdown', async () => {
    const { queue, clock } = queueWith();
    const taker = queue.get();
    queue.addAfter('later', 1000);
    queue.shutDown();
    queue.add('x');
    queue.addAfter('y', 5);
    queue.addRateLimited('z');
    expect(await taker).toBeUndefined();
    expect(await queue.get()).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it('drains: hands out what waits and resolves when all came back, re-added keys included', async () => {
    const { queue } = queueWith();
    queue.add('a');
    queue.add('b');
    await queue.get();
    queue.add('a');
    let drained = false;
    const end = queue.drain().then(() => (drained = true));
    queue.done('a');
    expect(await queue.get()).toBe('b');
    queue.done('b');
    await settle();
    expect(drained).toBe(false);
    expect(await queue.get()).toBe('a');
    queue.done('a');
    await end;
    expect(await queue.get()).toBeUndefined();
  });

  it('lets groups take turns, so that ten thousand keys of one delay another by one (W08)', async () => {
    const { queue } = queueWith({ groupOf: byCluster });
    for (let index = 0; index < 10_000; index += 1) queue.add(`loud|${index}`);
    queue.add('quiet|1');
    queue.add('quiet|2');
    const first: unknown[] = [];
    for (let index = 0; index < 4; index += 1) first.push(await queue.get());
    expect(first).toEqual(['loud|0', 'quiet|1', 'loud|1', 'quiet|2']);
  });

  it('keeps one group from taking every worker', async () => {
    const { queue } = queueWith({ groupOf: byCluster, maxProcessingPerGroup: 2 });
    for (const key of ['slow|1', 'slow|2', 'slow|3']) queue.add(key);
    const taken = [await queue.get(), await queue.get()];
    const third = queue.get();
    queue.add('other|1');
    expect(taken).toEqual(['slow|1', 'slow|2']);
    expect(await third).toBe('other|1');
    queue.done('slow|2');
    expect(await queue.get()).toBe('slow|3');
  });

  it('keeps its promises in any order of calls', async () => {
    const key = fc.constantFrom('a|1', 'a|2', 'a|3', 'b|1', 'c|1');
    const call = fc.constantFrom(
      'add' as const,
      'later' as const,
      'get' as const,
      'done' as const,
      'pass' as const,
    );
    const steps = fc.array(fc.record({ call, key }), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(1, 2, Number.POSITIVE_INFINITY), async (calls, limit) => {
        const model = new QueueModel(limit);
        for (const step of calls) await model.run(step.call, step.key);
        await model.finish();
        // Whatever was added came out in the end, and no rule was broken on the way.
        expect({ wanted: [...model.wanted], violations: model.violations }).toEqual({
          wanted: [],
          violations: [],
        });
      }),
      { numRuns: 200 },
    );
  });
});

/** Drives a queue and keeps book of what it may hand out. */
class QueueModel {
  readonly wanted = new Set<string>();
  readonly violations: string[] = [];
  readonly #asked = new Map<string, number>();
  readonly #out = new Set<string>();
  readonly #limit: number;
  readonly #clock;
  readonly #queue;

  constructor(limit: number) {
    this.#limit = limit;
    const { clock, queue } = queueWith({ groupOf: byCluster, maxProcessingPerGroup: limit });
    this.#clock = clock;
    this.#queue = queue;
  }

  async run(call: 'add' | 'later' | 'get' | 'done' | 'pass', key: string): Promise<void> {
    if (call === 'add' || call === 'later') {
      this.wanted.add(key);
      this.#asked.set(key, (this.#asked.get(key) ?? 0) + 1);
      if (call === 'add') this.#queue.add(key);
      else this.#queue.addAfter(key, 10);
    } else if (call === 'get') {
      void this.#queue.get().then((taken) => this.#taken(taken ?? 'nothing'));
    } else if (call === 'done') this.#giveBack(1);
    else await this.#clock.advance(10);
    await Promise.resolve();
  }

  async finish(): Promise<void> {
    for (let round = 0; round < 100 && this.wanted.size > 0; round += 1) {
      await this.run('get', '');
      await this.#clock.advance(10);
      this.#giveBack(Number.POSITIVE_INFINITY);
    }
  }

  #giveBack(atMost: number): void {
    for (const key of [...this.#out].slice(0, atMost)) {
      this.#out.delete(key);
      this.#queue.done(key);
    }
  }

  #taken(key: string): void {
    // Never the same key at two places, and never more often than it was asked for.
    const asks = this.#asked.get(key) ?? 0;
    if (this.#out.has(key) || asks === 0) this.violations.push(key);
    this.#asked.set(key, asks - 1);
    this.wanted.delete(key);
    this.#out.add(key);
    const group = [...this.#out].filter((other) => byCluster(other) === byCluster(key));
    if (group.length > this.#limit) this.violations.push(`${key}: group over its limit`);
  }
}
