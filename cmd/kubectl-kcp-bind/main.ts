import { constants } from 'node:os';
import process from 'node:process';
import { createEffects } from './effects.js';
import { readEnvironment, type Environment } from './environment.js';
import { isForKcp, runKcpPlugin } from './passthrough.js';
import { renderError } from './error-report.js';
import { asPluginError } from './api-failure.js';
import { createColors } from './output/colors.js';
import { run } from './run.js';

async function main(): Promise<number> {
  const environment = readEnvironment();
  return isForKcp(environment.argv) ? handToKcp(environment) : runHere(environment);
}

async function handToKcp(environment: Environment): Promise<number> {
  // The child gets the terminal's signals itself; this process only waits for it.
  process.on('SIGINT', () => undefined);
  const listen = (deliver: (signal: NodeJS.Signals) => void): unknown => process.on('SIGTERM', deliver);
  try {
    return await runKcpPlugin(environment, constants.signals, listen);
  } catch (error) {
    const failure = asPluginError(error, '');
    environment.stderr.write(renderError(failure, createColors(environment.color), false));
    return failure.exitCode;
  }
}

async function runHere(environment: Environment): Promise<number> {
  const interrupt = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    // The second one does not wait for anything.
    if (interrupt.signal.aborted) process.exit(128 + constants.signals[signal]);
    interrupt.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  // Timers of the clock do not keep the process alive; this one does until the command has ended.
  const alive = setInterval(() => undefined, 60_000);
  try {
    return await run(environment, createEffects(environment.version), interrupt.signal);
  } finally {
    clearInterval(alive);
  }
}

// Not awaited at the top level: the bundle is no ES module (scripts/build.mjs).
void main().then((code) => {
  process.exitCode = code;
});
