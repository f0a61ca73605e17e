import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { KubeObject } from '../../../src/kube/object.js';
import { EXIT_CODES } from '../exit-codes.js';
import {
  bindingResponse,
  providerKubeconfig,
  startFakeHandshake,
  type FakeHandshake,
} from '../testing/fake-handshake.js';
import { playController, type ControllerScript } from '../testing/fake-controller.js';
import { FakeWorkspace } from '../testing/fake-workspace.js';
import { runPlugin, writeKubeconfig, type RunSetup } from '../testing/run-plugin.js';

const SCRIPT: ControllerScript = {
  offers: [],
  loginUrl: 'https://client.example.com/login',
  login: 'no-pages',
};

// Only a machine that is busy with much else needs more than a fraction of this.
jest.setTimeout(30_000);

let workspace: FakeWorkspace;
let provider: FakeWorkspace;
let backend: FakeHandshake;
let kubeconfig: Awaited<ReturnType<typeof writeKubeconfig>>;

beforeEach(async () => {
  workspace = await FakeWorkspace.start();
  workspace.reaction = playController(SCRIPT);
  provider = await FakeWorkspace.start('root:provider');
  provider.reaction = exportWhatIsAsked;
  backend = await startFakeHandshake();
  kubeconfig = await writeKubeconfig(workspace.server);
});

afterEach(async () => {
  await workspace.close();
  await provider.close();
  await backend.close();
  await kubeconfig.remove();
});

function exportWhatIsAsked(object: KubeObject, place: FakeWorkspace): void {
  if (object.kind !== 'APIServiceExportRequest') return;
  const { name } = object.metadata;
  place.put('apiserviceexports', { ...object, kind: 'APIServiceExport', metadata: { name } });
}

/** Goes to a login page as a browser would, and gives the answer of where it is sent back to. */
async function follow(start: string): Promise<{ status: number; text: string; url: string }> {
  const response = await fetch(start);
  return { status: response.status, text: await response.text(), url: response.url };
}

function plugin(argv: readonly string[], setup: Omit<RunSetup, 'argv'> = {}) {
  return runPlugin({
    dial: (server) => (server === 'https://provider.invalid' ? provider.server : server),
    openBrowser: async (url) => {
      await follow(url);
    },
    ...setup,
    argv: [...argv, '--kubeconfig', kubeconfig.path],
  });
}

const local = (argv: readonly string[], setup: Omit<RunSetup, 'argv'> = {}) =>
  plugin([backend.origin, '--handshake=local', ...argv], setup);
const connectionName = (): string => new URL(backend.origin).host.replace(':', '-');

function secret(name = connectionName()): Record<string, string> {
  const data = (workspace.get('secrets', `kube-bind-${name}`)?.['data'] ?? {}) as Record<string, string>;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}

