import type { Command } from 'commander';

/** Width at which the help is written, whatever the terminal. */
const WIDTH = 100;
const GLOBAL = 'Kubeconfig flags:';

/**
 * The pages of all commands as Markdown, made from the commands themselves: docs/reference/plugin-commands.md.
 *
 * @param program from `createProgram`
 */
export function renderReference(program: Command): string {
  const pages = [program, ...program.commands].map((command) => {
    const name = command === program ? 'kubectl kcp bind' : `kubectl kcp bind ${command.name()}`;
    return `## ${name}\n\n\`\`\`\n${helpOf(command, command === program)}\n\`\`\`\n`;
  });
  return [
    '# Commands of the plugin\n',
    'Made from the commands by `make reference`; what they do is told in the [plugin reference](plugin.md).',
    'Every command also takes the kubeconfig flags that the first page lists.\n',
    pages.join('\n'),
  ].join('\n');
}

function helpOf(command: Command, isRoot: boolean): string {
  command.configureHelp({ helpWidth: WIDTH, showGlobalOptions: false });
  const text = command.helpInformation().trimEnd();
  if (isRoot) return text;
  const start = text.indexOf(GLOBAL);
  return (start === -1 ? text : text.slice(0, start)).trimEnd();
}
