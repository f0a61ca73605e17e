import { spawn } from 'node:child_process';
import type { Environment } from './environment.js';
import { PluginError } from './errors.js';
import { firstOperand } from './argv.js';

/** The words that this plugin itself knows after `kubectl kcp bind`. */
export const OWN_COMMANDS: ReadonlySet<string> = new Set([
  'cleanup',
  'completion',
  'doctor',
  'help',
  'install',
  'list',
  'login',
  'status',
  'templates',
  'unbind',
  'version',
]);

/**
 * Whether the command line is one of kcp's own `kubectl kcp bind …` (`apiexport`, `compute`, …): its first
 * operand is a bare word that is no command here. This plugin's name hides those from kubectl.
 */
export function isForKcp(argv: readonly string[]): boolean {
  const operand = firstOperand(argv);
  return operand !== undefined && /^[a-z][a-z0-9-]*$/.test(operand) && !OWN_COMMANDS.has(operand);
}

/**
 * Runs `kubectl-kcp bind …` with the same arguments, streams and environment.
 *
 * @param signals numbers of the platform's signals
 * @param listen is given what hands a signal to the child
 * @returns its exit code; 128 + n where signal n ended it
 * @throws PluginError KCP_PLUGIN_MISSING
 */
export async function runKcpPlugin(
  environment: Pick<Environment, 'argv' | 'variables'>,
  signals: Readonly<Record<string, number>>,
  listen: (deliver: (signal: NodeJS.Signals) => void) => void,
): Promise<number> {
  const child = spawn('kubectl-kcp', ['bind', ...environment.argv], {
    stdio: 'inherit',
    env: environment.variables,
  });
  listen((signal) => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(missing(environment.argv, cause)));
    child.once('close', (code, signal) => resolve(code ?? 128 + (signals[signal ?? ''] ?? 0)));
  });
}

function missing(argv: readonly string[], cause: unknown): PluginError {
  const word = firstOperand(argv) ?? '';
  return new PluginError({
    code: 'KCP_PLUGIN_MISSING',
    message: `${JSON.stringify(word)} is no command of kubectl kcp bind, and kcp's own plugin kubectl-kcp is not on the PATH`,
    remedy: `give a provider's URL (https://…) or one of ${[...OWN_COMMANDS].join(', ')}; for kcp's own commands install kubectl-kcp`,
    cause,
  });
}
