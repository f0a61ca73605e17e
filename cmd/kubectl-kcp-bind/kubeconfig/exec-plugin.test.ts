import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ExecEntry } from './config.js';
import { runExecPlugin } from './exec-plugin.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kpb-exec-'));
});
afterAll(() => rm(folder, { recursive: true }));

let count = 0;
async function entry(script: string, init: Partial<ExecEntry> = {}): Promise<ExecEntry> {
  count += 1;
  const command = join(folder, `plugin-${count}`);
  await writeFile(command, `#!/bin/sh\n${script}\n`);
  await chmod(command, 0o755);
  return {
    apiVersion: 'client.authentication.k8s.io/v1',
    command,
    args: [],
    env: [],
    interactiveMode: 'IfAvailable',
    provideClusterInfo: false,
    ...init,
  };
}

function surroundings(signal = new AbortController().signal) {
  const shown: string[] = [];
  return {
    shown,
    variables: { PATH: process.env['PATH'], GIVEN: 'yes' },
    interactive: false,
    showError: (text: string) => void shown.push(text),
    signal,
  };
}

const credential = (status: string): string =>
  `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":${status}}'`;

describe('a credential plugin', () => {
  it('shows its prompt at once and gives a token without an expiry, while this process goes on', async () => {
    const around = surroundings();
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    const plugin = await entry(`printf 'Press enter:' >&2; sleep 0.2; ${credential('{"token":"t"}')}`);
    const pending = runExecPlugin(plugin, {}, around);
    await expect(pending).resolves.toEqual({ token: 't' });
    clearInterval(timer);
    expect(around.shown.join('')).toBe('Press enter:');
    expect(turns).toBeGreaterThan(5);
  });

  it('is told about cluster, arguments and environment', async () => {
    const plugin = await entry(
      `test "$1" = get || exit 3; test "$GIVEN$OWN" = yesown || exit 4
case "$KUBERNETES_EXEC_INFO" in *'"interactive":false'*'https://kcp'*) ;; *) exit 5;; esac
${credential('{"token":"t"}')}`,
      { args: ['get'], env: [{ name: 'OWN', value: 'own' }], provideClusterInfo: true },
    );
    await expect(runExecPlugin(plugin, { server: 'https://kcp' }, surroundings())).resolves.toEqual({
      token: 't',
    });
  });

  it('may give a certificate', async () => {
    const plugin = await entry(credential('{"clientCertificateData":"c","clientKeyData":"k"}'));
    await expect(runExecPlugin(plugin, {}, surroundings())).resolves.toEqual({
      clientCertificateData: 'c',
      clientKeyData: 'k',
    });
  });

  it.each([
    [
      'its exit code and last words',
      'echo first >&2; echo "session expired" >&2; exit 1',
      /code 1: session expired/,
    ],
    ['an answer that is no JSON', 'echo hello', /did not print an ExecCredential/],
    ['an answer without status', `echo '{"kind":"ExecCredential"}'`, /with a status/],
    ['an empty status', credential('{}'), /neither a token nor a certificate/],
  ])('fails with %s', async (_name, script, message) => {
    const plugin = await entry(script);
    await expect(runExecPlugin(plugin, {}, surroundings())).rejects.toMatchObject({
      code: 'CREDENTIALS',
      message: expect.stringMatching(message),
    });
  });

  it('that is not installed fails with its install hint', async () => {
    const plugin = await entry('', { command: join(folder, 'missing'), installHint: 'install kubelogin' });
    await expect(runExecPlugin(plugin, {}, surroundings())).rejects.toMatchObject({
      code: 'CREDENTIALS',
      remedy: 'install kubelogin',
    });
  });

  it('that needs a terminal is not started without one', async () => {
    const plugin = await entry('exit 0', { interactiveMode: 'Always' });
    await expect(runExecPlugin(plugin, {}, surroundings())).rejects.toMatchObject({ code: 'CREDENTIALS' });
  });

  it('ends with the command', async () => {
    const stop = new AbortController();
    const plugin = await entry('exec sleep 60');
    const pending = runExecPlugin(plugin, {}, surroundings(stop.signal));
    setTimeout(() => stop.abort(new Error('interrupted')), 50);
    await expect(pending).rejects.toThrow('interrupted');
  });
});
