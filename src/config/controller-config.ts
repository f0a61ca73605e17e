import { Command, InvalidArgumentError, Option } from 'commander';
import { isIP } from 'node:net';

import type { DialPolicy } from '../kube/dialler/policy.js';
import type { SyncerOptions } from '../syncer/protocol/assignment.js';
import type { LogLevel } from '../telemetry/logger.js';
import { CLIENT_EXPORT } from '../api/group.js';
import { collect, parseBoolean, parseDuration, parseWhole } from './durations.js';

/** All that the controller can be told, read once at start and frozen. Times are milliseconds. */
export interface ControllerConfig {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace: string;
  readonly clientExport: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly externalUrl: string | undefined;
  readonly trustedProxies: readonly string[];
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly leader: {
    readonly enabled: boolean;
    readonly durationMs: number;
    readonly renewDeadlineMs: number;
    readonly retryMs: number;
  };
  readonly virtualWorkspace: {
    readonly caFile: string | undefined;
    /** Prefixes of URLs to replace, in order. */
    readonly urlMap: readonly (readonly [string, string])[];
  };
  readonly maxWorkers: number;
  /** Bound of a thread's heap, and of its buffers. */
  readonly workerMemoryMb: number;
  readonly workerSilenceMs: number;
  readonly concurrency: number;
  readonly loginLifetimeMs: number;
  readonly drainMs: number;
  readonly syncer: SyncerOptions;
  readonly logLevel: LogLevel;
}

/** Defaults of the durations that tests shorten. */
export const DEFAULTS = {
  absenceGrace: '5m',
  requestTimeout: '30s',
  watchSilence: '110s',
  backoffBase: '500ms',
  backoffMax: '1m',
  heartbeatInterval: '5m',
  workerSilence: '30s',
  reportInterval: '1s',
  leaseDuration: '15s',
  leaseRenewDeadline: '10s',
  leaseRetry: '2s',
  loginLifetime: '10m',
  drain: '8s',
} as const;

/**
 * Reads flags, with environment variables `KCP_BIND_*` behind them.
 * Throws commander's CommanderError: its exitCode is 0 for --help and --version.
 */
export function readControllerConfig(
  argv: readonly string[],
  environment: { readonly version: string },
): ControllerConfig {
  const command = buildCommand(environment.version).exitOverride();
  command.parse([...argv], { from: 'user' });
  return freeze(command.opts<Flags>());
}

interface Flags {
  kubeconfig?: string;
  context?: string;
  namespace: string;
  clientExport: string;
  listen: { host: string; port: number };
  externalUrl?: string;
  trustedProxy: readonly string[];
  tlsCertFile?: string;
  tlsKeyFile?: string;
  leaderElect: boolean;
  leaseDuration: number;
  leaseRenewDeadline: number;
  leaseRetry: number;
  vwCaFile?: string;
  vwUrlMap: readonly string[];
  maxWorkers: number;
  workerMemory: number;
  workerSilence: number;
  concurrency: number;
  providerQps: number;
  allowBackendHost: readonly string[];
  allowAddress: readonly string[];
  denyAddress: readonly string[];
  allowProxy: boolean;
  absenceGrace: number;
  requestTimeout: number;
  watchSilence: number;
  backoffBase: number;
  backoffMax: number;
  heartbeatInterval: number;
  reportInterval: number;
  loginLifetime: number;
  drain: number;
  logLevel: LogLevel;
}

function option(flags: string, description: string): Option {
  const long = /--([a-z-]+)/.exec(flags)?.[1] ?? '';
  return new Option(flags, description).env(`KCP_BIND_${long.replaceAll('-', '_').toUpperCase()}`);
}

/** A switch: bare, or with `true` or `false` behind it. */
function flag(name: string, description: string, initial: boolean): Option {
  return option(`${name} [true|false]`, description).preset('true').argParser(parseBoolean).default(initial);
}

function duration(flags: string, description: string, initial: string): Option {
  return option(`${flags} <duration>`, description)
    .argParser(parseDuration)
    .default(parseDuration(initial), initial);
}

