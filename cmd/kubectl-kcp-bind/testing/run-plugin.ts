import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createOpenDialler } from '../../../src/kube/dialler/dialler.js';
import { createForeignHttp } from '../../../src/kube/foreign-http-undici.js';
import type { Clock } from '../../../src/kube/clock.js';
import { createSystemClock } from '../../../src/kube/system-clock.js';
import { connect } from '../../../src/kube/transport/connect.js';
import type { Effects } from '../command-context.js';
import type { Environment } from '../environment.js';
import { serveLoopback } from '../local-login/loopback-server.js';
import { run } from '../run.js';

/** What a run of the plugin gave. */
export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly opened: readonly string[];
}

export interface RunSetup {
  readonly argv: readonly string[];
  readonly variables?: Record<string, string | undefined>;
  readonly home?: string;
  /** Lines that the person at the terminal types; absent: no terminal. */
  readonly answers?: readonly string[];
  readonly interrupt?: AbortSignal;
  /** What is really dialled for a server, for those that do not exist. */
  readonly dial?: (server: string) => string;
  /** The client's installation. */
  readonly manifests?: string;
  /** What standard input holds where there is no terminal. */
  readonly input?: string;
  /** `expire` ends the time of `--timeout` now. */
  readonly openBrowser?: (url: string, expire: () => void) => Promise<void>;
  /** Called with each piece of standard error. */
  readonly onError?: (text: string, expire: () => void) => void;
}

/** Times of the plugin pass many times faster, so that polling costs a test nothing. */
const SPEED = 20;

/** Runs the plugin in this process, against real (loopback) servers. */
export async function runPlugin(setup: RunSetup): Promise<RunResult> {
  const out: string[] = [];
  const err: string[] = [];
  const opened: string[] = [];
  const stdin = new PassThrough();
  if (setup.input !== undefined) stdin.end(setup.input);
  const answers = [...(setup.answers ?? [])];
  const { clock, expire } = fastClock();
  const output = (chunks: string[], seen?: (text: string) => void): Environment['stdout'] => ({
    write: (text) => {
      chunks.push(text);
      seen?.(text);
    },
    isTerminal: false,
    columns: 100,
  });
  const environment: Environment = {
    argv: setup.argv,
    variables: setup.variables ?? {},
    home: setup.home ?? '/nonexistent',
    workingDirectory: tmpdir(),
    platform: 'linux',
    stdin,
    stdout: output(out),
    stderr: output(err, (text) => {
      setup.onError?.(text, expire);
      // A question ends without a newline: that is when somebody answers.
      if (setup.answers !== undefined && /[?\])] $/.test(text)) {
        const answer = answers.shift();
        if (answer !== undefined) setImmediate(() => stdin.write(`${answer}\n`));
      }
    }),
    interactive: setup.answers !== undefined,
    color: false,
    version: 'v0-test',
    manifests: setup.manifests,
  };
  const effects: Effects = {
    clock,
    randomBytes,
    connect: async (credentials) =>
      connect(
        { ...credentials, server: setup.dial?.(credentials.server) ?? credentials.server },
        {
          dialler: createOpenDialler(),
          userAgent: 'test',
          requestTimeoutMs: 5000,
          clock: createSystemClock(),
          random: Math.random,
          maxRetries: 0,
        },
      ),
    createHttp: async () => createForeignHttp({ dialler: createOpenDialler(), userAgent: 'test' }),
    serveLoopback,
    openBrowser: async (url) => {
      opened.push(url);
      await setup.openBrowser?.(url, expire);
    },
  };
  const code = await run(environment, effects, setup.interrupt ?? new AbortController().signal);
  return { code, stdout: out.join(''), stderr: err.join(''), opened };
}

const LONG_MS = 20_000;

/** Long timers, which are limits, are left to `expire`. */
function fastClock(): { clock: Clock; expire: () => void } {
  const real = createSystemClock();
  const started = real.now();
  const limits = new Set<() => void>();
  const clock: Clock = {
    now: () => started + (real.now() - started) * SPEED,
    sleep: (ms, signal) => real.sleep(ms / SPEED, signal),
    after: (ms, callback) => {
      if (ms < LONG_MS) return real.after(ms / SPEED, callback);
      limits.add(callback);
      return () => void limits.delete(callback);
    },
  };
  return { clock, expire: () => limits.forEach((callback) => callback()) };
}

/** A kubeconfig for one server, in a folder of its own. */
export async function writeKubeconfig(
  server: string,
  extra = '',
): Promise<{ path: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'kpb-'));
  const path = join(folder, 'config');
  await writeFile(path, kubeconfigText(server, extra), { mode: 0o600 });
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}

export function kubeconfigText(server: string, user = 'token: secret-token'): string {
  return `# kept as it is
apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: {cluster: kcp, user: me}
clusters:
- name: kcp
  cluster: {server: "${server}"}
users:
- name: me
  user:
    ${user === '' ? 'token: secret-token' : user}
`;
}
