import { constants } from 'node:os';
import process from 'node:process';
import { createEffects } from './effects.js';
import { readEnvironment } from './environment.js';
import { isForKcp, runKcpPlugin } from './passthrough.js';
import { renderError } from './error-report.js';
import { asPluginError } from './api-failure.js';
import { createColors } from './output/colors.js';
import { run } from './run.js';

const environment = readEnvironment();

if (isForKcp(environment.argv)) {
  // The child gets the terminal's signals itself; this process only waits for it.
  process.on('SIGINT', () => undefined);
  const listen = (deliver: (signal: NodeJS.Signals) => void): unknown => process.on('SIGTERM', deliver);
  process.exitCode = await runKcpPlugin(environment, constants.signals, listen).catch((error: unknown) => {
    const failure = asPluginError(error, '');
    environment.stderr.write(renderError(failure, createColors(environment.color), false));
    return failure.exitCode;
  });
} else {
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
  process.exitCode = await run(environment, createEffects(environment.version), interrupt.signal);
  clearInterval(alive);
}