function list(flags: string, description: string): Option {
  return option(flags, description).argParser<readonly string[]>(collect).default([], 'none');
}

function buildCommand(version: string): Command {
  const command = new Command('kcp-bind-controller')
    .description(
      'Serves kube-bind to kcp workspaces: one process for every workspace that binds the client export.',
    )
    .version(version)
    .showHelpAfterError('(kcp-bind-controller --help lists the flags)');
  const options = [
    option(
      '--kubeconfig <file>',
      'kubeconfig of the client workspace; its server URL ends in /clusters/<path>',
    ),
    option('--context <name>', "context in it (default: the kubeconfig's current one)"),
    option('--namespace <name>', 'namespace of the client workspace for state and accounts').default(
      'kube-bind',
    ),
    option('--client-export <name>', 'name of the APIExport that workspaces bind').default(CLIENT_EXPORT),
    option('--listen <host:port>', 'address of the login pages, health and metrics')
      .argParser(parseListen)
      .default({ host: '127.0.0.1', port: 8080 }, '127.0.0.1:8080'),
    option(
      '--external-url <url>',
      'URL under which browsers reach this server; without it there are no logins',
    ),
    list('--trusted-proxy <cidr>', 'reverse proxy whose X-Forwarded-For is believed; repeatable'),
    option('--tls-cert-file <file>', 'certificate of the login pages'),
    option('--tls-key-file <file>', 'its private key'),
    flag('--leader-elect', 'compete for a Lease; false: run without one (one replica only)', true),
    duration('--lease-duration', 'how long a silent leader keeps its Lease', DEFAULTS.leaseDuration),
    duration(
      '--lease-renew-deadline',
      'when a leader that cannot renew gives up',
      DEFAULTS.leaseRenewDeadline,
    ),
    duration('--lease-retry', 'time between two tries to get or renew it', DEFAULTS.leaseRetry),
    option('--vw-ca-file <file>', "authorities of virtual workspaces (default: the kubeconfig's)"),
    list('--vw-url-map <old=new>', "replaces the start of a virtual workspace's URL; repeatable"),
    option('--max-workers <n>', 'threads; up to this many bindings have one of their own')
      .argParser(parseWhole(1, 1024))
      .default(16),
    option('--worker-memory <mb>', 'heap of one thread in MiB; its buffers may take as much again')
      .argParser(parseWhole(64, 65536))
      .default(512),
    duration(
      '--worker-silence',
      'when a thread that does not react counts as stuck and is ended',
      DEFAULTS.workerSilence,
    ),
    option('--concurrency <n>', 'objects worked on at the same time, for each API of a binding')
      .argParser(parseWhole(1, 256))
      .default(8),
    option('--provider-qps <n>', 'requests a second to one provider, for each syncer thread')
      .argParser(parseWhole(1, 100000))
      .default(500),
    list('--allow-backend-host <host>', 'host (or *.suffix) that may have any address; repeatable'),
    list('--allow-address <cidr>', 'loopback, link-local or private range that may be dialled; repeatable'),
    list('--deny-address <cidr>', 'range that may never be dialled; repeatable'),
    flag('--allow-proxy', "honour proxy-url in a tenant's kubeconfig", false),
    duration(
      '--absence-grace',
      'how long an object of a bound API must be missing before its copy is deleted',
      DEFAULTS.absenceGrace,
    ),
    duration('--request-timeout', 'time-out of one request', DEFAULTS.requestTimeout),
    duration('--watch-silence', 'silence after which a watch counts as dead', DEFAULTS.watchSilence),
    duration('--backoff-base', 'first pause after a failure', DEFAULTS.backoffBase),
    duration('--backoff-max', 'longest pause after failures', DEFAULTS.backoffMax),
    duration('--heartbeat-interval', 'heartbeat promised to providers', DEFAULTS.heartbeatInterval),
    duration('--report-interval', 'least time between two reports of a binding', DEFAULTS.reportInterval),
    duration('--login-lifetime', 'how long a login may take', DEFAULTS.loginLifetime),
    duration('--drain', 'time to finish after SIGTERM', DEFAULTS.drain),
    option('--log-level <level>', 'how much is logged')
      .choices(['fatal', 'error', 'warn', 'info', 'debug', 'trace'])
      .default('info'),
  ];
  for (const each of options) command.addOption(each);
  return command;
}

