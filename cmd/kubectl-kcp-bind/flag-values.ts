import { usageError } from './errors.js';
import { OUTPUT_FORMATS, type DryRun, type FlagValues, type GlobalOptions } from './options.js';
import { parseDuration } from './output/durations.js';

/** A flag's text, undefined where it was not given. */
export function textFlag(flags: FlagValues, name: string): string | undefined {
  const value = flags[name];
  if (value === '') throw usageError(`--${dashed(name)} is empty`, 'give it a value, or leave it out');
  return typeof value === 'string' ? value : undefined;
}

/** All values of a repeatable flag. */
export function listFlag(flags: FlagValues, name: string): string[] {
  const value = flags[name];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** A switch; `fallback` where it was not given. */
export function switchFlag(flags: FlagValues, name: string, fallback: boolean): boolean {
  const value = flags[name];
  return typeof value === 'boolean' ? value : fallback;
}

/** `--timeout` in milliseconds. */
export function timeoutFlag(flags: FlagValues): number {
  return parseDuration(textFlag(flags, 'timeout') ?? '10m', '--timeout');
}

/** `--timeout` in milliseconds, where the command has no time of its own. */
export function optionalTimeoutFlag(flags: FlagValues): number | undefined {
  const text = textFlag(flags, 'timeout');
  return text === undefined ? undefined : parseDuration(text, '--timeout');
}

/** `--callback-port`; 0 where it was not given. */
export function portFlag(flags: FlagValues): number {
  const text = textFlag(flags, 'callbackPort');
  if (text === undefined) return 0;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) {
    throw usageError(`--callback-port ${JSON.stringify(text)} is no port`, 'give a number from 1 to 65535');
  }
  return port;
}

export function dryRunFlag(flags: FlagValues): DryRun {
  const value = flags['dryRun'];
  return value === 'client' || value === 'server' ? value : 'none';
}

export function readGlobalOptions(flags: FlagValues): GlobalOptions {
  const insecure = flags['insecureSkipTlsVerify'];
  return {
    kubeconfig: textFlag(flags, 'kubeconfig'),
    workspace: textFlag(flags, 'workspace'),
    context: textFlag(flags, 'context'),
    cluster: textFlag(flags, 'cluster'),
    user: textFlag(flags, 'user'),
    server: textFlag(flags, 'server'),
    token: textFlag(flags, 'token'),
    as: textFlag(flags, 'as'),
    asGroup: listFlag(flags, 'asGroup'),
    asUid: textFlag(flags, 'asUid'),
    certificateAuthority: textFlag(flags, 'certificateAuthority'),
    tlsServerName: textFlag(flags, 'tlsServerName'),
    insecureSkipTlsVerify: typeof insecure === 'boolean' ? insecure : undefined,
    output: OUTPUT_FORMATS.find((format) => format === flags['output']),
    quiet: switchFlag(flags, 'quiet', false),
    verbose: switchFlag(flags, 'verbose', false),
  };
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
