import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';

import { createHandshakeMetrics } from '../../src/handshake/handshake-metrics.js';
import { createReconcilerMetrics } from '../../src/reconcilers/metrics.js';
import { createWorkerMetrics } from '../../src/syncer/worker/worker-metrics.js';
import { createMetricsRegistry } from '../../src/telemetry/metrics.js';
import { createWatchMetrics } from '../../src/telemetry/watch-metrics.js';
import { createPoolMetrics } from './pool-metrics.js';

/** Names of all metrics of ours, those of a worker included, as a scrape shows them. */
async function namesInAScrape(): Promise<string[]> {
  const registry = createMetricsRegistry();
  const pool = createPoolMetrics(registry);
  createReconcilerMetrics(registry);
  createWatchMetrics(registry);
  createHandshakeMetrics(registry);
  pool.workerMetrics(1, await createWorkerMetrics().json());
  const text = await pool.render();
  return [...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1] ?? '').sort();
}

describe('every metric', () => {
  it('is explained in docs/operations.md, and nothing else is', async () => {
    const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const explained = [...page.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1] ?? '').sort();
    expect(explained).toEqual(await namesInAScrape());
  });
});
