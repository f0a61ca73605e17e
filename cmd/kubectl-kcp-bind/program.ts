import { Command, InvalidArgumentError, Option, type CommanderError } from 'commander';
import type { CommandContext } from './command-context.js';
import { usageError } from './errors.js';
import { readGlobalOptions } from './flag-values.js';
import { OUTPUT_FORMATS, type FlagValues, type GlobalOptions } from './options.js';

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

const KUBECONFIG_GROUP = 'Kubeconfig flags:';
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
      .usage('URL [flags]\n       kubectl kcp bind [command] [flags]')
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
    if (url === undefined) {
      options.writeOut(program.helpInformation());
      throw usageError('which provider?', 'give its URL: `kubectl kcp bind https://…`');
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
      const own: FlagValues = { ...program.opts<FlagValues>(), ...command.opts<FlagValues>() };
      rejectBindFlags(program, command);
      const operand = parameters[0];
      await options.invoke(readGlobalOptions(own), async (context) => (await load())(context, operand, own));
    };

  const list = add('list', 'List connections and bindings of this workspace');
  list.action(run(list, async () => (await import('./commands/list.js')).list));

  const status = add('status [name]', 'Show how a binding or connection is doing, and what to do about it');
  status.action(run(status, async () => (await import('./commands/status.js')).status));

  const templates = add('templates [connection]', "List what the connections' providers offer");
  templates.action(run(templates, async () => (await import('./commands/templates.js')).templates));

  const login = add('login [connection]', 'Log in again with the provider of a connection');
  off(login, 'browser', 'print the login page, do not open it');
  login.option('--timeout <duration>', 'give up after this time', '10m');
  login.action(run(login, async () => (await import('./commands/login.js')).login));

  const unbind = add(
    'unbind <names...>',
    'Remove bindings, their APIs and objects; shows first what will be deleted where',
  );
  on(unbind, '--orphan', "keep the provider's copies of the objects");
  on(unbind, '--force', 'let go although the provider does not answer; leaves its copies behind');
  on(unbind, '-y, --yes', 'do not ask');
  on(unbind, '--connection', 'also remove the connections that no other binding uses');
  off(unbind, 'wait', 'do not wait until all is gone');
  unbind.option('--timeout <duration>', 'stop waiting after this time', '10m');
  addDryRun(unbind, ['none', 'client']);
  unbind.action(run(unbind, async () => (await import('./commands/unbind.js')).unbind));

  const version = add('version', 'Show the version of this plugin');
  version.action(run(version, async () => (await import('./commands/version.js')).version));

  const completion = add('completion <shell>', 'Print a completion script for bash, zsh or fish');
  completion.action(run(completion, async () => (await import('./commands/completion.js')).completion));
}

function addBindFlags(command: Command): void {
  command
    .option('--template <name>', 'bind this template; repeatable. Without it you are asked', collect)
    .option(
      '--accept-claims <names>',
      'accept the related resources that templates ask for: all, none, or names like secrets,configmaps',
      collect,
    )
    .option('--name <name>', "name of the binding (default: the template's)")
    .option('--connection <name>', "name of the connection (default: made from the URL's host)")
    .option('--account <name>', 'ask the provider for a separate account of this workspace')
    .option('--cluster-id <id>', 'choose a cluster of a provider that serves several')
    .option('--ca-file <file>', "PEM certificates to verify the provider's with")
    .option('--client-path <workspace>', 'workspace of the client export (default: root:kube-bind)')
    .option('--client-export <name>', 'name of the client export (default: kcp.kube-bind.io)')
    .option('--timeout <duration>', 'give up after this time; run again to go on', '10m');
  off(
    command,
    'apibindings-claim',
    'reject the claim on APIBindings; the plugin then creates the APIBinding of each API itself',
  );
  off(command, 'provider-check', 'do not look at the provider from this machine first');
  off(command, 'browser', 'print the login page, do not open it');
  off(command, 'wait', 'create everything and end; needs --template');
  on(command, '-y, --yes', 'take the answers from flags, never ask');
  addDryRun(command, ['none', 'client', 'server']);
}

function addDryRun(command: Command, modes: readonly string[]): void {
  command.addOption(
    new Option('--dry-run <mode>', 'write nothing, say what would be done (server: let the server check it)')
      .choices(modes)
      .default('none'),
  );
}

function withGlobals(command: Command): Command {
  command.addOption(new Option('-o, --output <format>', 'output format').choices([...OUTPUT_FORMATS]));
  on(command, '-q, --quiet', 'no progress, only results and errors');
  on(command, '-v, --verbose', 'say more about errors');
  const kubectl = (flags: string, description: string): Option =>
    new Option(flags, description).helpGroup(KUBECONFIG_GROUP);
  return command
    .addOption(kubectl('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, ~/.kube/config)'))
    .addOption(kubectl('--context <name>', 'context of the kubeconfig'))
    .addOption(kubectl('--cluster <name>', 'cluster of the kubeconfig'))
    .addOption(kubectl('--user <name>', 'user of the kubeconfig'))
    .addOption(kubectl('-s, --server <url>', "URL of the workspace, in place of the kubeconfig's"))
    .addOption(kubectl('--workspace <path>', "workspace, in place of the one in the server's URL"))
    .addOption(kubectl('--token <token>', "bearer token, in place of the user's credentials"))
    .addOption(kubectl('--as <user>', 'act as this user'))
    .addOption(kubectl('--as-group <group>', 'act as a member of this group; repeatable').argParser(collect))
    .addOption(kubectl('--as-uid <uid>', 'act as the user with this UID'))
    .addOption(kubectl('--certificate-authority <file>', "PEM certificates to verify the server's with"))
    .addOption(kubectl('--tls-server-name <name>', "name in the server's certificate"))
    .addOption(kubectl('--insecure-skip-tls-verify', "do not verify the server's certificate"))
    .addOption(new Option('--no-insecure-skip-tls-verify').hideHelp());
}

/** A switch that is off unless given; `--x=false` works too. */
function on(command: Command, flags: string, description: string): void {
  const name = /--([a-z-]+)/.exec(flags)?.[1] ?? '';
  command.option(flags, description).addOption(new Option(`--no-${name}`).hideHelp());
}

/** A switch that is on unless `--no-<name>` is given; `--<name>=false` works too. */
function off(command: Command, name: string, description: string): void {
  command.addOption(new Option(`--${name}`).hideHelp()).option(`--no-${name}`, description);
}

function prepare(command: Command, options: ProgramOptions): Command {
  return command
    .exitOverride()
    .allowExcessArguments(false)
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({ writeOut: options.writeOut, writeErr: () => undefined, outputError: () => undefined });
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

function collect(value: string, previous: string[] | undefined): string[] {
  if (value === '') throw new InvalidArgumentError('it is empty');
  return [...(previous ?? []), value];
}

type Runner = (context: CommandContext, operand: unknown, own: FlagValues) => Promise<number>;
