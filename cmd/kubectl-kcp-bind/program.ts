import { Command, Option, type CommanderError } from 'commander';
import type { CommandContext } from './command-context.js';
import { usageError } from './errors.js';
import { addBindFlags, addDryRun, addLoginFlags, off, on, withGlobals } from './flag-definitions.js';
import { readGlobalOptions } from './flag-values.js';
import type { FlagValues, GlobalOptions } from './options.js';

/** Runs one command with its flags; made by `run.ts`. */
type Invoke = (
  globals: GlobalOptions,
  command: (context: CommandContext) => Promise<number>,
) => Promise<void>;

export interface ProgramOptions {
  readonly invoke: Invoke;
  readonly version: string;
  readonly writeOut: (text: string) => void;
}

const AFTER_HELP = `
Examples:
  kubectl kcp bind https://bind.example.com
  kubectl kcp bind https://bind.example.com --template cowboys --accept-claims secrets --no-browser
  kubectl kcp bind https://bind.example.com --template cowboys --dry-run -o yaml
  kubectl kcp bind unbind cowboys

Other words (kubectl kcp bind apiexport ...) go to kcp's own plugin, kubectl-kcp.
Exit codes: docs/reference/plugin.md`;

/**
 * The command line. Commands are loaded when they run, so that --help and version start fast.
 *
 * @throws PluginError USAGE from `parseAsync`; CommanderError with exit code 0 after help was shown
 */
export function createProgram(options: ProgramOptions): Command {
  const program = withGlobals(
    prepare(new Command('kubectl kcp bind'), options)
      .usage(
        'URL [flags]\n       kubectl kcp bind --kubeconfig-file FILE [flags]\n       kubectl kcp bind [command] [flags]',
      )
      .description(
        'Binds the API of a kube-bind provider into this kcp workspace: installs the client where it is ' +
          'missing, logs in with a browser, and waits until the API is served. Safe to run again: it ' +
          'finishes what an interrupted run began.',
      )
      .argument('[url]', "the provider's URL, for instance https://bind.example.com")
      .enablePositionalOptions()
      .helpCommand(true),
  );
  program.version(options.version, '--version', 'show the version').addHelpText('after', AFTER_HELP);
  addBindFlags(program);
  program.action(async (url: string | undefined, own: FlagValues) => {
    if (url === undefined && own['kubeconfigFile'] === undefined) {
      options.writeOut(program.helpInformation());
      throw usageError(
        'which provider?',
        'give its URL: `kubectl kcp bind https://…`, or its kubeconfig: --kubeconfig-file FILE',
      );
    }
    await options.invoke(readGlobalOptions(own), async (context) => {
      const { bind } = await import('./commands/bind.js');
      return bind(context, url, own);
    });
  });
  addCommands(program, options);
  return program;
}

