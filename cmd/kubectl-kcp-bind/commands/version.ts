import type { CommandContext } from '../command-context.js';
import { EXIT_CODES } from '../exit-codes.js';

/** `kubectl kcp bind version`: needs no server. */
export async function version(context: CommandContext): Promise<number> {
  const { format } = context.report;
  const { version: text } = context.environment;
  if (format === 'json') context.environment.stdout.write(`${JSON.stringify({ version: text })}\n`);
  else if (format === 'yaml') context.environment.stdout.write(`version: ${JSON.stringify(text)}\n`);
  else context.environment.stdout.write(`kubectl-kcp-bind ${text}\n`);
  return EXIT_CODES.ok;
}