describe('bind URL --handshake=local', () => {
  it('logs in from here, keeps the account in a Secret, and asks the provider for the export itself', async () => {
    const pages: { status: number; text: string; url: string }[] = [];
    const result = await local(['--template', 'cowboys', '--accept-claims', 'secrets'], {
      openBrowser: async (url) => void pages.push(await follow(url)),
    });
    expect(result.stderr).not.toContain('error');
    expect(result.code).toBe(EXIT_CODES.ok);
    const stored = secret();
    expect(Buffer.from(stored['identity'] ?? '', 'base64url')).toHaveLength(32);
    expect(backend.identities).toEqual([stored['identity']]);
    expect(stored['kubeconfig']).toContain('provider-token');
    expect(workspace.get('secrets', `kube-bind-${connectionName()}`)?.metadata.labels).toMatchObject({
      'kcp.kube-bind.io/credentials': 'true',
    });
    expect(workspace.get('kubebindconnections', connectionName())?.['spec']).toEqual({
      kubeconfigSecretRef: { namespace: 'default', name: `kube-bind-${connectionName()}` },
    });
    expect(workspace.get('kubebindbindings', 'cowboys')?.['spec']).toMatchObject({
      template: 'cowboys',
      permissionClaims: [{ group: '', resource: 'secrets', state: 'Accepted' }],
    });
    expect(provider.get('apiserviceexportrequests', 'cowboys')).toMatchObject({
      metadata: { namespace: 'kube-bind-1' },
      spec: {
        resources: [{ group: 'wildwest.dev', resource: 'cowboys', versions: ['v1alpha1'] }],
        permissionClaims: [
          { resource: 'secrets', selector: { labelSelector: { matchLabels: { app: 'cowboy' } } } },
        ],
      },
    });
    // The browser ends on a page without the token.
    expect(pages).toEqual([
      {
        status: 200,
        text: expect.stringContaining('the terminal goes on'),
        url: expect.stringMatching(/\/done$/),
      },
    ]);
    const shown = result.stdout + result.stderr;
    for (const hidden of [stored['identity'], 'provider-token']) expect(shown).not.toContain(hidden);
  });

  it('uses the account again: no login, no write, and another template without one', async () => {
    await local(['--template', 'cowboys']);
    const before = workspace.writes.length;
    const again = await plugin([backend.origin, '--template', 'cowboys']);
    expect(again.code).toBe(EXIT_CODES.ok);
    expect(again.opened).toEqual([]);
    expect(workspace.writes).toHaveLength(before);
    const other = await plugin([backend.origin, '--template', 'sheriffs']);
    expect(other.code).toBe(EXIT_CODES.ok);
    expect(other.opened).toEqual([]);
    expect(workspace.get('kubebindbindings', 'sheriffs')).toBeDefined();
    const doctor = await plugin(['doctor', '-o', 'json']);
    expect(JSON.parse(doctor.stdout)).toMatchObject({ handshake: 'local' });
    expect((await plugin(['templates'])).stdout).toMatch(/cowboys .*labels app=cowboy/);
  });

  it('uses the identity of a run that was cut off before its login', async () => {
    const cut = await local(['--template', 'cowboys', '--timeout', '30s'], {
      openBrowser: async (_url, expire) => expire(),
    });
    expect(cut.code).toBe(EXIT_CODES.timeout);
    const { identity } = secret();
    expect(workspace.get('kubebindconnections', connectionName())).toBeUndefined();
    await local(['--template', 'cowboys']);
    expect(secret()['identity']).toBe(identity);
    expect(backend.identities).toEqual([identity]);
  });

  it('logs in again for a template that is new at the provider, and with `login`, as the same consumer', async () => {
    backend.templates = backend.templates.slice(0, 1);
    await local(['--template', 'cowboys']);
    const missing = await local(['--template', 'sheriffs']);
    expect(missing.code).toBe(EXIT_CODES.notFound);
    expect(missing.opened).toHaveLength(1);
    const login = await plugin(['login']);
    expect(login.code).toBe(EXIT_CODES.ok);
    expect(login.opened).toHaveLength(1);
    expect(new Set(backend.identities).size).toBe(1);
    expect(backend.identities).toHaveLength(3);
  });

  it('is what is done where the controller publishes no login page, and is said', async () => {
    const result = await plugin([backend.origin, '--template', 'cowboys']);
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(result.stderr).toContain('The controller publishes no login page');
    expect(result.stderr).toContain('no --external-url');
    expect(workspace.get('kubebindconnections', connectionName())?.['spec']).toHaveProperty(
      'kubeconfigSecretRef',
    );
    const insisted = await plugin([
      backend.origin,
      ...['--connection', 'other', '--account', 'b', '--template', 'cowboys', '--handshake', 'controller'],
    ]);
    expect(insisted.code).toBe(EXIT_CODES.login);
    expect(insisted.stderr).toContain('--handshake=local');
  });

  it('is not done where the controller may not read the Secret that it would leave behind', async () => {
    await plugin([backend.origin, '--template', 'cowboys']);
    const client = workspace.get('apibindings', 'kcp.kube-bind.io')?.['spec'] as {
      permissionClaims: { resource: string; state: string }[];
    };
    for (const claim of client.permissionClaims) if (claim.resource === 'secrets') claim.state = 'Rejected';
    const result = await plugin([
      backend.origin,
      ...['--connection', 'other', '--account', 'b', '--template', 'cowboys'],
    ]);
    expect(result.code).toBe(EXIT_CODES.login);
    expect(result.stderr).not.toContain('Making the handshake from this machine');
  });

  it('refuses what does not belong to its login and goes on waiting', async () => {
    const answers: number[] = [];
    const result = await local(['--template', 'cowboys'], {
      openBrowser: async (url) => {
        const redirect = new URL(new URL(url).searchParams.get('redirect_url') ?? '');
        expect(redirect.hostname).toBe('127.0.0.1');
        const get = async (target: URL | string, init?: RequestInit): Promise<void> =>
          void answers.push((await fetch(target, { redirect: 'manual', ...init })).status);
        const without = new URL(redirect);
        without.search = '?access_token=x.y.z';
        await get(without);
        const wrong = new URL(redirect);
        wrong.searchParams.set('nonce', 'guessed');
        wrong.searchParams.set('error', 'access_denied');
        await get(wrong);
        backend.sessionId = 'somebody-else';
        answers.push((await follow(url)).status);
        backend.sessionId = undefined;
        await get(redirect, { method: 'OPTIONS' });
        await get(redirect, { method: 'POST' });
        await get(new URL('/favicon.ico', redirect));
        answers.push((await follow(url)).status);
        answers.push((await follow(url)).status);
      },
    });
    expect(answers).toEqual([400, 400, 400, 405, 405, 404, 200, 410]);
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(backend.identities).toHaveLength(1);
  });

  it('reports a login that the provider refuses on both sides, escaped', async () => {
    let page = '';
    const result = await local(['--template', 'cowboys'], {
      openBrowser: async (url) => {
        const redirect = new URL(new URL(url).searchParams.get('redirect_url') ?? '');
        redirect.searchParams.set('error', 'access_denied');
        redirect.searchParams.set('error_description', 'x<script>alert(1)</script>');
        page = await (await fetch(redirect)).text();
      },
    });
    expect(result.code).toBe(EXIT_CODES.login);
    expect(result.stderr).toContain('access_denied');
    expect(page).toContain('access_denied x&lt;script&gt;');
    expect(page).not.toContain('<script>');
    expect(secret()).not.toHaveProperty('kubeconfig');
  });

  it.each([
    ['the standard alphabet', (text: string) => Buffer.from(text).toString('base64'), encodeURIComponent],
    ['the URL-safe alphabet', (text: string) => Buffer.from(text).toString('base64url'), encodeURIComponent],
    [
      'no padding',
      (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, ''),
      encodeURIComponent,
    ],
    ['a raw plus', (text: string) => Buffer.from(text).toString('base64'), (text: string) => text],
  ])('takes the response of the provider’s own page in %s', async (_, encode, escape) => {
    // Bytes that give + and / in base64.
    const text = JSON.stringify(
      bindingResponse(`${providerKubeconfig('https://provider.invalid')}# ~~~???>>>`),
    );
    const result = await local(['--template', 'cowboys'], {
      openBrowser: async (url) => {
        const { searchParams } = new URL(url);
        const session = `session_id=${searchParams.get('session_id') ?? ''}`;
        const back = `${searchParams.get('redirect_url') ?? ''}&${session}&binding_response=`;
        expect((await fetch(`${back}${encodeURIComponent('{"kind"')}`)).status).toBe(400);
        expect((await fetch(`${back}${escape(encode(text))}`)).status).toBe(200);
      },
    });
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(secret()['kubeconfig']).toContain('provider-token');
    expect(secret()['kubeconfig']).not.toContain('~~~');
  });

  it('listens on the port that is asked for, and says that it is taken', async () => {
    let taken = '';
    const result = await local(['--template', 'cowboys'], {
      openBrowser: async (url) => {
        const { port } = new URL(new URL(url).searchParams.get('redirect_url') ?? '');
        taken = (await local(['--template', 'cowboys', '--callback-port', port])).stderr;
        await follow(url);
      },
    });
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(taken).toMatch(/127\.0\.0\.1:\d+: the port is taken/);
    expect((await local(['--callback-port', '99999'])).code).toBe(EXIT_CODES.usage);
  });

  it('stores nothing of a kubeconfig that would run programs', async () => {
    backend.server = 'https://provider.invalid"}, exec: {command: "x';
    const result = await local(['--template', 'cowboys']);
    expect(result.code).toBe(EXIT_CODES.provider);
    expect(secret()).not.toHaveProperty('kubeconfig');
  });

  it('shows in a dry run what it would create, logs in nowhere and writes nothing', async () => {
    const result = await local(['--template', 'cowboys', '--dry-run', '-o', 'name']);
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(result.stdout.split('\n')).toEqual([
      'apibinding.apis.kcp.io/kcp.kube-bind.io',
      `kubebindconnection.kcp.kube-bind.io/${connectionName()}`,
      'kubebindbinding.kcp.kube-bind.io/cowboys',
      '',
    ]);
    expect(workspace.writes).toEqual([]);
    expect(backend.identities).toEqual([]);
  });

  it('removes its Secret with the connection, and only a Secret of its own', async () => {
    await local(['--template', 'cowboys']);
    await plugin(['unbind', 'cowboys', '--with-connection', '--yes']);
    expect([...workspace.objects.keys()]).toEqual(['apibindings/kcp.kube-bind.io']);
    const foreign = { apiVersion: 'v1', kind: 'Secret', metadata: { name: `kube-bind-${connectionName()}` } };
    workspace.put('secrets', foreign);
    expect((await local(['--template', 'cowboys'])).code).toBe(EXIT_CODES.conflict);
  });
});

