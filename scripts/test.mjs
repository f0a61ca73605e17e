/**
 * `make test`: static checks and unit tests while the real programs are being built, then the end-to-end
 * suites, at last those that run alone. Everything runs, whatever failed before it; the last line is `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { ALONE, BY_NAME } from '../jest.e2e.config.mjs';
import { installNode24 } from './tools.mjs';

const RESULTS = '.run/results';
const VM = '--experimental-vm-modules';
const JEST = 'node_modules/jest/bin/jest.js';

let passed = 0;
let failed = 0;
const started = Date.now();
const elapsed = (since) => `${Math.round((Date.now() - since) / 1000)} s`;

function run(command, args, env = {}) {
  return new Promise((done) => {
    const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
    child.on('error', () => done(127));
    child.on('close', (code) => done(code ?? 1));
  });
}

/** One command that passes or fails as a whole. */
async function check(name, command, args) {
  const start = Date.now();
  console.log(`\n== ${name}`);
  const code = await run(command, args);
  if (code === 0) passed += 1;
  else failed += 1;
  console.log(`== ${name}: ${code === 0 ? 'ok' : `FAILED (exit code ${code})`}, ${elapsed(start)}`);
  return code === 0;
}

/** A jest run, counted test by test. A suite that could not even start counts as one failure. */
async function jest(name, node, config, more = []) {
  const start = Date.now();
  const output = `${RESULTS}/${name.replaceAll(' ', '-')}.json`;
  console.log(`\n== ${name}`);
  const args = [VM, JEST, '--config', config, '--json', `--outputFile=${output}`, ...more];
  const code = await run(node, args, { NODE_OPTIONS: '' });
  const result = await readFile(output, 'utf8').then(JSON.parse, () => undefined);
  const good = result?.numPassedTests ?? 0;
  const bad = (result?.numFailedTests ?? 0) + (result?.numRuntimeErrorTestSuites ?? 0);
  passed += good;
  failed += bad > 0 || code === 0 ? bad : 1;
  if (code === 0 && good === 0) failed += 1;
  console.log(`== ${name}: ${good} passed, ${bad} failed, ${elapsed(start)}`);
}

await rm(RESULTS, { recursive: true, force: true });
await mkdir(RESULTS, { recursive: true });

const tools = run('node', ['scripts/tools.mjs']);
await check('generated files', 'node', ['scripts/generate-types.mjs', '--check']);
await check('types', 'npm', ['run', '-s', 'typecheck']);
await check('eslint', 'npx', ['eslint', '.']);
await check('prettier', 'npx', ['prettier', '--check', '--log-level', 'warn', '.']);
await check('unused code', 'npx', ['knip']);
await jest('unit tests', process.execPath, 'jest.config.mjs');
const node24 = await installNode24().catch((error) => {
  failed += 1;
  console.log(`== Node 24 could not be installed: ${error.message}`);
});
if (node24) await jest('unit tests on Node 24', node24, 'jest.config.mjs');

const built = await check('bundles', 'node', ['scripts/build.mjs']);
console.log('\n== waiting for the real programs');
if ((await tools) !== 0) {
  failed += 1;
  console.log('== the real programs could not be built: no end-to-end suite was run');
} else if (built) {
  const suites = (name, selection) => jest(name, process.execPath, 'jest.e2e.config.mjs', selection);
  await suites(
    'end to end',
    [...ALONE, ...BY_NAME].map((suite) => `--ignoreProjects=${suite}`),
  );
  // Dozens of bindings each, and minutes of silence: beside others they would only slow each other down.
  await suites('end to end, one by one', [
    '--maxWorkers=1',
    ...ALONE.map((suite) => `--selectProjects=${suite}`),
  ]);
}

console.log(`\n${elapsed(started)} in all`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
