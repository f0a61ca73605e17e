import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { EXIT_CODES } from './exit-codes.js';
import { playController } from './testing/fake-controller.js';
import { startFakeBackend, type FakeBackend } from './testing/fake-backend.js';
import { FakeWorkspace } from './testing/fake-workspace.js';
import { kubeconfigText } from './testing/run-plugin.js';

jest.setTimeout(60_000);

let folder: string;
let plugin: string;
let workspace: FakeWorkspace;
let backend: FakeBackend;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kpb-binary-'));
  plugin = join(folder, 'kubectl-kcp-bind');
  await promisify(execFile)(process.execPath, ['scripts/build.mjs', '--plugin', plugin]);
  workspace = await FakeWorkspace.start();
  workspace.reaction = playController({
    offers: [],
    loginUrl: 'https://client.example.com/l',
    login: 'never',
  });
  backend = await startFakeBackend();
  await writeFile(join(folder, 'config'), kubeconfigText(workspace.server));
});

afterAll(async () => {
  await workspace.close();
  await backend.close();
  await rm(folder, { recursive: true });
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the bundled plugin with nothing in its environment but `PATH` and what is given. */
function start(argv: readonly string[], path: string, env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, [plugin, ...argv], {
    env: { PATH: path, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

async function end(child: ChildProcess, onError: (text: string) => void = () => undefined): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
    onError(stderr);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

describe('the bundled plugin', () => {
  it('is one file that tells its version', async () => {
    const result = await end(start(['--version'], ''));
    expect(result).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '' });
  });

  it('uses no colour where it does not write to a terminal, whatever the environment suggests', async () => {
    const argv = ['list', '--kubeconfig', join(folder, 'no-such-file')];
    const result = await end(start(argv, '', { CI: 'true', FORCE_COLOR: '1' }));
    expect(result.stderr).toMatch(/^error: /);
    expect(result.stderr).not.toContain('\u001B');
  });

  it('hands other words to kubectl-kcp with arguments, streams and exit code', async () => {
    const tool = join(folder, 'kubectl-kcp');
    await writeFile(tool, '#!/bin/sh\nread line\necho "$*|$line"\necho oops >&2\nexit 42\n');
    await chmod(tool, 0o755);
    const child = start(['apiexport', 'root:x', '--name', 'a b', '--dry-run'], folder);
    child.stdin?.end('typed\n');
    expect(await end(child)).toEqual({
      code: 42,
      stdout: 'bind apiexport root:x --name a b --dry-run|typed\n',
      stderr: 'oops\n',
    });
  });

  it('says what is missing where kubectl-kcp is not installed', async () => {
    const result = await end(start(['apiexport', 'root:x'], join(folder, 'nothing')));
    expect(result.code).toBe(EXIT_CODES.passthrough);
    expect(result.stderr).toContain('kubectl-kcp is not on the PATH');
  });

  it('prints the page where there is no browser, and ends at SIGINT with how to go on', async () => {
    const argv = [backend.origin, '--kubeconfig', join(folder, 'config'), '--template', 'x'];
    // No xdg-open, no DISPLAY.
    const child = start(argv, dirname(process.execPath));
    let killed = false;
    const result = await end(child, (stderr) => {
      if (!killed && stderr.includes('Waiting until you have logged in')) killed = child.kill('SIGINT');
    });
    expect(result.code).toBe(EXIT_CODES.interrupted);
    expect(result.stderr).toMatch(/https:\/\/client\.example\.com\/l\?id=1&verifier=/);
    expect(result.stderr).toContain('no browser could be started');
    expect(result.stderr).toContain('run the same command again');
    expect(workspace.objects.has('kubebindbindings/x')).toBe(false);
  });
});
