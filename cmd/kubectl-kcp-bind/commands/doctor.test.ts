import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import { SHIPPED_CLAIMS } from '../bind/client-claims.js';
import { answerClaims } from '../bind/client-claims.js';
import type { Check } from '../doctor/check.js';
import { EXIT_CODES } from '../exit-codes.js';
import { startFakeBackend, type FakeBackend } from '../testing/fake-backend.js';
import { condition } from '../testing/fake-controller.js';
import { failure, FakeWorkspace } from '../testing/fake-workspace.js';
import { runPlugin, writeKubeconfig } from '../testing/run-plugin.js';

// Only a machine that is busy with much else needs more than a fraction of this.
jest.setTimeout(30_000);

let workspace: FakeWorkspace;
let backend: FakeBackend;
let kubeconfig: Awaited<ReturnType<typeof writeKubeconfig>>;

beforeEach(async () => {
  workspace = await FakeWorkspace.start();
  backend = await startFakeBackend();
  kubeconfig = await writeKubeconfig(workspace.server);
});

afterEach(async () => {
  await workspace.close();
  await backend.close();
  await kubeconfig.remove();
});

interface Found {
  readonly code: number;
  readonly handshake: string;
  check(name: string): Check | undefined;
}

async function doctor(argv: readonly string[] = [], variables: Record<string, string> = {}): Promise<Found> {
  const run = await runPlugin({
    argv: ['doctor', ...argv, '-o', 'json', '--kubeconfig', kubeconfig.path],
    variables,
  });
  const data = JSON.parse(run.stdout) as { checks: Check[]; handshake: string };
  for (const { remedy, result } of data.checks) {
    if (result === 'failed' || result === 'warning') expect(remedy).toMatch(/\w{4}/);
  }
  return {
    code: run.code,
    handshake: data.handshake,
    check: (name) => data.checks.find((one) => one.name === name),
  };
}

function bindClient(spec: { claims?: object[]; status?: object } = {}): void {
  workspace.put('apibindings', {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name: 'kcp.kube-bind.io' },
    spec: {
      reference: { export: { path: 'root:kube-bind', name: 'kcp.kube-bind.io' } },
      permissionClaims: spec.claims ?? answerClaims(SHIPPED_CLAIMS, { apiBindings: true }),
    },
    status: { phase: 'Bound', exportPermissionClaims: [...SHIPPED_CLAIMS], ...spec.status },
  } as never);
}

function connect(status: object): void {
  workspace.put('kubebindconnections', {
    apiVersion: 'kcp.kube-bind.io/v1alpha1',
    kind: 'KubeBindConnection',
    metadata: { name: 'west' },
    spec: { backend: { url: backend.origin } },
    status,
  } as never);
}

