import { readdir, readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { KubeObject } from '../../../src/kube/object.js';
import { EXIT_CODES } from '../exit-codes.js';
import { installedObjects } from '../install/manifests.js';
import { FakeWorkspace } from '../testing/fake-workspace.js';
import { runPlugin, writeKubeconfig, type RunSetup } from '../testing/run-plugin.js';

// Only a machine that is busy with much else needs more than a fraction of this.
jest.setTimeout(30_000);

let workspace: FakeWorkspace;
let kubeconfig: Awaited<ReturnType<typeof writeKubeconfig>>;
let manifests: string;

beforeEach(async () => {
  workspace = await FakeWorkspace.start();
  kubeconfig = await writeKubeconfig(workspace.server);
  const texts: string[] = [];
  for (const folder of ['apiresourceschemas', 'apiexport']) {
    for (const name of await readdir(folder)) {
      if (name !== 'kustomization.yaml') texts.push(await readFile(`${folder}/${name}`, 'utf8'));
    }
  }
  manifests = texts.join('\n---\n');
});

afterEach(async () => {
  await workspace.close();
  await kubeconfig.remove();
});

function plugin(argv: readonly string[], setup: Omit<RunSetup, 'argv'> = {}) {
  return runPlugin({ manifests, ...setup, argv: [...argv, '--kubeconfig', kubeconfig.path] });
}

describe('install', () => {
  it('applies everything in a fresh workspace, and nothing in a second run', async () => {
    const all = installedObjects(manifests);
    const first = await plugin(['install', '--yes']);
    expect(first.stderr).toContain('+ apiexport.apis.kcp.io/kcp.kube-bind.io');
    expect(first.code).toBe(EXIT_CODES.ok);
    expect(workspace.writes).toHaveLength(all.length);
    expect(workspace.get('apiexports', 'kcp.kube-bind.io')?.['spec']).toHaveProperty('permissionClaims');
    const kinds = all.map(({ object }) => object.kind);
    expect(kinds.indexOf('Namespace')).toBeLessThan(kinds.indexOf('ServiceAccount'));
    expect(kinds.indexOf('APIResourceSchema')).toBeLessThan(kinds.indexOf('APIExport'));
    const second = await plugin(['install', '--yes']);
    expect(second.stdout).toContain('up to date');
    expect(workspace.writes).toHaveLength(all.length);
  });

  it('shows what differs, asks, and changes that alone', async () => {
    await plugin(['install', '--yes']);
    const role = workspace.get('clusterroles', 'kcp.kube-bind.io:bind') as KubeObject & { rules: object[] };
    workspace.put('clusterroles', { ...role, rules: [] });
    const before = workspace.writes.length;
    const no = await plugin(['install'], { answers: ['n'] });
    expect(no.code).toBe(EXIT_CODES.declined);
    expect(no.stderr).toMatch(
      /~ clusterrole\S*\/kcp\.kube-bind\.io:bind\n {4}- rules: \[\]\n {4}\+ rules: \[\{/,
    );
    expect((await plugin(['install'])).code).toBe(EXIT_CODES.declined);
    expect((await plugin(['install', '--dry-run'])).stdout).toContain('Nothing was changed');
    expect(workspace.writes).toHaveLength(before);
    expect((await plugin(['install'], { answers: ['y'] })).code).toBe(EXIT_CODES.ok);
    expect(workspace.writes).toHaveLength(before + 1);
  });

  it('does not touch anything where a schema of that name says something else', async () => {
    await plugin(['install', '--yes']);
    const [schema] = installedObjects(manifests).filter(({ object }) => object.kind === 'APIResourceSchema');
    const { name } = schema!.object.metadata;
    const stored = workspace.get('apiresourceschemas', name)!;
    workspace.put('apiresourceschemas', {
      ...stored,
      spec: { ...(stored['spec'] as object), scope: 'Other' },
    });
    workspace.remove('apiexports', 'kcp.kube-bind.io');
    const before = workspace.writes.length;
    expect((await plugin(['install', '--yes'])).code).toBe(EXIT_CODES.conflict);
    expect(workspace.writes).toHaveLength(before);
  });
});

describe('cleanup', () => {
  function put(resource: string, kind: string, name: string, metadata: object): void {
    workspace.put(resource, {
      apiVersion: 'x/v1',
      kind,
      metadata: { name, ...metadata },
      spec: {},
    });
  }

  beforeEach(() => {
    workspace.put('apibindings', {
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIBinding',
      metadata: { name: 'kbb-x' },
      spec: { reference: { export: { path: 'root:kube-bind', name: 'kbb-x' } } },
      status: { phase: 'Bound', boundResources: [{ group: 'wildwest.dev', resource: 'cowboys' }] },
    });
    const held = ['other.example.com/mine', 'kcp.kube-bind.io/syncer'];
    put('cowboys', 'Cowboy', 'jim', { namespace: 'default', finalizers: held });
    put('cowboys', 'Cowboy', 'joe', { namespace: 'default' });
    put('kubebindbindings', 'KubeBindBinding', 'cowboys', {
      finalizers: ['kcp.kube-bind.io/cleanup'],
      deletionTimestamp: '2026-01-01T01:00:00Z',
    });
    put('kubebindconnections', 'KubeBindConnection', 'west', { finalizers: ['kcp.kube-bind.io/cleanup'] });
  });

  it('shows what is held, asks, and takes off its own finalizers alone', async () => {
    const no = await plugin(['cleanup'], { answers: ['n'] });
    expect(no.code).toBe(EXIT_CODES.declined);
    expect(no.stderr).toContain('hold 3 objects');
    expect(no.stderr).toContain('cowboys.wildwest.dev jim in namespace default: stays');
    expect(no.stderr).toContain('kubebindbindings.kcp.kube-bind.io cowboys: is being deleted');
    expect((await plugin(['cleanup'])).code).toBe(EXIT_CODES.declined);
    expect(workspace.writes).toEqual([]);
    const yes = await plugin(['cleanup'], { answers: ['y'] });
    expect(yes.code).toBe(EXIT_CODES.ok);
    expect(
      workspace.writes.map(({ method, url }) => `${method} ${url.split('/').slice(-2).join('/')}`),
    ).toEqual(['PATCH cowboys/jim', 'PATCH kubebindbindings/cowboys', 'PATCH kubebindconnections/west']);
    expect(workspace.get('cowboys', 'jim')?.metadata.finalizers).toEqual(['other.example.com/mine']);
    expect(workspace.get('kubebindbindings', 'cowboys')).toBeUndefined();
    expect(workspace.get('kubebindconnections', 'west')?.metadata.finalizers).toEqual([]);
    expect((await plugin(['cleanup'])).stdout).toContain('No object');
  });

  it('changes nothing in a dry run', async () => {
    const result = await plugin(['cleanup', '--dry-run', '--yes']);
    expect(result.stdout).toContain('Nothing was changed');
    expect(workspace.writes).toEqual([]);
  });
});
