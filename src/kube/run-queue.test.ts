import { describe, expect, it } from '@jest/globals';
import { ApiError } from './errors.js';
import { runQueue } from './run-queue.js';
import type { QueueFailure } from './run-queue.js';
import { ManualClock, settle } from './testing/manual-clock.js';
import { WorkQueue } from './work-queue.js';

function rig() {
  const clock = new ManualClock();
  const queue = new WorkQueue<string>({ clock, random: () => 1, backoff: { baseMs: 100, maxMs: 1000 } });
  const stop = new AbortController();
  const failures: QueueFailure<string>[] = [];
  return {
    clock,
    queue,
    stop,
    failures,
    onError: (failure: QueueFailure<string>) => void failures.push(failure),
  };
}

describe('runQueue', () => {
  it('brings a failed key back with growing delay, and starts afresh after a success', async () => {
    const { clock, queue, stop, failures, onError } = rig();
    let calls = 0;
    const run = runQueue(queue, {
      concurrency: 2,
      signal: stop.signal,
      onError,
      handle: async () => {
        calls += 1;
        if (calls < 3) throw new Error('no');
      },
    });
    queue.add('a');
    await settle();
    await clock.advance(100);
    expect(calls).toBe(2);
    await clock.advance(200);
    expect(calls).toBe(3);
    expect(failures.map(({ retryInMs, failures: count }) => [retryInMs, count])).toEqual([
      [100, 1],
      [200, 2],
    ]);
    expect(queue.failures('a')).toBe(0);
    stop.abort();
    await run;
  });

  it('waits as long as the server asks (D11)', async () => {
    const { clock, queue, stop, failures, onError } = rig();
    let calls = 0;
    const handle = async () => {
      calls += 1;
      throw new ApiError({
        message: 'slow down',
        status: 429,
        reason: 'TooManyRequests',
        retryAfterMs: 20_000,
      });
    };
    const run = runQueue(queue, { concurrency: 1, signal: stop.signal, onError, handle });
    queue.add('a');
    await clock.advance(20_099);
    expect(calls).toBe(1);
    await clock.advance(1);
    expect(calls).toBe(2);
    expect(failures[0]?.retryInMs).toBe(20_100);
    stop.abort();
    await run;
  });

  it('comes back to a key when its handler asks for it', async () => {
    const { clock, queue, stop } = rig();
    let calls = 0;
    const handle = async () => {
      calls += 1;
      return { requeueAfterMs: 50 };
    };
    const run = runQueue(queue, { concurrency: 1, signal: stop.signal, handle });
    queue.add('a');
    await clock.advance(100);
    expect(calls).toBe(3);
    stop.abort();
    await run;
  });

  it('goes on when a handler throws at once and the listener throws too', async () => {
    const { queue, stop } = rig();
    const seen: string[] = [];
    const run = runQueue(queue, {
      concurrency: 1,
      signal: stop.signal,
      handle: (key) => {
        seen.push(key);
        if (key === 'bad') throw new Error('not even a promise');
        return Promise.resolve();
      },
      onError: () => {
        throw new Error('broken log');
      },
    });
    queue.add('bad');
    queue.add('good');
    await settle();
    expect(seen).toEqual(['bad', 'good']);
    stop.abort();
    await run;
  });

  it('on the signal begins nothing more, waits for running handlers, and reports none of their errors', async () => {
    const { queue, stop, failures, onError } = rig();
    const seen: string[] = [];
    const run = runQueue(queue, {
      concurrency: 1,
      signal: stop.signal,
      onError,
      handle: (key, signal) => {
        seen.push(key);
        return new Promise<void>((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted'))),
        );
      },
    });
    queue.add('a');
    queue.add('b');
    await settle();
    stop.abort();
    await run;
    expect(seen).toEqual(['a']);
    expect(failures).toEqual([]);
    expect(queue.processing).toBe(0);
  });
});
