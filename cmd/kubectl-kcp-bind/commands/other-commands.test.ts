import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { KubeObject } from '../../../src/kube/object.js';
import { EXIT_CODES } from '../exit-codes.js';
import { condition, connected, COWBOYS, playController, SHERIFFS } from '../testing/fake-controller.js';
import { failure, FakeWorkspace } from '../testing/fake-workspace.js';
import { runPlugin, writeKubeconfig, type RunSetup } from '../testing/run-plugin.js';

// Only a machine that is busy with much else needs more than a fraction of this.
jest.setTimeout(30_000);

let workspace: FakeWorkspace;
let kubeconfig: Awaited<ReturnType<typeof writeKubeconfig>>;

beforeEach(async () => {
  workspace = await FakeWorkspace.start();
  kubeconfig = await writeKubeconfig(workspace.server);
});

afterEach(async () => {
  await workspace.close();
  await kubeconfig.remove();
});

function plugin(argv: readonly string[], setup: Omit<RunSetup, 'argv'> = {}) {
  return runPlugin({ ...setup, argv: [...argv, '--kubeconfig', kubeconfig.path] });
}

function install(): void {
  workspace.put('apibindings', object('APIBinding', 'kcp.kube-bind.io', {}, { phase: 'Bound' }));
}

function connection(name: string): void {
  const spec = { backend: { url: 'https://west.example.com' } };
  workspace.put('kubebindconnections', object('KubeBindConnection', name, spec));
  connected(workspace, name, [COWBOYS, SHERIFFS]);
}

function binding(name: string, conditions: object[], spec: object = {}, finalizers: string[] = []): void {
  const stored = object(
    'KubeBindBinding',
    name,
    { connection: 'west', template: name, ...spec },
    {
      conditions,
      apis: [{ group: 'wildwest.dev', resource: name, kind: 'Cowboy', versions: ['v1'] }],
      sync: { objects: 12, failing: 0 },
    },
  );
  workspace.put('kubebindbindings', { ...stored, metadata: { ...stored.metadata, finalizers } });
}

const READY = [condition('Ready', 'True', 'Ready')];

function object(kind: string, name: string, spec: object, status?: object): KubeObject {
  const apiVersion = kind === 'APIBinding' ? 'apis.kcp.io/v1alpha2' : 'kcp.kube-bind.io/v1alpha1';
  return { apiVersion, kind, metadata: { name }, spec, status } as unknown as KubeObject;
}

describe('list', () => {
  it('shows connections and bindings, the cause only when wide', async () => {
    install();
    connection('west');
    binding('cowboys', READY);
    binding('sheriffs', [condition('ExportReady', 'False', 'RequestFailed', 'refused')]);
    const short = await plugin(['list']);
    expect(short.code).toBe(EXIT_CODES.ok);
    expect(short.stdout).toMatch(/^CONNECTION +PHASE +PROVIDER/);
    expect(short.stdout).toMatch(/west +Connected +Wild West +2 +True/);
    expect(short.stdout).toMatch(/cowboys +west +cowboys\.wildwest\.dev +12 +0 +True/);
    expect(short.stdout).not.toContain('refused');
    expect((await plugin(['list', '-o', 'wide'])).stdout).toContain('ExportReady RequestFailed: refused');
    expect((await plugin(['list', '-o', 'name'])).stdout).toBe(
      'kubebindconnection.kcp.kube-bind.io/west\nkubebindbinding.kcp.kube-bind.io/cowboys\nkubebindbinding.kcp.kube-bind.io/sheriffs\n',
    );
  });

  it('says so where the client is not installed, and gives an empty list as data', async () => {
    const result = await plugin(['list']);
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(result.stdout).toContain('not bound to the kube-bind client yet');
    expect(JSON.parse((await plugin(['list', '-o', 'json'])).stdout)).toMatchObject({
      kind: 'List',
      items: [],
    });
  });

  it.each([
    [401, EXIT_CODES.kubeconfig, 'log in to kcp again'],
    [403, EXIT_CODES.forbidden, 'ask an admin'],
    [500, EXIT_CODES.unreachable, 'again'],
  ])('tells what to do about an answer of %i', async (status, code, text) => {
    workspace.intercept = () => failure(status, 'Reason', 'user "me" cannot list\u001b[31m');
    const result = await plugin(['list']);
    expect(result.code).toBe(code);
    expect(result.stderr).toContain(text);
    expect(result.stderr).not.toContain('\u001b');
    expect(result.stderr.split('\n').filter((line) => line !== '')).toHaveLength(2);
  });

  it('says more with -v', async () => {
    workspace.intercept = () => failure(403, 'Forbidden', 'no');
    const result = await plugin(['list', '-v=6']);
    expect(result.stderr).toContain('code: FORBIDDEN (exit 4)');
    expect(result.stderr).toContain('cause: ApiError');
  });
});