/** `host:port`, `[v6]:port` or `:port` (all addresses). */
function parseListen(text: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/.exec(text);
  const host = match?.[1] ?? match?.[2] ?? '';
  const port = Number(match?.[3]);
  if (!match || port > 65535) throw new InvalidArgumentError('Give host:port, for instance 0.0.0.0:8080.');
  return { host: host === '' ? '::' : host, port };
}

function freeze(flags: Flags): ControllerConfig {
  if ((flags.tlsCertFile === undefined) !== (flags.tlsKeyFile === undefined)) {
    throw new InvalidArgumentError('--tls-cert-file and --tls-key-file belong together.');
  }
  const dialPolicy: DialPolicy = {
    allowHosts: flags.allowBackendHost,
    allowCidrs: flags.allowAddress.map((cidr) => checkCidr('--allow-address', cidr)),
    denyCidrs: flags.denyAddress.map((cidr) => checkCidr('--deny-address', cidr)),
    allowProxy: flags.allowProxy,
  };
  return Object.freeze({
    kubeconfig: flags.kubeconfig,
    context: flags.context,
    namespace: flags.namespace,
    clientExport: flags.clientExport,
    listen: flags.listen,
    externalUrl: flags.externalUrl === undefined ? undefined : checkUrl(flags.externalUrl),
    trustedProxies: flags.trustedProxy.map((cidr) => checkCidr('--trusted-proxy', cidr)),
    tls:
      flags.tlsCertFile === undefined || flags.tlsKeyFile === undefined
        ? undefined
        : { certFile: flags.tlsCertFile, keyFile: flags.tlsKeyFile },
    leader: {
      enabled: flags.leaderElect,
      durationMs: flags.leaseDuration,
      renewDeadlineMs: flags.leaseRenewDeadline,
      retryMs: flags.leaseRetry,
    },
    virtualWorkspace: { caFile: flags.vwCaFile, urlMap: flags.vwUrlMap.map(checkUrlMap) },
    maxWorkers: flags.maxWorkers,
    workerMemoryMb: flags.workerMemory,
    workerSilenceMs: flags.workerSilence,
    concurrency: flags.concurrency,
    loginLifetimeMs: flags.loginLifetime,
    drainMs: flags.drain,
    syncer: {
      absenceGraceMs: flags.absenceGrace,
      requestTimeoutMs: flags.requestTimeout,
      watchSilenceMs: flags.watchSilence,
      backoffBaseMs: flags.backoffBase,
      backoffMaxMs: flags.backoffMax,
      heartbeatIntervalMs: flags.heartbeatInterval,
      reportIntervalMs: flags.reportInterval,
      concurrency: flags.concurrency,
      providerQps: flags.providerQps,
      dialPolicy,
    },
    logLevel: flags.logLevel,
  });
}

/** A range, or one address. */
function checkCidr(flag: string, cidr: string): string {
  const [address = '', bits] = cidr.split('/');
  const family = isIP(address);
  const longest = family === 4 ? 32 : 128;
  if (family !== 0 && bits === undefined) return `${address}/${longest}`;
  if (family === 0 || bits === undefined || !/^\d+$/.test(bits) || Number(bits) > longest) {
    throw new InvalidArgumentError(`${flag} ${cidr}: give an address, or a range such as 10.0.0.0/8.`);
  }
  return cidr;
}

function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username !== ''
  ) {
    throw new InvalidArgumentError('--external-url: give http(s)://host[:port][/path].');
  }
  return text.replace(/\/+$/, '');
}

function checkUrlMap(entry: string): readonly [string, string] {
  const [from = '', to = ''] = entry.split('=');
  if (!URL.canParse(from) || !URL.canParse(to)) {
    throw new InvalidArgumentError(`--vw-url-map ${entry}: give OLD=NEW, both URLs.`);
  }
  return [from, to];
}