function addCommands(program: Command, options: ProgramOptions): void {
  const add = (usage: string, description: string): Command =>
    withGlobals(prepare(program.command(usage), options).description(description));
  const run =
    (command: Command, load: () => Promise<Runner>) =>
    async (...parameters: unknown[]): Promise<void> => {
      const own: FlagValues = { ...givenBefore(program), ...command.opts<FlagValues>() };
      rejectBindFlags(program, command);
      // Of a command without operands the first is its flags.
      const [first] = parameters;
      const operand = typeof first === 'string' || Array.isArray(first) ? first : undefined;
      await options.invoke(readGlobalOptions(own), async (context) => (await load())(context, operand, own));
    };

  const list = add('list', 'List connections and bindings of this workspace');
  list.action(run(list, async () => (await import('./commands/list.js')).list));

  const status = add('status [name]', 'Show how a binding or connection is doing, and what to do about it');
  on(status, '-w, --watch', 'show it again at each change, until Ctrl-C or --timeout');
  status.option('--timeout <duration>', 'with --watch: end after this time');
  status.action(run(status, async () => (await import('./commands/status.js')).status));

  const doctor = add(
    'doctor [url]',
    'Check what binding needs: kcp, the client, claims, clocks, certificates, proxies, and the provider at URL or of each connection',
  );
  doctor.option('--ca-file <file>', "PEM certificates to verify the provider's with");
  doctor.option('--client-path <workspace>', 'workspace of the client export (default: root:kube-bind)');
  doctor.option('--client-export <name>', 'name of the client export (default: kcp.kube-bind.io)');
  doctor.action(run(doctor, async () => (await import('./commands/doctor.js')).doctor));

  const templates = add('templates [connection]', "List what the connections' providers offer");
  templates.action(run(templates, async () => (await import('./commands/templates.js')).templates));

  const login = add('login [connection]', 'Log in again with the provider of a connection');
  addLoginFlags(login);
  login.option(
    '--ca-file <file>',
    "PEM certificates to verify the provider's with; for a login from this machine",
  );
  login.option('--timeout <duration>', 'give up after this time', '10m');
  login.action(run(login, async () => (await import('./commands/login.js')).login));

  const unbind = add(
    'unbind <names...>',
    'Remove bindings, their APIs and objects; shows first what will be deleted where',
  );
  on(unbind, '--orphan', "keep the provider's copies of the objects");
  on(unbind, '--force', 'let go although the provider does not answer; leaves its copies behind');
  on(unbind, '-y, --yes', 'do not ask');
  on(unbind, '--with-connection', 'also remove the connections that no other binding uses');
  // Its name until 0.1: with `bind URL` the same flag takes a name.
  unbind.addOption(new Option('--connection').hideHelp());
  off(unbind, 'wait', 'do not wait until all is gone');
  unbind.option('--timeout <duration>', 'stop waiting after this time', '10m');
  addDryRun(unbind, ['none', 'client']);
  unbind.action(run(unbind, async () => (await import('./commands/unbind.js')).unbind));

  const install = add(
    'install',
    'Install the client into this workspace, for admins; shows first what differs',
  );
  on(install, '-y, --yes', 'do not ask');
  addDryRun(install, ['none', 'client']);
  install.action(run(install, async () => (await import('./commands/install.js')).install));

  const cleanup = add(
    'cleanup',
    'Where no controller is left: take our finalizers off the objects of this workspace; shows them first',
  );
  on(cleanup, '-y, --yes', 'do not ask');
  addDryRun(cleanup, ['none', 'client']);
  cleanup.action(run(cleanup, async () => (await import('./commands/cleanup.js')).cleanup));

  const version = add('version', 'Show the version of this plugin');
  version.action(run(version, async () => (await import('./commands/version.js')).version));

  const completion = add('completion <shell>', 'Print a completion script for bash, zsh or fish');
  completion.action(run(completion, async () => (await import('./commands/completion.js')).completion));
}

function prepare(command: Command, options: ProgramOptions): Command {
  return command
    .exitOverride()
    .allowExcessArguments(false)
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({ writeOut: options.writeOut, writeErr: () => undefined, outputError: () => undefined });
}

/** Flags that stand before the command's word; the defaults of `bind URL` are not those of other commands. */
function givenBefore(program: Command): FlagValues {
  return Object.fromEntries(
    Object.entries(program.opts<FlagValues>()).filter(
      ([name]) => program.getOptionValueSource(name) === 'cli',
    ),
  );
}

/** Flags of `bind URL` before another command would be ignored silently. */
function rejectBindFlags(program: Command, command: Command): void {
  const known = new Set(command.options.map((option) => option.attributeName()));
  for (const option of program.options) {
    const name = option.attributeName();
    if (program.getOptionValueSource(name) === 'cli' && !known.has(name)) {
      throw usageError(`${option.long ?? name} is no flag of ${command.name()}`);
    }
  }
}

/** Turns the parser's own errors into usage errors; undefined where it only showed help. */
export function usageErrorFrom(error: CommanderError): Error | undefined {
  if (error.exitCode === 0 || error.code === 'commander.help') return undefined;
  return usageError(error.message.replace(/^error: /, ''));
}

type Runner = (context: CommandContext, operand: unknown, own: FlagValues) => Promise<number>;