describe('status', () => {
  it('ends with its own code while something is not Ready', async () => {
    install();
    connection('west');
    binding('cowboys', READY);
    expect((await plugin(['status'])).code).toBe(EXIT_CODES.ok);
    binding('sheriffs', [condition('APIBound', 'False', 'NameConflict', 'sheriffs is taken')]);
    const result = await plugin(['status', 'sheriffs']);
    expect(result.code).toBe(EXIT_CODES.notReady);
    expect(result.stdout).toContain('needs you: APIBound NameConflict: sheriffs is taken');
    expect((await plugin(['status', 'nobody'])).code).toBe(EXIT_CODES.notFound);
  });

  it('shows the chain and explains its first broken link', async () => {
    install();
    connection('west');
    binding('cowboys', [
      condition('Connected', 'True', 'Connected'),
      condition('ExportReady', 'False', 'TemplateNotFound', 'no template cowboys'),
    ]);
    const { stdout } = await plugin(['status', 'cowboys']);
    expect(stdout).toContain('chain:      ✓ connection → ✗ export → · schema → · API → · sync');
    expect(stdout).toContain('broken at export: the provider has not exported the API');
    expect(stdout).toMatch(/to do: do what the message says/);
  });

  it('shows it again at each change with --watch, and ends when its time is over', async () => {
    install();
    connection('west');
    binding('cowboys', [condition('APIBound', 'False', 'NotServed', 'not yet')]);
    let changed = false;
    const result = await plugin(['status', 'cowboys', '--watch', '--timeout', '15s'], {
      onError: (text) => {
        if (!text.includes('Watching') || changed) return;
        changed = true;
        binding('cowboys', READY);
      },
    });
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(result.stdout.match(/^Binding cowboys: .*/gm)).toEqual([
      'Binding cowboys: not Ready yet: APIBound NotServed: not yet',
      'Binding cowboys: Ready',
    ]);
  });
});

describe('templates', () => {
  it('shows what is offered and what is bound', async () => {
    install();
    connection('west');
    binding('cowboys', READY);
    const result = await plugin(['templates']);
    expect(result.stdout).toMatch(
      /west +cowboys +Cowboys +cowboys\.wildwest\.dev +secrets \(label app=cowboy\) +cowboys/,
    );
    expect((await plugin(['templates', 'east'])).code).toBe(EXIT_CODES.notFound);
  });
});

describe('login', () => {
  it('starts another login of a Connected connection and waits for its end', async () => {
    install();
    connection('west');
    workspace.reaction = playController({
      offers: [COWBOYS],
      loginUrl: 'https://client.example.com/l',
      login: 'wait',
    });
    const result = await plugin(['login'], {
      openBrowser: async () => connected(workspace, 'west', [COWBOYS]),
    });
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(result.opened[0]).toContain('verifier=');
    expect((await plugin(['login', 'east'])).code).toBe(EXIT_CODES.notFound);
  });
});