describe('bind --kubeconfig-file', () => {
  const FILE = providerKubeconfig('https://provider.invalid');

  it('takes credentials from standard input and binds an export that is there', async () => {
    const argv = [
      '--kubeconfig-file',
      '-',
      '--connection',
      'west',
      '--template',
      'cowboys',
      '--accept-claims=secrets',
    ];
    const result = await plugin(argv, { input: FILE });
    expect(result.stderr).not.toContain('error');
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(secret('west')['kubeconfig']).toContain('provider-token');
    expect(workspace.get('kubebindbindings', 'cowboys')?.['spec']).toMatchObject({
      connection: 'west',
      template: 'cowboys',
      permissionClaims: [{ group: '', resource: 'secrets', state: 'Accepted' }],
    });
    const before = workspace.writes.length;
    expect((await plugin(argv, { input: FILE })).code).toBe(EXIT_CODES.ok);
    expect(workspace.writes).toHaveLength(before);
    await plugin(argv, { input: FILE.replace('provider-token', 'renewed-token') });
    expect(secret('west')['kubeconfig']).toContain('renewed-token');
  });

  it('asks for APIs by name, named after server and namespace without a name', async () => {
    const argv = ['--kubeconfig-file', '-', '--resource', 'cowboys.v1.wildwest.dev', '--name', 'mine'];
    expect((await plugin(argv, { input: FILE })).code).toBe(EXIT_CODES.ok);
    expect(workspace.get('kubebindbindings', 'mine')?.['spec']).toEqual({
      connection: 'provider.invalid-kube-bind-1',
      resources: [{ group: 'wildwest.dev', resource: 'cowboys', versions: ['v1'] }],
    });
  });

  it('lists what the provider exports where nothing was said, before it stores anything', async () => {
    provider.put('apiserviceexports', { metadata: { name: 'cowboys' } } as KubeObject);
    const result = await plugin(['--kubeconfig-file', '-'], { input: FILE });
    expect(result.code).toBe(EXIT_CODES.usage);
    expect(result.stderr).toContain('exports to this account: cowboys');
    expect([...workspace.objects.keys()]).toEqual(['apibindings/kcp.kube-bind.io']);
  });

  it.each([
    ['no kubeconfig', 'just words', /cannot be used/],
    [
      'a program to run',
      FILE.replace('token: provider-token', 'exec: {command: id}'),
      /users\[0\]\.user\.exec/,
    ],
    ['no namespace', FILE.replace(', namespace: kube-bind-1', ''), /names no namespace/],
    ['nothing', '', /is empty/],
    ['too much', `# ${'x'.repeat(70_000)}`, /larger than/],
  ])('refuses %s and creates nothing', async (_, input, says) => {
    const result = await plugin(['--kubeconfig-file', '-', '--template', 'cowboys'], { input });
    expect(result.code).not.toBe(EXIT_CODES.ok);
    expect(result.stderr).toMatch(says);
    expect(workspace.writes).toEqual([]);
  });

  it('has no use for flags of the handshake', async () => {
    for (const flag of [
      '--handshake=local',
      '--account=x',
      '--ca-file=x',
      '--cluster-id=x',
      '--callback-port=80',
    ]) {
      const run = await plugin(['--kubeconfig-file', '-', flag], { input: FILE });
      expect(run.code).toBe(EXIT_CODES.usage);
      expect(run.stderr).toContain(flag.split('=')[0] ?? '');
    }
    expect((await plugin([backend.origin, '--resource', 'a.v1.b.c'])).code).toBe(EXIT_CODES.usage);
  });
});
