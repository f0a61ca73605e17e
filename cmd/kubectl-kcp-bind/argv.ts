/** Flags that may stand without a value, and what they then mean; a value needs `=`, as with kubectl. */
const IMPLIED: Readonly<Record<string, string>> = { '--dry-run': 'client' };

/** Flags that are on or off. `--x=false` is written `--no-x` for the parser. */
const SWITCHES: ReadonlySet<string> = new Set([
  '--apibindings-claim',
  '--browser',
  '--force',
  '--insecure-skip-tls-verify',
  '--orphan',
  '--provider-check',
  '--quiet',
  '--verbose',
  '--wait',
  '--watch',
  '--with-connection',
  '--yes',
]);

/** Flags with a value in the next argument, by all their names: needed to find the first operand. */
const VALUED: ReadonlySet<string> = new Set([
  '--accept-claims',
  '--account',
  '--as',
  '--as-group',
  '--as-uid',
  '--ca-file',
  '--callback-port',
  '--certificate-authority',
  '--client-export',
  '--client-path',
  '--cluster',
  '--cluster-id',
  '--connection',
  '--context',
  '--handshake',
  '--kubeconfig',
  '--kubeconfig-file',
  '--login-host',
  '--name',
  '--output',
  '--resource',
  '--server',
  '--template',
  '--timeout',
  '--tls-server-name',
  '--token',
  '--user',
  '--workspace',
  '-o',
  '-s',
]);

/** Rewrites what kubectl's users may write into what the parser reads; everything after `--` is left alone. */
export function normalizeArguments(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  const own = end === -1 ? argv : argv.slice(0, end);
  const rest = end === -1 ? [] : argv.slice(end);
  return [...own.map(normalize), ...rest];
}

/** The first argument that is neither a flag nor a flag's value; undefined where there is none. */
export function firstOperand(argv: readonly string[]): string | undefined {
  for (let index = 0; index < argv.length; index += 1) {
    const argument = argv[index] ?? '';
    if (argument === '--') return argv[index + 1];
    if (!argument.startsWith('-') || argument === '-') return argument;
    if (VALUED.has(argument)) index += 1;
  }
  return undefined;
}

function normalize(argument: string): string {
  const implied = IMPLIED[argument];
  if (implied !== undefined) return `${argument}=${implied}`;
  // kubectl's levels of -v: any but zero is our one level.
  const level = /^(?:-v=?|--v=)(\d+)$/.exec(argument)?.[1];
  if (level !== undefined) return level === '0' ? '--no-verbose' : '--verbose';
  const short = /^(-[os])=(.*)$/s.exec(argument);
  if (short !== null) return `${short[1] ?? ''}${short[2] ?? ''}`;
  return normalizeSwitch(argument);
}

function normalizeSwitch(argument: string): string {
  const [, name = '', value] = /^--([a-z-]+)=(true|false)$/.exec(argument) ?? [];
  if (SWITCHES.has(`--${name}`)) return value === 'true' ? `--${name}` : `--no-${name}`;
  const positive = name.replace(/^no-/, '');
  if (positive !== name && SWITCHES.has(`--${positive}`)) {
    return value === 'true' ? `--${name}` : `--${positive}`;
  }
  return argument;
}
