import { pino } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import { scrub } from './scrub.js';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/**
 * Structured log, one JSON object a line. Field names that are the same everywhere: `component`, `cluster`,
 * `gvr`, `key`, `connection`, `binding`, `provider`, `err`.
 */
export type Logger = PinoLogger;

/** Fields whose value is never written, at any of the first four levels of a logged object. */
const SECRET_FIELDS = [
  'token',
  'tokens',
  'accessToken',
  'access_token',
  'authorization',
  'cookie',
  'set-cookie',
  'kubeconfig',
  'key',
  'password',
  'secret',
  'verifier',
  'userCode',
  'identity',
] as const;

/** `key` names work items at the top level, and private keys below it. */
function redactedPaths(): string[] {
  const paths: string[] = [];
  for (const field of SECRET_FIELDS) {
    const name = field.includes('-') ? `["${field}"]` : field;
    if (field !== 'key') paths.push(name);
    for (const parents of ['*', '*.*', '*.*.*']) {
      paths.push(name.startsWith('[') ? `${parents}${name}` : `${parents}.${name}`);
    }
  }
  return paths;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Where lines go; the process' standard output unless given. */
  readonly destination?: DestinationStream;
  /** Fields of each line, for instance the version. */
  readonly base?: Readonly<Record<string, string>>;
}

/**
 * Makes the log of a process or a worker. Known secret fields are redacted by path, and each finished line is
 * scrubbed of what looks like a credential, since error texts may quote a URL.
 */
export function createLogger(options: LoggerOptions): Logger {
  return pino(
    {
      level: options.level,
      base: { ...options.base },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactedPaths(), censor: '[redacted]' },
      serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
      hooks: { streamWrite: scrub },
    },
    // A worker's standard output is proxied by the main thread and loses lines at exit; a descriptor is not.
    options.destination ?? pino.destination({ dest: 1, sync: true }),
  );
}

/** A log that writes nothing, for tests. */
export function silentLogger(): Logger {
  return pino({ level: 'silent', enabled: false });
}
