import type { CommanderError } from 'commander';
import { asPluginError } from './api-failure.js';
import { normalizeArguments } from './argv.js';
import type { CommandContext, Effects, Session } from './command-context.js';
import type { Environment } from './environment.js';
import { renderError } from './error-report.js';
import { PluginError } from './errors.js';
import { EXIT_CODES } from './exit-codes.js';
import type { GlobalOptions } from './options.js';
import { createColors } from './output/colors.js';
import { formatElapsed } from './output/durations.js';
import { createProgress } from './output/progress.js';
import { createPrompt } from './output/prompt.js';
import { createReport } from './output/report.js';
import { createProgram, usageErrorFrom } from './program.js';

/**
 * Runs one command line and reports what went wrong on standard error.
 *
 * @param interrupt aborted by SIGINT and SIGTERM
 * @returns the exit code
 */
export async function run(
  environment: Environment,
  effects: Effects,
  interrupt: AbortSignal,
): Promise<number> {
  const colors = createColors(environment.color);
  let verbose = false;
  let exitCode: number = EXIT_CODES.ok;
  const program = createProgram({
    version: environment.version,
    writeOut: (text) => environment.stdout.write(text),
    invoke: async (globals, command) => {
      verbose = globals.verbose === true;
      exitCode = await runCommand({ environment, effects, globals, interrupt, command });
    },
  });
  try {
    await program.parseAsync(normalizeArguments(environment.argv), { from: 'user' });
    return exitCode;
  } catch (error) {
    const reported = isCommanderError(error) ? usageErrorFrom(error) : error;
    if (reported === undefined) return EXIT_CODES.ok;
    const failure = asPluginError(reported, 'the API server');
    environment.stderr.write(renderError(failure, colors, verbose));
    return failure.exitCode;
  }
}

interface Invocation {
  readonly environment: Environment;
  readonly effects: Effects;
  readonly globals: GlobalOptions;
  readonly interrupt: AbortSignal;
  readonly command: (context: CommandContext) => Promise<number>;
}

async function runCommand(invocation: Invocation): Promise<number> {
  const { environment, effects, globals, interrupt, command } = invocation;
  const colors = createColors(environment.color);
  const style = globals.quiet === true ? 'silent' : isLive(environment) ? 'live' : 'plain';
  const progress = createProgress({ output: environment.stderr, clock: effects.clock, colors, style });
  const stop = new AbortController();
  let remaining = '';
  const end = (code: 'INTERRUPTED' | 'TIMEOUT', what: string): void =>
    stop.abort(
      new PluginError({
        code,
        message: remaining === '' ? what : `${what}: ${remaining}`,
        remedy: 'run the same command again; it goes on where this one ended',
      }),
    );
  const interrupted = (): void => end('INTERRUPTED', 'interrupted');
  interrupt.addEventListener('abort', interrupted, { once: true });
  if (interrupt.aborted) interrupted();
  let cancelLimit: (() => void) | undefined;
  let session: Promise<Session> | undefined;
  const context: CommandContext = {
    environment,
    effects,
    globals,
    report: createReport(environment, { format: globals.output, quiet: globals.quiet === true, progress }),
    prompt: createPrompt(environment, () => progress.pause()),
    signal: stop.signal,
    session: () =>
      (session ??= import('./kubeconfig/open-session.js').then(({ openSession }) =>
        openSession(environment, effects, globals, stop.signal),
      )),
    limit: (ms) => {
      cancelLimit?.();
      cancelLimit = effects.clock.after(ms, () => end('TIMEOUT', `not done after ${formatElapsed(ms)}`));
    },
    remains: (text) => {
      remaining = text;
    },
  };
  try {
    return await command(context);
  } catch (error) {
    // Whatever a cut-off request reports, the cause is the time or the user.
    if (stop.signal.aborted) throw stop.signal.reason;
    const server = await session?.then((open) => open.address.server).catch(() => undefined);
    throw asPluginError(error, server ?? 'the API server');
  } finally {
    progress.close();
    cancelLimit?.();
    interrupt.removeEventListener('abort', interrupted);
    await session?.then((open) => open.client.close()).catch(() => undefined);
  }
}

function isLive(environment: Environment): boolean {
  return environment.stderr.isTerminal && environment.variables['TERM'] !== 'dumb';
}

function isCommanderError(error: unknown): error is CommanderError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('commander.');
}
