import { CommanderError } from 'commander';

import { readControllerConfig } from '../../src/config/controller-config.js';
import { createLogger } from '../../src/telemetry/logger.js';
import { VERSION } from './environment.js';
import { runController } from './run-controller.js';

/** Exit codes: 0 stopped by a signal, 1 cannot start or go on, 2 unusable flags. */
async function main(): Promise<number> {
  let config;
  try {
    config = readControllerConfig(process.argv.slice(2), { version: VERSION });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.invalidArgument') process.stderr.write(`error: ${error.message}\n`);
    return error.exitCode === 0 ? 0 : 2;
  }
  const log = createLogger({ level: config.logLevel, base: { version: VERSION } });
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals): void => {
    log.info({ signal }, 'stopping');
    stopping.abort();
    setTimeout(() => {
      log.error({ ms: config.drainMs }, 'not stopped in time; ending now');
      process.exit(1);
    }, config.drainMs).unref();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  try {
    await runController({ config, log, signal: stopping.signal, version: VERSION });
    return 0;
  } catch (error) {
    if (stopping.signal.aborted) return 0;
    log.fatal({ err: error }, error instanceof Error ? error.message : 'the controller ended');
    return 1;
  }
}

process.exit(await main());
