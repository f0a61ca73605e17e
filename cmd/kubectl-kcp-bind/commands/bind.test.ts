import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { EXIT_CODES } from '../exit-codes.js';
import { generatedExportName } from '../../../src/api/names.js';
import type { KubeObject } from '../../../src/kube/object.js';
import { startFakeBackend, providerDocument, type FakeBackend } from '../testing/fake-backend.js';
import {
  condition,
  connected,
  COWBOYS,
  playController,
  SHERIFFS,
  type ControllerScript,
} from '../testing/fake-controller.js';
import { failure, FakeWorkspace } from '../testing/fake-workspace.js';
import { runPlugin, writeKubeconfig, type RunSetup } from '../testing/run-plugin.js';

const SCRIPT: ControllerScript = {
  offers: [COWBOYS, SHERIFFS],
  loginUrl: 'https://client.example.com/login',
  login: 'wait',
};

/** Name of the generated export of a binding in the fake's logical cluster. */
const exportName = (uid: string): string => generatedExportName('logical1', uid);

// Only a machine that is busy with much else needs more than a fraction of this.
jest.setTimeout(30_000);

let workspace: FakeWorkspace;
let backend: FakeBackend;
let kubeconfig: Awaited<ReturnType<typeof writeKubeconfig>>;

beforeEach(async () => {
  workspace = await FakeWorkspace.start();
  workspace.reaction = playController(SCRIPT);
  backend = await startFakeBackend();
  kubeconfig = await writeKubeconfig(workspace.server);
});

afterEach(async () => {
  await workspace.close();
  await backend.close();
  await kubeconfig.remove();
});

const connectionName = (): string => new URL(backend.origin).host.replace(':', '-');

function bind(argv: readonly string[], setup: Omit<RunSetup, 'argv'> = {}) {
  return runPlugin({
    openBrowser: async () => connected(workspace, connectionName(), SCRIPT.offers),
    ...setup,
    argv: [backend.origin, '--kubeconfig', kubeconfig.path, ...argv],
  });
}

