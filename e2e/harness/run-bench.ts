import { writeFile } from 'node:fs/promises';

import { startSuiteBench } from './start-suite-bench.js';

/**
 * `make bench-up`: keeps the servers of the end-to-end suites running until Ctrl-C, so that suites can be run again and
 * again against them: `E2E_BENCH=<file that it prints> make e2e SUITE=name`.
 */
const dir = `${process.cwd()}/.run/bench-${process.pid}`;
const running = await startSuiteBench(dir, (text) => console.log(`bench: ${text}`));
const file = `${dir}/bench.json`;
await writeFile(file, JSON.stringify(running.bench));
console.log(`bench: ready; in another terminal:\n  E2E_BENCH=${file} make e2e SUITE=demo`);
const stop = () => void running.stop().then(() => process.exit(0));
process.once('SIGINT', stop);
process.once('SIGTERM', stop);
setInterval(() => undefined, 1 << 30);
