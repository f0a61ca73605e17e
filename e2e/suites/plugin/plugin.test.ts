import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { readBench } from '../../harness/bench.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { applyDatabase, createConsumer, syncedDatabase, type Consumer } from '../../harness/consumer.js';
import { createContractAccount, exportDatabases } from '../../harness/contract-account.js';
import { kubectl } from '../../harness/kubectl.js';
import { MiniBrowser } from '../../harness/mini-browser.js';
import { pluginPath, runPlugin, type PluginRun } from '../../harness/plugin.js';
import { createWorkspace, uniqueName } from '../../harness/workspaces.js';

interface Finding {
  readonly name: string;
  readonly result: string;
  readonly message: string;
}

/** The commands of the plugin on a real kcp, with a controller that serves no login pages. */
describe('the plugin, where the controller has no login pages', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('plugin')}`;
  let installation: ClientInstallation;
  let controller: Controller;
  let alice: Consumer;
  let bob: Consumer;
  let kubeconfigBefore: string;

  beforeAll(async () => {
    await mkdir(dir, { recursive: true });
    [installation, alice, bob] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
      createConsumer('bob'),
    ]);
    kubeconfigBefore = await readFile(alice.kubeconfig, 'utf8');
    controller = await startController({ installation, dir, withoutLoginPages: true });
  });

  afterAll(async () => {
    await controller.stop();
  });

  const at = () => `--client-path=${installation.workspace.path}`;

  /** Opens the provider's own login, which the plugin prints, in a person's place. */
  async function bindHere(consumer: Consumer, args: readonly string[]): Promise<PluginRun> {
    const browser = new MiniBrowser();
    let seen = '';
    let opened: Promise<unknown> | undefined;
    const run = await runPlugin(consumer.kubeconfig, [...args, at(), '--no-browser'], {
      answerLogin: false,
      onOutput: (chunk) => {
        seen += chunk;
        const url = /https?:\/\/\S+\/api\/authorize\S*(?=\s)/.exec(seen)?.[0];
        if (url !== undefined) opened ??= browser.get(url);
      },
    });
    await opened;
    return run;
  }

  async function doctor(
    consumer: Consumer,
    args: readonly string[] = [],
  ): Promise<{ code: number; checks: Finding[]; handshake: string }> {
    const run = await runPlugin(consumer.kubeconfig, ['doctor', ...args, at(), '-o', 'json']);
    return { code: run.code, ...(JSON.parse(run.stdout) as { checks: Finding[]; handshake: string }) };
  }

  const failedOf = (checks: readonly Finding[]) => checks.filter(({ result }) => result === 'failed');

  it('finds nothing wrong with a workspace that could be bound, and writes nothing there', async () => {
    const found = await doctor(alice, [bench.backendUrl]);
    expect(failedOf(found.checks)).toEqual([]);
    expect(found.code).toBe(0);
    // The bench builds kcp from its module, which then knows no version of its own.
    expect(found.checks.find(({ name }) => name === 'kcp-version')?.message).toMatch(
      /kcp v0\.|names no version/,
    );
    expect(found.checks.filter(({ name }) => name === 'clock')).toEqual([
      expect.objectContaining({ result: 'ok', message: expect.stringContaining('kcp') }),
      expect.objectContaining({ result: 'ok' }),
    ]);
    expect(await kubectl(alice.kubeconfig, ['get', 'apibindings', '-o', 'name'])).not.toContain('kube-bind');
    const elsewhere = await runPlugin(alice.kubeconfig, [
      'doctor',
      '--client-path=root:no-such-place',
      '-o',
      'name',
    ]);
    expect(elsewhere).toMatchObject({ code: 11, stdout: 'client-export\n' });
  });

  it('falls back to the handshake from this machine, and syncs', async () => {
    const run = await bindHere(alice, [bench.backendUrl, '--template=databases', '--accept-claims=all']);
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('publishes no login page') });
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres' });
    const { copy } = await syncedDatabase(alice, 'main');
    expect(copy.spec.engine).toBe('postgres');
    const status = await runPlugin(alice.kubeconfig, ['status', 'databases']);
    expect(status).toMatchObject({ code: 0 });
    expect(status.stdout).toContain('✓ connection → ✓ export → ✓ schema → ✓ API → ✓ sync');
    expect(failedOf((await doctor(alice)).checks)).toEqual([]);
  });

  it('uses the account again without a login, and gives another workspace another one', async () => {
    const again = await runPlugin(
      alice.kubeconfig,
      [bench.backendUrl, '--template=databases', at(), '--no-browser', '--timeout=60s'],
      { answerLogin: false },
    );
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('no login is needed') });
    const second = await bindHere(bob, [bench.backendUrl, '--template=databases', '--handshake=local']);
    expect(second).toMatchObject({ code: 0 });
    const identities = await Promise.all(
      [alice, bob].map(({ kubeconfig }) =>
        kubectl(kubeconfig, [
          ...['get', 'secrets', '-n', 'default', '-l', 'kcp.kube-bind.io/credentials=true'],
          ...['-o', 'jsonpath={.items[0].data.identity}'],
        ]),
      ),
    );
    for (const identity of identities) {
      const text = Buffer.from(identity, 'base64').toString();
      expect(Buffer.from(text, 'base64url')).toHaveLength(32);
    }
    expect(new Set(identities).size).toBe(2);
  });

  it('removes the credentials with the connection', async () => {
    const run = await runPlugin(alice.kubeconfig, ['unbind', 'databases', '--with-connection', '--yes']);
    expect(run).toMatchObject({ code: 0 });
    const left = await kubectl(alice.kubeconfig, [
      ...['get', 'kubebindbindings,kubebindconnections', '-o', 'name'],
    ]);
    expect(left).toBe('');
    const secrets = await kubectl(alice.kubeconfig, ['get', 'secrets', '-n', 'default', '-o', 'name']);
    expect(secrets).not.toContain('kube-bind');
  });

  it('binds with credentials from standard input', async () => {
    const account = await createContractAccount(uniqueName('by-file'));
    await exportDatabases(account, 'databases');
    const run = await runPlugin(
      alice.kubeconfig,
      ['--kubeconfig-file', '-', '--connection=by-file', '--template=databases', at(), '-o', 'name'],
      { input: account.kubeconfig },
    );
    expect(run).toMatchObject({
      code: 0,
      stdout:
        'apibinding.apis.kcp.io/kcp.kube-bind.io\n' +
        'kubebindconnection.kcp.kube-bind.io/by-file\n' +
        'kubebindbinding.kcp.kube-bind.io/databases\n',
    });
    await applyDatabase(alice.kubeconfig, 'other', { engine: 'mysql' });
    await syncedDatabase(alice, 'other');
    const unbind = await runPlugin(alice.kubeconfig, [
      'unbind',
      'databases',
      '--with-connection',
      '--yes',
      '-q',
    ]);
    expect(unbind).toMatchObject({ code: 0, stderr: '' });
  });

  it('hands kcp’s own words to kubectl-kcp, through kubectl', async () => {
    const folder = `${dir}/path`;
    await mkdir(folder);
    await writeFile(`${folder}/kubectl-kcp`, '#!/bin/sh\nread line\necho "$*|$line"\nexit 7\n');
    await chmod(`${folder}/kubectl-kcp`, 0o755);
    const run = await runPlugin(alice.kubeconfig, ['apiexport', 'root:x:y', '--name=z'], {
      input: 'typed\n',
      env: { PATH: `${folder}:${pluginPath()}` },
    });
    expect(run).toMatchObject({ code: 7, stdout: 'bind apiexport root:x:y --name=z|typed\n' });
  });

  it('installs what kustomize installs', async () => {
    const same = await runPlugin(installation.workspace.kubeconfig, ['install', '--dry-run', '-o', 'name']);
    expect(same).toMatchObject({ code: 0, stdout: '' });
    const fresh = await createWorkspace(bench.consumers, 'root', uniqueName('installed'));
    const first = await runPlugin(fresh.kubeconfig, ['install', '--yes']);
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining('+ apiexport.apis.kcp.io/') });
    const second = await runPlugin(fresh.kubeconfig, ['install', '--yes']);
    expect(second).toMatchObject({ code: 0, stdout: 'The installation is up to date\n' });
    await kubectl(fresh.kubeconfig, ['label', 'clusterrole', 'kcp.kube-bind.io:bind', 'mine=true']);
    await kubectl(fresh.kubeconfig, [
      ...['patch', 'clusterrole', 'kcp.kube-bind.io:bind', '--type=json'],
      ...['-p', '[{"op":"replace","path":"/rules/0/verbs","value":["get"]}]'],
    ]);
    const third = await runPlugin(fresh.kubeconfig, ['install', '--yes']);
    expect(third.stderr).toContain('    - rules[0].verbs[0]: "get"\n    + rules[0].verbs[0]: "bind"');
    const role = await kubectl(fresh.kubeconfig, [
      'get',
      'clusterrole',
      'kcp.kube-bind.io:bind',
      '-o',
      'json',
    ]);
    expect(JSON.parse(role)).toMatchObject({
      metadata: { labels: { mine: 'true' } },
      rules: [{ verbs: ['bind'] }],
    });
  });

  it('lets go of a workspace that no controller serves any more', async () => {
    await applyDatabase(bob.kubeconfig, 'left', { engine: 'mysql' });
    await syncedDatabase(bob, 'left');
    await controller.stop();
    await kubectl(bob.kubeconfig, ['delete', 'database', 'left', '-n', 'default', '--wait=false']);
    const unbind = await runPlugin(bob.kubeconfig, [
      ...['unbind', 'databases', '--with-connection', '--yes', '--wait=false'],
    ]);
    expect(unbind).toMatchObject({ code: 0 });
    const alone = await runPlugin(bob.kubeconfig, ['cleanup']);
    expect(alone.code).toBe(12);
    expect(alone.stderr).toMatch(/databases\.example\.org left in namespace default: is being deleted/);
    const clean = await runPlugin(bob.kubeconfig, ['cleanup', '--yes']);
    expect(clean).toMatchObject({ code: 0, stdout: '3 objects are no longer held\n' });
    const left = await kubectl(bob.kubeconfig, [
      ...['get', 'kubebindbindings,kubebindconnections,databases.example.org', '-A', '-o', 'name'],
    ]);
    expect(left).toBe('');
  });

  it('has written no kubeconfig', async () => {
    expect(await readFile(alice.kubeconfig, 'utf8')).toBe(kubeconfigBefore);
  });
});
