import { describe, expect, it } from '@jest/globals';

import { readBench } from '../../harness/bench.js';
import { problemsOf, tableOf } from '../../soak/report.js';
import { runSoak } from '../../soak/run-soak.js';

/** The short form of `make soak`. */
describe('a hundred crashes at random points, with faults on both sides, while users work', () => {
  it('lose nothing, duplicate nothing and touch nothing foreign; SIGTERM takes less than ten seconds', async () => {
    const seed = Number(process.env['SOAK_SEED'] ?? String(Date.now() % 2 ** 31));
    const said: string[] = [];
    const report = await runSoak({
      bench: readBench(),
      seed,
      seconds: Number(process.env['SOAK_SECONDS'] ?? '90'),
      crashes: 100,
      say: (text) => said.push(text),
    });
    console.log(`seed ${seed}\n${tableOf(report)}`);
    expect(problemsOf(report)).toEqual([]);
    expect(report.kills + report.terminations).toBeGreaterThanOrEqual(100);
    expect(report.kills).toBeGreaterThan(3);
    expect(report.end.expected).toBeGreaterThan(10);
    expect(report.rounds).toBeGreaterThan(0);
    // The last one came under load, and with nothing else wrong.
    expect(report.drains.at(-1)).toMatchObject({ code: 0 });
  }, 1_200_000);
});
