import { writeFile } from 'node:fs/promises';
import { register } from 'tsx/esm/api';

/**
 * Starts the real servers once, for all projects and suites. Jest loads this file natively, so the
 * TypeScript behind it goes through tsx. E2E_BENCH names servers that run already (`make bench-up`).
 */
export default async function globalSetup() {
  if (globalThis.runningBench || process.env.E2E_BENCH) return;
  const unregister = register();
  const { startSuiteBench } = await import('./start-suite-bench.ts');
  const dir = `${process.cwd()}/.run/e2e`;
  globalThis.runningBench = await startSuiteBench(dir, (text) => process.stderr.write(`e2e: ${text}\n`));
  await unregister();
  const file = `${dir}/bench.json`;
  await writeFile(file, JSON.stringify(globalThis.runningBench.bench));
  process.env.E2E_BENCH = file;
}
