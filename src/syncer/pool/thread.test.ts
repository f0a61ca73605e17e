import { afterEach, describe, expect, it } from '@jest/globals';
import { createSystemClock } from '../../kube/system-clock.js';
import { silentLogger } from '../../telemetry/logger.js';
import type { SyncerPool } from '../protocol/pool.js';
import type { BindingReport } from '../protocol/report.js';
import { createSyncerPool } from './syncer-pool.js';
import { content, testOptions } from './testing/assignments.js';
import { spawnThreads } from './thread.js';

let pool: SyncerPool | undefined;
afterEach(async () => {
  await pool?.close();
  pool = undefined;
});

function startPool(silenceMs = 30_000): SyncerPool {
  pool = createSyncerPool({
    spawn: spawnThreads({
      url: new URL('testing/misbehaving-worker.mjs', import.meta.url),
      version: 'v0',
      logLevel: 'fatal',
      log: silentLogger(),
    }),
    options: testOptions,
    clock: createSystemClock(),
    random: Math.random,
    log: silentLogger(),
    limits: { heapMb: 16, externalBytes: 32 * 1024 * 1024, silenceMs, closeMs: 1000 },
    restart: { baseMs: 60_000, maxMs: 60_000 },
    metrics: {
      workers: () => undefined,
      workerFailed: () => undefined,
      messageDropped: () => undefined,
      workerMetrics: () => undefined,
    },
  });
  return pool;
}

function nextReport(of: SyncerPool, key: string): Promise<BindingReport | undefined> {
  return new Promise((resolve) => {
    const stop = of.onReport((reported) => {
      if (reported !== key) return;
      stop();
      resolve(of.report(key));
    });
  });
}

describe('real threads', () => {
  it('run without environment', async () => {
    const started = startPool();
    const reported = nextReport(started, 'a');
    started.assign(content('a', { bindingName: 'environment' }));
    expect(await reported).toMatchObject({ remaining: [], namespaces: ['1'] });
  });

  it.each([
    ['exit', 'ended with exit code 9'],
    ['throw', 'ended after an error that nothing handled'],
    ['loop', 'did not react'],
    ['heap', 'ran out of memory (limit 16 MiB)'],
    ['buffers', 'MiB of buffers (limit 32 MiB)'],
  ])('%s costs the binding its own thread only', async (name, words) => {
    const started = startPool(name === 'loop' ? 1500 : 30_000);
    const neighbour = nextReport(started, 'neighbour');
    started.assign(content('neighbour'));
    await neighbour;
    const failed = nextReport(started, 'bad');
    started.assign(content('bad', { bindingName: name }));
    const report = await failed;
    expect(report?.conditions.Syncing?.reason).toBe('WorkerFailed');
    expect(report?.conditions.Syncing?.message).toContain(words);
    expect(started.report('neighbour')?.conditions.Syncing).toBeUndefined();
  });
});