describe('bind URL', () => {
  it('goes from an empty workspace to a Ready binding', async () => {
    const result = await bind(['--template', 'cowboys', '--accept-claims', 'secrets']);
    expect(result.stderr).not.toContain('error');
    expect(result.code).toBe(EXIT_CODES.ok);
    const apiBinding = workspace.get('apibindings', 'kcp.kube-bind.io');
    expect(apiBinding?.['spec']).toMatchObject({
      reference: { export: { path: 'root:kube-bind', name: 'kcp.kube-bind.io' } },
    });
    const connection = workspace.get('kubebindconnections', connectionName());
    expect(connection?.['spec']).toMatchObject({ backend: { url: backend.origin } });
    expect(workspace.get('kubebindbindings', 'cowboys')?.['spec']).toEqual({
      connection: connectionName(),
      template: 'cowboys',
      permissionClaims: [{ group: '', resource: 'secrets', state: 'Accepted' }],
    });
    expect(result.stdout).toContain('kubectl get cowboys.wildwest.dev');
    expect(result.stderr).toContain('Waiting until KubeBindBinding cowboys is Ready');
  });

  it('opens one page, with the verifier of the challenge in the connection and its host said before', async () => {
    const result = await bind(['--template', 'sheriffs']);
    expect(result.opened).toHaveLength(1);
    const url = new URL(result.opened[0] ?? '');
    const verifier = url.searchParams.get('verifier') ?? '';
    expect(url.searchParams.get('id')).toBe('1');
    expect(Buffer.from(verifier, 'base64url')).toHaveLength(32);
    const spec = workspace.get('kubebindconnections', connectionName())?.['spec'] as {
      login: { challenge: string };
    };
    expect(spec.login.challenge).toBe(createHash('sha256').update(verifier).digest('base64url'));
    expect(result.stderr).toContain('Opening client.example.com in your browser');
    expect(result.stderr).toContain(result.opened[0] ?? '');
  });

  it('prints the page and opens nothing with --no-browser', async () => {
    const result = await bind(['--template', 'sheriffs', '--no-browser'], {
      onError: (text) => {
        if (text.includes('logged in')) connected(workspace, connectionName(), SCRIPT.offers);
      },
    });
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(result.opened).toEqual([]);
    expect(result.stdout).toMatch(/https:\/\/client\.example\.com\/login\?id=1&verifier=/);
  });

  it('shows the page and goes on when no browser can be started', async () => {
    const result = await bind(['--template', 'sheriffs'], {
      openBrowser: async () => {
        connected(workspace, connectionName(), SCRIPT.offers);
        throw new Error('spawn xdg-open ENOENT');
      },
    });
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(result.stderr).toContain('no browser could be started');
    expect(result.stderr).toContain('https://client.example.com/login?id=1&verifier=');
  });

  it('writes nothing in a second run and needs no login', async () => {
    await bind(['--template', 'cowboys', '--accept-claims', 'all']);
    const before = workspace.writes.length;
    const result = await bind(['--template', 'cowboys', '--accept-claims', 'all']);
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(workspace.writes).toHaveLength(before);
    expect(result.opened).toEqual([]);
  });

  it('asks for a new login when an earlier run was cut off while it waited for one', async () => {
    const cut = await bind(['--template', 'sheriffs'], { openBrowser: async (_url, expire) => expire() });
    expect(cut.code).toBe(EXIT_CODES.timeout);
    const result = await bind(['--template', 'sheriffs']);
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(new URL(result.opened[0] ?? '').searchParams.get('id')).toBe('2');
    expect(
      [...workspace.objects.keys()].filter((key) => key.startsWith('kubebindconnections/')),
    ).toHaveLength(1);
  });

  it('uses the APIBinding to the client export under any name and makes no second one', async () => {
    workspace.put('apibindings', {
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIBinding',
      metadata: { name: 'my-own-name' },
      spec: { reference: { export: { path: 'root:kube-bind', name: 'kcp.kube-bind.io' } } },
      status: { phase: 'Bound' },
    });
    const result = await bind(['--template', 'sheriffs']);
    expect(result.code).toBe(EXIT_CODES.ok);
    expect([...workspace.objects.keys()].filter((key) => key.startsWith('apibindings/'))).toEqual([
      'apibindings/my-own-name',
    ]);
  });

  it('reuses a connection of another name to the same backend, and refuses a name that is taken', async () => {
    await bind(['--template', 'sheriffs', '--connection', 'west'], {
      openBrowser: async () => connected(workspace, 'west', SCRIPT.offers),
    });
    const again = await bind(['--template', 'cowboys', '--accept-claims', 'none']);
    expect(again.code).toBe(EXIT_CODES.ok);
    expect(workspace.get('kubebindbindings', 'cowboys')?.['spec']).toMatchObject({ connection: 'west' });
    const taken = await bind(['--template', 'cowboys', '--connection', 'west', '--account', 'other']);
    expect(taken.code).toBe(EXIT_CODES.conflict);
    expect(taken.stderr).toContain('--connection');
  });

  it('adopts what was picked on the login page', async () => {
    const result = await bind([], {
      answers: [],
      openBrowser: async () => {
        connected(workspace, connectionName(), SCRIPT.offers);
        setTimeout(() => {
          const object = workspace.put('kubebindbindings', {
            apiVersion: 'kcp.kube-bind.io/v1alpha1',
            kind: 'KubeBindBinding',
            metadata: { name: 'sheriffs' },
            spec: { connection: connectionName(), template: 'sheriffs' },
          });
          workspace.reaction(object, workspace);
        }, 150);
      },
    });
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(result.stderr).toContain('choice was made on the login page');
    expect(result.stdout).toContain('Bound: sheriffs');
  });

  it('asks for templates and for each permission claim at a terminal', async () => {
    const result = await bind([], { answers: ['9', '1, sheriffs', 'n'] });
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(result.stderr).toContain('1) cowboys - Cowboys');
    expect(result.stderr).toContain('There is no "9" in the list');
    expect(result.stderr).toContain(
      'Template cowboys asks to read and write secrets of this workspace (label app=cowboy). Accept? [y/N]',
    );
    expect(workspace.get('kubebindbindings', 'cowboys')?.['spec']).toMatchObject({
      permissionClaims: [{ group: '', resource: 'secrets', state: 'Rejected' }],
    });
    expect(workspace.get('kubebindbindings', 'sheriffs')).toBeDefined();
  });

  it('lists the templates when nobody is there to choose', async () => {
    const result = await bind([]);
    expect(result.code).toBe(EXIT_CODES.usage);
    expect(result.stderr).toContain('cowboys, sheriffs');
    expect(result.stderr).toContain('--template');
  });

  it('refuses a template and a claim that are not offered, and names what is', async () => {
    const template = await bind(['--template', 'cowboy']);
    expect(template.code).toBe(EXIT_CODES.notFound);
    expect(template.stderr).toContain('cowboys, sheriffs');
    const claim = await bind(['--template', 'cowboys', '--accept-claims', 'secret']);
    expect(claim.code).toBe(EXIT_CODES.notFound);
    expect(claim.stderr).toContain('they ask for: secrets');
    expect(workspace.get('kubebindbindings', 'cowboys')).toBeUndefined();
  });

  it('accepts a claim later without making another binding', async () => {
    const first = await bind(['--template', 'cowboys']);
    expect(first.stderr).toContain('not accepted');
    await bind(['--template', 'cowboys', '--accept-claims', 'secrets']);
    expect(workspace.get('kubebindbindings', 'cowboys')?.['spec']).toMatchObject({
      permissionClaims: [{ group: '', resource: 'secrets', state: 'Accepted' }],
    });
  });

  it('puts data alone on standard output with -o', async () => {
    const json = await bind(['--template', 'sheriffs', '-o', 'json']);
    const list = JSON.parse(json.stdout) as { kind: string; items: KubeObject[] };
    expect(list.items.map(({ kind }) => kind)).toEqual([
      'APIBinding',
      'KubeBindConnection',
      'KubeBindBinding',
    ]);
    const names = await bind(['--template', 'sheriffs', '-o=name', '--quiet']);
    expect(names.stdout.split('\n').filter((line) => line !== '')).toEqual([
      'apibinding.apis.kcp.io/kcp.kube-bind.io',
      `kubebindconnection.kcp.kube-bind.io/${connectionName()}`,
      'kubebindbinding.kcp.kube-bind.io/sheriffs',
    ]);
    expect(names.stderr).toBe('');
  });

  it('shows the first condition that holds a binding back, and how to go on after the time', async () => {
    workspace.reaction = playController({
      ...SCRIPT,
      bindingConditions: [
        condition('Connected', 'True', 'Connected'),
        condition('ExportReady', 'False', 'RequestPending', 'the provider works on it\u001b[2J'),
        condition('Ready', 'False', 'NotReady', 'see ExportReady'),
      ],
    });
    const result = await bind(['--template', 'sheriffs', '--timeout', '30s'], {
      onError: (text, expire) => {
        if (text.includes('RequestPending')) expire();
      },
    });
    expect(result.code).toBe(EXIT_CODES.timeout);
    expect(result.stderr).toContain('ExportReady RequestPending: the provider works on it');
    expect(result.stderr).not.toContain('\u001b[2J');
    expect(result.stderr).toMatch(
      /error: not done after 30s: KubeBindBinding sheriffs is not Ready yet \(ExportReady RequestPending: the provider works on it/,
    );
    expect(result.stderr).toContain('run the same command again');
  });

  it('stops early when a binding needs somebody', async () => {
    workspace.reaction = playController({
      ...SCRIPT,
      bindingConditions: [
        condition('SchemaInSync', 'False', 'Unsupported', 'spec.x uses webhook conversion'),
      ],
    });
    const result = await bind(['--template', 'sheriffs']);
    expect(result.code).toBe(EXIT_CODES.notReady);
    expect(result.stderr).toContain('webhook conversion');
  });

  it('creates the generated APIBinding itself where the controller may not', async () => {
    const conditions = [condition('APIBound', 'False', 'ClaimMissing', 'create the APIBinding')];
    const play = playController({ ...SCRIPT, bindingConditions: conditions });
    workspace.reaction = (object, fake) => {
      play(object, fake);
      if (object.kind === 'KubeBindBinding') {
        const uid = object.metadata.uid ?? '';
        const stored = fake.get('kubebindbindings', object.metadata.name);
        fake.setStatus('kubebindbindings', object.metadata.name, {
          ...(stored?.['status'] as object),
          apiExport: { path: 'root:kube-bind', name: exportName(uid) },
        });
      }
      if (object.kind === 'APIBinding' && object.metadata.name.startsWith('kbb-')) {
        fake.setStatus('kubebindbindings', 'sheriffs', {
          conditions: [condition('Ready', 'True', 'Ready')],
        } as unknown as KubeObject['status']);
      }
    };
    const result = await bind(['--template', 'sheriffs', '--no-apibindings-claim']);
    expect(result.code).toBe(EXIT_CODES.ok);
    const claims = (
      workspace.get('apibindings', 'kcp.kube-bind.io')?.['spec'] as { permissionClaims: object[] }
    ).permissionClaims;
    expect(claims).toContainEqual(
      expect.objectContaining({ group: 'apis.kcp.io', resource: 'apibindings', state: 'Rejected' }),
    );
    const uid = workspace.get('kubebindbindings', 'sheriffs')?.metadata.uid ?? '';
    expect(workspace.get('apibindings', exportName(uid))?.['spec']).toMatchObject({
      reference: { export: { path: 'root:kube-bind', name: exportName(uid) } },
    });
  });

  it('creates everything and ends with --wait=false', async () => {
    const result = await bind([
      '--template',
      'cowboys',
      '--accept-claims',
      'all',
      '--wait=false',
      '--no-browser',
    ]);
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(workspace.get('kubebindbindings', 'cowboys')).toBeDefined();
    expect(result.stdout).toContain('verifier=');
    expect(result.stdout).toContain('kubectl kcp bind status');
  });

  it('ends within the time when nobody logs in, and leaves a connection to go on with', async () => {
    const result = await bind(['--template', 'sheriffs', '--timeout', '30s'], {
      openBrowser: async (_url, expire) => expire(),
    });
    expect(result.stderr).toContain('not done after 30s');
    expect(result.code).toBe(EXIT_CODES.timeout);
    expect(workspace.get('kubebindbindings', 'sheriffs')).toBeUndefined();
    expect(result.stderr).toContain('waits for its login');
  });

  it('ends at once at SIGINT and says how to go on', async () => {
    const interrupt = new AbortController();
    const result = await bind(['--template', 'sheriffs'], {
      openBrowser: async () => setImmediate(() => interrupt.abort()) as unknown as undefined,
      interrupt: interrupt.signal,
    });
    expect(result.code).toBe(EXIT_CODES.interrupted);
    expect(result.stderr).toContain('interrupted: KubeBindConnection');
    expect(result.stderr).toContain('run the same command again');
  });

  it.each([
    ['LoginRefused', 'the provider says: access_denied', 'run the same command again for a new login'],
    [
      'HandshakeUnavailable',
      'accept the permission claim logicalclusters',
      'do what the message says and run the same command again, or with --handshake=local',
    ],
  ])('reports a login that ended with %s, and what to do', async (reason, message, remedy) => {
    const result = await bind(['--template', 'sheriffs', '--handshake=controller'], {
      openBrowser: async () =>
        workspace.setStatus('kubebindconnections', connectionName(), {
          phase: 'Failed',
          observedGeneration: 1,
          conditions: [condition('Authenticated', 'False', reason, message)],
        } as unknown as KubeObject['status']),
    });
    expect(result.code).toBe(EXIT_CODES.login);
    expect(result.stderr).toContain(message);
    expect(result.stderr).toContain(`to do: ${remedy}`);
  });

  it('remembers the host of the login page, and asks before it opens another one', async () => {
    const state = await mkdtemp(join(tmpdir(), 'kpb-state-'));
    const variables = { XDG_STATE_HOME: state };
    const moved = (host: string): void => {
      workspace.reaction = playController({ ...SCRIPT, loginUrl: `https://${host}/login` });
    };
    const login = (setup: Omit<RunSetup, 'argv'> = {}, flags: string[] = []) =>
      runPlugin({
        variables,
        openBrowser: async () => connected(workspace, connectionName(), SCRIPT.offers),
        ...setup,
        argv: ['login', connectionName(), ...flags, '--kubeconfig', kubeconfig.path],
      });
    try {
      await bind(['--template', 'sheriffs'], { variables });
      moved('client.example.com:8443');
      expect((await login()).code).toBe(EXIT_CODES.ok);
      moved('evil.example.com');
      const alone = await login();
      expect(alone.code).toBe(EXIT_CODES.declined);
      expect(alone.opened).toEqual([]);
      expect(alone.stderr).toContain('evil.example.com, and up to now it was client.example.com');
      const no = await login({ answers: ['n'] });
      expect(no.code).toBe(EXIT_CODES.declined);
      expect((await login({}, ['--login-host', 'client.example.com'])).code).toBe(EXIT_CODES.declined);
      const yes = await login({ answers: ['y'] });
      expect(yes.code).toBe(EXIT_CODES.ok);
      expect(yes.opened[0]).toMatch(/^https:\/\/evil\.example\.com\/login/);
      expect((await login()).code).toBe(EXIT_CODES.ok);
    } finally {
      await rm(state, { recursive: true });
    }
  });

  it('uses the certificate authority of the connection that exists where --ca-file is left out, and says so', async () => {
    const ca = join(await mkdtemp(join(tmpdir(), 'kpb-ca-')), 'ca.pem');
    await writeFile(ca, '-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n');
    expect((await bind(['--template', 'sheriffs', '--ca-file', ca])).code).toBe(EXIT_CODES.ok);
    const before = workspace.writes.length;
    const again = await bind(['--template', 'sheriffs']);
    expect(again.code).toBe(EXIT_CODES.ok);
    expect(again.stderr).toContain(`certificate authority of KubeBindConnection ${connectionName()}`);
    expect(workspace.writes).toHaveLength(before);
    await rm(dirname(ca), { recursive: true });
  });

  it.each([
    ['javascript:alert(1)'],
    ['file:///etc/passwd'],
    ['https://good.example.com@evil.example.com/'],
    ['not a url'],
  ])('does not open %s from a status', async (loginUrl) => {
    workspace.reaction = playController({ ...SCRIPT, loginUrl });
    const result = await bind(['--template', 'sheriffs']);
    expect(result.code).toBe(EXIT_CODES.login);
    expect(result.opened).toEqual([]);
  });

  it('says who can help when the client export may not be bound', async () => {
    workspace.intercept = (request) =>
      request.method === 'POST' && request.url.includes('/apibindings')
        ? failure(403, 'Forbidden', 'no permission to bind to export root:kube-bind:kcp.kube-bind.io')
        : undefined;
    const result = await bind(['--template', 'sheriffs']);
    expect(result.code).toBe(EXIT_CODES.notInstalled);
    expect(result.stderr).toContain('--client-path');
  });
});

describe('the provider’s URL', () => {
  const page = '<!DOCTYPE html><html>Login</html>';
  it.each([
    ['a web page', { type: 'text/html', body: page }, ['status 200', 'text/html', 'v0.8']],
    [
      'a redirect',
      { status: 302, location: 'https://login.example.com/', type: '', body: '' },
      ['status 302', 'login.example.com'],
    ],
    ['a broken proxy', { status: 502, type: 'text/html', body: page }, ['status 502', 'text/html']],
    ['nothing', { body: '' }, ['status 200', 'application/json']],
    ['an empty object', { body: '{}' }, ['status 200', 'BindingProvider']],
    ['an old version', { body: providerDocument('0.4.0') }, ['0.4.0', 'v0.8']],
  ])('is refused before anything is created when it answers with %s', async (_name, answer, texts) => {
    await backend.close();
    backend = await startFakeBackend(answer);
    const result = await bind(['--template', 'sheriffs']);
    expect(result.code).toBe(EXIT_CODES.provider);
    for (const text of [...texts, backend.origin]) expect(result.stderr).toContain(text);
    expect(workspace.writes).toEqual([]);
  });

  it('is refused when nothing listens there', async () => {
    const { origin } = backend;
    await backend.close();
    const result = await runPlugin({ argv: [origin, '--kubeconfig', kubeconfig.path, '--template', 'x'] });
    expect(result.code).toBe(EXIT_CODES.provider);
    expect(result.stderr).toContain('--no-provider-check');
    expect(workspace.writes).toEqual([]);
    backend = await startFakeBackend();
  });
});

describe('--dry-run', () => {
  it.each([['--dry-run'], ['--dry-run=client'], ['--dry-run=server']])('%s writes nothing', async (flag) => {
    const result = await bind(['--template', 'cowboys', '--accept-claims', 'all', flag, '-o', 'yaml']);
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(workspace.writes).toEqual([]);
    expect(workspace.objects.size).toBe(0);
    const kinds = parseAllDocuments(result.stdout).map((document) => (document.toJS() as KubeObject).kind);
    expect(kinds).toEqual(['APIBinding', 'KubeBindConnection', 'KubeBindBinding']);
  });

  it('prints what a real run creates, but for the login’s challenge', async () => {
    const dry = await bind(['--template', 'cowboys', '--accept-claims', 'all', '--dry-run', '-o', 'yaml']);
    const printed = parseAllDocuments(dry.stdout).map((document) => document.toJS() as KubeObject);
    await bind(['--template', 'cowboys', '--accept-claims', 'secrets']);
    for (const object of printed) {
      const made = workspace.get(`${object.kind.toLowerCase()}s`, object.metadata.name);
      const spec = { ...(made?.['spec'] as Record<string, unknown>) };
      delete spec['login'];
      if (object.kind === 'KubeBindBinding') delete spec['permissionClaims'];
      expect(object['spec']).toMatchObject(spec);
    }
  });

  it('leaves out what exists', async () => {
    await bind(['--template', 'sheriffs']);
    const dry = await bind(['--template', 'cowboys', '--accept-claims', 'none', '--dry-run', '-o', 'yaml']);
    expect(parse(dry.stdout)).toMatchObject({ kind: 'KubeBindBinding', metadata: { name: 'cowboys' } });
  });
});

describe('the kubeconfig', () => {
  it('is neither changed nor given other rights', async () => {
    const text = await readFile(kubeconfig.path, 'utf8');
    const { mode, mtimeMs } = await stat(kubeconfig.path);
    await bind(['--template', 'sheriffs']);
    expect(await readFile(kubeconfig.path, 'utf8')).toBe(text);
    expect(await stat(kubeconfig.path)).toMatchObject({ mode, mtimeMs });
  });

  it('is used with its token, and acts as another user with --as', async () => {
    await bind(['--template', 'sheriffs', '--as', 'jane', '--as-group', 'a', '--as-group', 'b']);
    expect(workspace.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer secret-token',
      'impersonate-user': 'jane',
      'impersonate-group': 'a, b',
    });
  });
});
