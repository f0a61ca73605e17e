import { homedir } from 'node:os';
import type { Readable } from 'node:stream';

/** Where text goes. */
export interface TextOutput {
  write(text: string): void;
  /** A terminal, which understands cursor movement. */
  readonly isTerminal: boolean;
  /** Columns of the terminal; 80 where it is none. */
  readonly columns: number;
}

/** All that the plugin learns from its surroundings; nothing else reads the process. */
export interface Environment {
  /** What follows the program's name. */
  readonly argv: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly workingDirectory: string;
  readonly platform: NodeJS.Platform;
  readonly stdin: Readable;
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  /** Somebody sits there: standard input and standard error are terminals. */
  readonly interactive: boolean;
  /** Colours may be used on standard error. */
  readonly color: boolean;
  readonly version: string;
  /** YAML documents of the client's installation; undefined in a build without them. */
  readonly manifests: string | undefined;
}

/** Reads the running process once. */
export function readEnvironment(): Environment {
  const variables = { ...process.env };
  const stdout = textOutput(process.stdout);
  const stderr = textOutput(process.stderr);
  return {
    argv: process.argv.slice(2),
    variables,
    home: homedir(),
    workingDirectory: process.cwd(),
    platform: process.platform,
    stdin: process.stdin,
    stdout,
    stderr,
    interactive: isTerminal(process.stdin) && stderr.isTerminal,
    color: stderr.isTerminal && allowsColor(variables),
    // Put in by the bundler (scripts/build.mjs).
    version: process.env['KCP_KUBE_BIND_VERSION'] ?? 'development',
    manifests: process.env['KCP_KUBE_BIND_MANIFESTS'],
  };
}

/** https://no-color.org: any value but the empty one forbids colour. */
export function allowsColor(variables: Readonly<Record<string, string | undefined>>): boolean {
  const noColor = variables['NO_COLOR'];
  return (noColor === undefined || noColor === '') && variables['TERM'] !== 'dumb';
}

/** On anything but a terminal node leaves `isTTY` away, whatever its types say. */
function isTerminal(stream: { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true;
}

function textOutput(stream: NodeJS.WriteStream): TextOutput {
  // The reader of a pipe may go at any time (`| head`); that is no failure of ours.
  stream.on('error', () => undefined);
  return {
    write: (text) => void stream.write(text),
    isTerminal: isTerminal(stream),
    get columns() {
      return stream.isTTY ? stream.columns : 80;
    },
  };
}