describe('unbind', () => {
  const finalizers = ['kcp.kube-bind.io/cleanup'];

  beforeEach(() => {
    install();
    connection('west');
    workspace.reaction = (changed, fake) => {
      if (changed.metadata.deletionTimestamp !== undefined) {
        setTimeout(() => fake.remove('kubebindbindings', changed.metadata.name), 20);
      }
    };
  });

  it('shows what will be deleted where, asks, deletes and waits', async () => {
    binding('cowboys', READY, {}, finalizers);
    const result = await plugin(['unbind', 'cowboys'], { answers: ['yes'] });
    expect(result.code).toBe(EXIT_CODES.ok);
    expect(result.stderr).toContain(
      'cowboys.wildwest.dev is no longer served, and all its objects here are deleted (12 synced objects)',
    );
    expect(result.stderr).toContain(
      'on the provider (west.example.com, Wild West, namespace kube-bind-1): the copies of these objects are deleted',
    );
    expect(workspace.get('kubebindbindings', 'cowboys')).toBeUndefined();
    expect(result.stdout).toContain('KubeBindBinding cowboys is gone');
    const deletion = workspace.writes.find(({ method }) => method === 'DELETE');
    expect(deletion?.body).toMatchObject({ preconditions: { uid: expect.any(String) } });
  });

  it.each([
    ['without a terminal', undefined],
    ['when the answer is no', ['n']],
  ])('deletes nothing %s', async (_name, answers) => {
    binding('cowboys', READY);
    const result = await plugin(['unbind', 'cowboys'], answers === undefined ? {} : { answers });
    expect(result.code).toBe(EXIT_CODES.declined);
    expect(workspace.writes).toEqual([]);
  });

  it('deletes nothing when one of the names is unknown, or in a dry run', async () => {
    binding('cowboys', READY);
    expect((await plugin(['unbind', 'cowboys', 'nobody', '--yes'])).code).toBe(EXIT_CODES.notFound);
    const dry = await plugin(['unbind', 'cowboys', '--dry-run']);
    expect(dry.stdout).toContain('Nothing was deleted');
    expect(workspace.writes).toEqual([]);
  });

  it('writes --orphan and --force before it deletes', async () => {
    binding('cowboys', READY, {}, finalizers);
    await plugin(['unbind', 'cowboys', '--yes', '--orphan', '--force']);
    expect(workspace.writes.map(({ method, body }) => [method, body]).slice(0, 1)).toEqual([
      [
        'PATCH',
        {
          metadata: { annotations: { 'kcp.kube-bind.io/force-release': 'true' } },
          spec: { deletionPolicy: 'Orphan' },
        },
      ],
    ]);
    expect(workspace.writes.map(({ method }) => method)).toEqual(['PATCH', 'DELETE']);
  });

  it('removes the connection with --with-connection, unless another binding uses it', async () => {
    binding('cowboys', READY);
    binding('sheriffs', READY);
    const first = await plugin(['unbind', 'cowboys', '--yes', '--with-connection']);
    expect(first.stderr).toContain('Connection west is kept: sheriffs still uses it');
    expect(workspace.get('kubebindconnections', 'west')).toBeDefined();
    await plugin(['unbind', 'sheriffs', '--yes', '--connection']);
    expect(workspace.get('kubebindconnections', 'west')).toBeUndefined();
  });

  it('says what holds the deletion when the time is over', async () => {
    workspace.reaction = (changed, fake) => {
      if (changed.metadata.deletionTimestamp === undefined) return;
      const conditions = [
        condition('Syncing', 'False', 'WaitingForProvider', 'the provider does not answer'),
      ];
      fake.setStatus('kubebindbindings', changed.metadata.name, {
        conditions,
      } as unknown as KubeObject['status']);
    };
    binding('cowboys', READY, {}, finalizers);
    const result = await plugin(['unbind', 'cowboys', '--yes', '--timeout', '30s'], {
      onError: (text, expire) => {
        if (text.includes('WaitingForProvider')) expire();
      },
    });
    expect(result.code).toBe(EXIT_CODES.timeout);
    expect(result.stderr).toContain(
      'still being deleted (Syncing WaitingForProvider: the provider does not answer)',
    );
  });
});

describe('the command line', () => {
  it.each([
    [['list', '--nope'], EXIT_CODES.usage],
    [['--template', 'x', 'list'], EXIT_CODES.usage],
    [['unbind'], EXIT_CODES.usage],
    [['list', '-o', 'xml'], EXIT_CODES.usage],
    [['https://a.example.com', 'https://b.example.com'], EXIT_CODES.usage],
    [['https://a.example.com', '--timeout', '5'], EXIT_CODES.usage],
    [['https://a.example.com', '--name', 'x'], EXIT_CODES.usage],
    [['https://a.example.com', '--no-wait'], EXIT_CODES.usage],
    [['https://user:pass@a.example.com'], EXIT_CODES.usage],
    [['bind.example.com/x'], EXIT_CODES.usage],
    [['list', '--context', 'nowhere'], EXIT_CODES.kubeconfig],
    [['list', '--server', 'https://127.0.0.1:1'], EXIT_CODES.kubeconfig],
    [['version'], EXIT_CODES.ok],
    [['--help'], EXIT_CODES.ok],
    [['unbind', '--help'], EXIT_CODES.ok],
    [['completion', 'bash'], EXIT_CODES.ok],
    [['completion', 'tcsh'], EXIT_CODES.usage],
  ])('%j ends with %i and asks no server', async (argv, code) => {
    const result = await plugin(argv);
    expect(result.code).toBe(code);
    expect(workspace.requests).toEqual([]);
    if (code !== EXIT_CODES.ok) expect(result.stderr).toMatch(/^error: .+\n {2}to do: .+\n$/);
  });

  it('takes global flags before and after a command, and values as kubectl does', async () => {
    install();
    connection('west');
    const before = await runPlugin({ argv: ['--kubeconfig', kubeconfig.path, '-o', 'name', 'list'] });
    const after = await plugin(['list', '-o=name', '--quiet=true']);
    expect(before.stdout).toBe(after.stdout);
    expect(after.stdout).toContain('west');
  });

  it('acts on the workspace of --workspace', async () => {
    await plugin(['list', '--workspace', 'root:other']);
    expect(workspace.requests.every(({ url }) => url.startsWith('/clusters/root:other/'))).toBe(true);
  });
});
