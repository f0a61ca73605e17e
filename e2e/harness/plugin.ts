import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { finishLogin } from './login.js';
import { ROOT } from './root.js';

export interface PluginRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** PATH on which kubectl finds the plugin that was built. */
export function pluginPath(): string {
  return `${ROOT}/dist/plugin:${process.env['PATH'] ?? ''}`;
}

/**
 * Runs `kubectl kcp bind ARGS` with a kubeconfig. A login URL that it prints (with --no-browser) is opened in
 * a mini browser, in a person's place; `onOutput` sees what is printed while it is printed.
 */
export function runPlugin(
  kubeconfig: string,
  args: readonly string[],
  options: {
    readonly onOutput?: (chunk: string) => void;
    readonly env?: NodeJS.ProcessEnv;
    readonly answerLogin?: boolean;
    readonly input?: string;
  } = {},
): Promise<PluginRun> {
  return new Promise((resolve, reject) => {
    const child = spawn('kubectl', ['kcp', 'bind', ...args], {
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        PATH: pluginPath(),
        KUBECONFIG: kubeconfig,
        // What it remembers of login pages is no business of the person who runs the suites.
        XDG_STATE_HOME: join(tmpdir(), 'kcp-kube-bind-e2e'),
        ...options.env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.end(options.input ?? '');
    let stdout = '';
    let stderr = '';
    let opened = false;
    const login = () => {
      const url = /https?:\/\/\S+\/login\/\S+/.exec(stdout + '\n' + stderr)?.[0];
      if (opened || url === undefined || options.answerLogin === false) return;
      opened = true;
      finishLogin(url).catch((error: unknown) => {
        child.kill('SIGINT');
        reject(error instanceof Error ? error : new Error(String(error)));
      });
    };
    const take = (chunk: Buffer) => {
      options.onOutput?.(chunk.toString());
      login();
    };
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      take(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
      take(chunk);
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, stdout, stderr }));
  });
}
