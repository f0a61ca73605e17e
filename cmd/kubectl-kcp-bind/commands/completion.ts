import type { CommandContext } from '../command-context.js';
import { usageError } from '../errors.js';
import { EXIT_CODES } from '../exit-codes.js';
import { OWN_COMMANDS } from '../passthrough.js';

const WORDS = [...OWN_COMMANDS].join(' ');

/** Completes the commands of the stand-alone binary; kubectl completes plugins by `kubectl_complete-kcp-bind`. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `complete -W '${WORDS}' kubectl-kcp-bind\n`,
  zsh: `#compdef kubectl-kcp-bind\n_arguments '1:command:(${WORDS})'\n`,
  fish: `complete -c kubectl-kcp-bind -f -n __fish_use_subcommand -a '${WORDS}'\n`,
};

/** `kubectl kcp bind completion bash|zsh|fish` */
export async function completion(context: CommandContext, operand: unknown): Promise<number> {
  const script = typeof operand === 'string' ? SCRIPTS[operand] : undefined;
  if (script === undefined) throw usageError('completion knows bash, zsh and fish', 'name one of them');
  context.environment.stdout.write(script);
  return EXIT_CODES.ok;
}
