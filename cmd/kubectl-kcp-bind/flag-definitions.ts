import { InvalidArgumentError, Option, type Command } from 'commander';
import { OUTPUT_FORMATS } from './options.js';

const KUBECONFIG_GROUP = 'Kubeconfig flags:';

/** The flags of `bind URL`. */
export function addBindFlags(command: Command): void {
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
    .option(
      '--kubeconfig-file <file>',
      'use credentials that the provider gave you, in place of a handshake; - reads standard input',
    )
    .option(
      '--resource <name>',
      'with --kubeconfig-file: ask for this API, like databases.v1.example.org; repeatable',
      collect,
    )
    .addOption(
      new Option(
        '--handshake <kind>',
        "controller: on the controller's login page; local: from this machine (default: controller, and local where it has no page)",
      ).choices(['controller', 'local']),
    )
    .option('--client-path <workspace>', 'workspace of the client export (default: root:kube-bind)')
    .option('--client-export <name>', 'name of the client export (default: kcp.kube-bind.io)')
    .option('--timeout <duration>', 'give up after this time; run again to go on', '10m');
  off(
    command,
    'apibindings-claim',
    'reject the claim on APIBindings; the plugin then creates the APIBinding of each API itself',
  );
  off(command, 'provider-check', 'do not look at the provider from this machine first');
  addLoginFlags(command);
  off(command, 'wait', 'create everything and end; needs --template');
  on(command, '-y, --yes', 'take the answers from flags, never ask');
  addDryRun(command, ['none', 'client', 'server']);
}

/** How a login page is opened, and where the browser comes back to. */
export function addLoginFlags(command: Command): void {
  off(command, 'browser', 'print the login page, do not open it');
  command
    .option('--login-host <host>', "the host that the controller's login page has to be on")
    .option(
      '--callback-port <port>',
      'for a login from this machine: listen on this port of 127.0.0.1 (default: any)',
    );
}

/** `--dry-run` with the modes that a command knows. */
export function addDryRun(command: Command, modes: readonly string[]): void {
  command.addOption(
    new Option('--dry-run <mode>', 'write nothing, say what would be done (server: let the server check it)')
      .choices(modes)
      .default('none'),
  );
}

/** The flags that every command takes. */
export function withGlobals(command: Command): Command {
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
export function on(command: Command, flags: string, description: string): void {
  const name = /--([a-z-]+)/.exec(flags)?.[1] ?? '';
  command.option(flags, description).addOption(new Option(`--no-${name}`).hideHelp());
}

/** A switch that is on unless `--no-<name>` is given; `--<name>=false` works too. */
export function off(command: Command, name: string, description: string): void {
  command.addOption(new Option(`--${name}`).hideHelp()).option(`--no-${name}`, description);
}

function collect(value: string, previous: string[] | undefined): string[] {
  if (value === '') throw new InvalidArgumentError('it is empty');
  return [...(previous ?? []), value];
}