describe('doctor', () => {
  it('finds nothing wrong where nothing is, and writes nothing', async () => {
    bindClient();
    connect({ phase: 'Connected', conditions: [condition('BackendReachable', 'True', 'Reachable')] });
    const found = await doctor();
    expect(found.code).toBe(EXIT_CODES.ok);
    for (const name of [
      'kubeconfig',
      'kcp-version',
      'clock',
      'client-export',
      'claims',
      'backend',
      'proxy',
    ]) {
      expect(found.check(name)).toMatchObject({ result: 'ok' });
    }
    expect(found.handshake).toBe('controller');
    expect(workspace.writes).toEqual([]);
  });

  it('finds out in a dry run whether the workspace could be bound to the client', async () => {
    expect((await doctor()).check('client-export')).toMatchObject({ result: 'ok' });
    workspace.intercept = ({ method }) =>
      method === 'POST' ? failure(403, 'Forbidden', 'no permission to bind to export') : undefined;
    const found = await doctor(['--client-path', 'root:elsewhere']);
    expect(found.code).toBe(EXIT_CODES.notReady);
    expect(found.check('client-export')).toMatchObject({ result: 'failed' });
    expect(found.check('client-export')?.message).toContain('root:elsewhere:kcp.kube-bind.io is not there');
    expect(found.check('clock')).toMatchObject({ result: 'skipped' });
    expect(workspace.writes).toEqual([]);
    expect(workspace.objects.size).toBe(0);
  });

  it('names each claim that is not accepted, and what does not work without it', async () => {
    const claims = answerClaims(SHIPPED_CLAIMS, { apiBindings: false }).filter(
      ({ resource }) => resource !== 'secrets',
    );
    bindClient({ claims });
    connect({ phase: 'Connected' });
    const run = await runPlugin({ argv: ['doctor', '--kubeconfig', kubeconfig.path] });
    expect(run.code).toBe(EXIT_CODES.notReady);
    expect(run.stdout).toMatch(/FAILED {3}claims +not accepted: secrets \(without it no kubeconfig/);
    expect(run.stdout).toMatch(/warning {2}claims +rejected: apibindings\.apis\.kcp\.io/);
    expect(run.stdout).toMatch(/to do: .*spec\.permissionClaims of APIBinding kcp\.kube-bind\.io/);
  });

  it('fails for a kcp that is too old, and wonders about what is no kcp', async () => {
    workspace.gitVersion = 'v1.31.0+kcp-v0.26.3';
    expect((await doctor()).check('kcp-version')).toMatchObject({ result: 'failed' });
    workspace.gitVersion = 'v1.33.0';
    expect((await doctor()).check('kcp-version')).toMatchObject({ result: 'warning' });
  });

  it('fails for a clock that is minutes off', async () => {
    workspace.now = () => Date.now() - 3_600_000;
    const found = await doctor();
    expect(found.check('clock')).toMatchObject({ result: 'failed' });
    expect(found.check('clock')?.message).toMatch(/(59m\d\ds|1h00m) ahead of that of kcp/);
  });

  it('looks at the provider of the URL, and says what answers there', async () => {
    expect((await doctor([`${backend.origin}/`])).check('backend')?.message).toContain('v0.8.2');
    const page = await startFakeBackend({ type: 'text/html', body: '<html>' });
    const found = await doctor([page.origin]);
    await page.close();
    expect(found.code).toBe(EXIT_CODES.notReady);
    expect(found.check('backend')?.message).toContain('text/html');
    expect((await doctor([page.origin])).check('backend')?.message).toContain('cannot be reached from here');
  });

  it('tells the two views of a provider apart', async () => {
    bindClient();
    connect({ conditions: [condition('BackendReachable', 'False', 'AddressDenied', 'loopback')] });
    const found = await doctor();
    expect(found.check('backend')).toMatchObject({ result: 'ok' });
    expect(found.check('backend-from-controller')?.message).toContain('AddressDenied: loopback');
  });

  it('says which handshake fits', async () => {
    bindClient();
    expect((await doctor()).handshake).toBe('unknown');
    connect({ conditions: [condition('Authenticated', 'False', 'HandshakeUnavailable', 'x')] });
    expect((await doctor()).handshake).toBe('local');
    connect({ authentication: { url: `${backend.origin}/login/x` } });
    expect((await doctor()).handshake).toBe('controller');
    expect(backend.paths).not.toContain('/login/x');
    connect({ authentication: { url: 'http://127.0.0.1:1/login/x' } });
    expect((await doctor()).handshake).toBe('local');
  });

  it('tells of a proxy that it does not use for providers, and of the one for kcp, without its password', async () => {
    await kubeconfig.remove();
    kubeconfig = await writeKubeconfig(workspace.server);
    const found = await doctor(['http://provider.invalid'], { HTTP_PROXY: 'http://u:geheim@proxy.invalid' });
    expect(JSON.stringify(found)).not.toContain('geheim');
    expect(found.check('proxy')?.message).toContain('reached directly');
  });

  it('goes on without a kubeconfig, with an authority that is none', async () => {
    const run = await runPlugin({
      argv: ['doctor', backend.origin, '-o', 'yaml', '--kubeconfig', '/nonexistent/config'],
    });
    expect(run.code).toBe(EXIT_CODES.notReady);
    const { checks } = parse(run.stdout) as { checks: Check[] };
    expect(checks.map(({ name, result }) => `${name} ${result}`)).toEqual([
      'kubeconfig failed',
      'backend ok',
      'clock ok',
      'handshake ok',
    ]);
  });
});
