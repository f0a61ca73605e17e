import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** A program of the test bench: its output goes to a file, and it ends when it is told to. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Exit code and signal, once it has ended. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly running: boolean;
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM, and SIGKILL after ten seconds; resolves when the process is gone. */
  stop(): Promise<void>;
}

export interface ChildOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** In a process group of its own, so that it may outlive this process and its terminal. */
  readonly detached?: boolean;
}

/** Starts a program. Its output is appended to `logFile`, so that a restart keeps what came before. */
export function startChild(options: ChildOptions): Child {
  const log = openSync(options.logFile, 'a');
  const child = spawn(options.command, options.args, {
    stdio: ['ignore', log, log],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: options.env ?? process.env,
    detached: options.detached ?? false,
  });
  closeSync(log);
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('error', () => resolve({ code: null, signal: null }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  return {
    name: options.name,
    pid: child.pid ?? -1,
    logFile: options.logFile,
    ended,
    get running() {
      return isRunning(child);
    },
    signal: (signal) => void child.kill(signal),
    stop: () => stop(child, ended),
  };
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (isRunning(child)) child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(kill);
}
