import { readBench } from '../harness/bench.js';
import { emptyBenchFolder, startBench } from '../harness/start-bench.js';
import { problemsOf, tableOf } from './report.js';
import { runSoak } from './run-soak.js';

/**
 * `make soak`: SOAK_MINUTES (10) of random faults and crashes on real servers; SOAK_SEED repeats the choices of a run.
 * Exit code 0: nothing lost, nothing duplicated, nothing foreign touched.
 */
const minutes = Number(process.env['SOAK_MINUTES'] ?? '10');
const seed = Number(process.env['SOAK_SEED'] ?? String(Date.now() % 2 ** 31));
if (!(minutes > 0) || !Number.isSafeInteger(seed))
  throw new Error('SOAK_MINUTES takes a number above 0, SOAK_SEED a whole number');
const say = (text: string): void => console.log(`soak: ${text}`);

const dir = `${process.cwd()}/.run/soak`;
const own = process.env['E2E_BENCH'] === undefined;
if (own) await emptyBenchFolder(dir);
const running = own ? await startBench(dir, say) : undefined;
try {
  const report = await runSoak({
    bench: running?.bench ?? readBench(),
    seed,
    seconds: minutes * 60,
    crashes: 100,
    say,
  });
  const problems = problemsOf(report);
  say(`${report.seconds} s, seed ${seed}\n${tableOf(report)}`);
  for (const problem of problems) say(`PROBLEM ${problem}`);
  say(problems.length === 0 ? 'clean' : `not clean; SOAK_SEED=${seed} repeats what was done`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await running?.stop();
}
