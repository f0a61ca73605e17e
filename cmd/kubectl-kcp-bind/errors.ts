import { EXIT_CODES, type ExitCode } from './exit-codes.js';

/** Stable codes of everything that ends a command early, with the exit code of each. */
const EXIT_OF = {
  /** The command line is wrong. */
  USAGE: EXIT_CODES.usage,
  /** No usable kubeconfig, context, cluster or user. */
  KUBECONFIG: EXIT_CODES.kubeconfig,
  /** The kubeconfig's server is no kcp workspace. */
  WORKSPACE: EXIT_CODES.kubeconfig,
  /** The user's credentials could not be obtained (exec plugin, files), or the server refuses them. */
  CREDENTIALS: EXIT_CODES.kubeconfig,
  /** The server answers 403. */
  FORBIDDEN: EXIT_CODES.forbidden,
  /** The API server does not answer, or with something that is no Kubernetes API. */
  UNREACHABLE: EXIT_CODES.unreachable,
  /** The provider's URL does not answer, or is no kube-bind backend that can be used. */
  PROVIDER: EXIT_CODES.provider,
  /** An object of that name exists and says something else. */
  CONFLICT: EXIT_CODES.conflict,
  /** The time of `--timeout` is over. */
  TIMEOUT: EXIT_CODES.timeout,
  /** The login was refused, has expired, or failed. */
  LOGIN: EXIT_CODES.login,
  /** The controller serves no login pages. */
  NO_LOGIN_PAGES: EXIT_CODES.login,
  /** A connection, binding or template of that name does not exist. */
  NOT_FOUND: EXIT_CODES.notFound,
  /** What was waited for will not become Ready without somebody's help. */
  NOT_READY: EXIT_CODES.notReady,
  /** A question was answered with no, or nobody is there to answer it. */
  DECLINED: EXIT_CODES.declined,
  /** The client export is not there, or may not be bound. */
  NOT_INSTALLED: EXIT_CODES.notInstalled,
  /** kubectl-kcp, which other sub-commands are handed to, is not on the PATH. */
  KCP_PLUGIN_MISSING: EXIT_CODES.passthrough,
  /** SIGINT or SIGTERM. */
  INTERRUPTED: EXIT_CODES.interrupted,
  /** The server refuses a request for any other reason. */
  SERVER: EXIT_CODES.internal,
  /** A defect of this program. */
  INTERNAL: EXIT_CODES.internal,
} as const satisfies Record<string, ExitCode>;

export type PluginErrorCode = keyof typeof EXIT_OF;

/** What ends a command: one line of cause (`message`) and one of remedy. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
  readonly code: PluginErrorCode;
  /** What the user can do, one line. */
  readonly remedy: string;

  constructor(init: { code: PluginErrorCode; message: string; remedy: string; cause?: unknown }) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = init.code;
    this.remedy = init.remedy;
  }

  get exitCode(): ExitCode {
    return EXIT_OF[this.code];
  }
}

/** Shorthand for a wrong command line. */
export function usageError(message: string, remedy = 'see `kubectl kcp bind --help`'): PluginError {
  return new PluginError({ code: 'USAGE', message, remedy });
}
