import type { Clock } from '../../src/kube/clock.js';
import type { KubeClient } from '../../src/kube/client.js';
import type { ServerCredentials } from '../../src/kube/credentials.js';
import type { ForeignHttp } from '../../src/kube/foreign-http.js';
import type { Environment } from './environment.js';
import type { WorkspaceAddress } from './kubeconfig/workspace.js';
import type { serveLoopback } from './local-login/loopback-server.js';
import type { GlobalOptions } from './options.js';
import type { Prompt } from './output/prompt.js';
import type { Report } from './output/report.js';

/** Everything with an effect outside of the process, so that tests can stand in. */
export interface Effects {
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly connect: (credentials: ServerCredentials) => Promise<KubeClient>;
  readonly createHttp: () => Promise<ForeignHttp>;
  /** Listens on a loopback address; rejects when the port is taken. */
  readonly serveLoopback: typeof serveLoopback;
  /** Opens one URL in the user's browser; rejects when no browser can be started. */
  readonly openBrowser: (url: string) => Promise<void>;
}

/** The workspace of the kubeconfig, connected. */
export interface Session {
  readonly client: KubeClient;
  readonly address: WorkspaceAddress;
  /** What the client was made with. Holds secrets: never shown. */
  readonly credentials: ServerCredentials;
}

/** What a command works with. */
export interface CommandContext {
  readonly environment: Environment;
  readonly effects: Effects;
  readonly globals: GlobalOptions;
  readonly report: Report;
  readonly prompt: Prompt;
  /** Aborted by SIGINT, SIGTERM and `--timeout`, with a PluginError as reason. */
  readonly signal: AbortSignal;
  /** Connects at the first call. */
  readonly session: () => Promise<Session>;
  /** Starts the time of `--timeout`: when it is over the signal aborts. */
  readonly limit: (ms: number) => void;
  /** What an interrupted command has left to do, in a sentence; shown on SIGINT and time-out. */
  readonly remains: (text: string) => void;
}
