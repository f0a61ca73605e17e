import { beforeAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';

import { readBench } from '../../harness/bench.js';
import { bindClient } from '../../harness/client-binding.js';
import { installClient, type ClientInstallation } from '../../harness/client-installation.js';
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { createWorkspace, grantAdmin, uniqueName, type Workspace } from '../../harness/workspaces.js';

/** What kcp itself refuses, because of how the client export is installed. No controller runs here. */
describe('a tenant who is admin of his workspace', () => {
  const bench = readBench();
  let installation: ClientInstallation;
  let workspace: Workspace;
  let alice: string;

  beforeAll(async () => {
    installation = await installClient(bench.consumers, uniqueName('install'));
    workspace = await createWorkspace(bench.consumers, 'root', uniqueName('alice'));
    alice = await grantAdmin(bench.consumers, workspace, 'alice');
    await bindClient(alice, installation);
    await apply(
      alice,
      stringify({
        apiVersion: 'kcp.kube-bind.io/v1alpha1',
        kind: 'KubeBindConnection',
        metadata: { name: 'mine' },
        spec: { backend: { url: 'https://bind.example.com' } },
      }),
    );
  });

  it('can bind the client export and create our kinds', async () => {
    const text = await kubectl(alice, ['get', 'kubebindconnection', 'mine', '-o', 'json']);
    expect(JSON.parse(text)).toMatchObject({
      spec: { backend: { url: 'https://bind.example.com', account: 'default' } },
    });
  });

  it('cannot write the status of a connection', async () => {
    const answer = await runKubectl(alice, [
      'patch',
      'kubebindconnection',
      'mine',
      '--subresource=status',
      '--type=merge',
      '-p',
      '{"status":{"phase":"Connected"}}',
    ]);
    expect(answer.code).not.toBe(0);
    expect(answer.stderr).toContain('forbidden');
  });

  it('cannot bind another export of the client workspace', async () => {
    await apply(
      installation.workspace.kubeconfig,
      stringify({
        apiVersion: 'apis.kcp.io/v1alpha2',
        kind: 'APIExport',
        metadata: { name: 'kbb-of-another' },
      }),
    );
    const answer = await runKubectl(alice, ['apply', '-f', '-'], {
      input: stringify({
        apiVersion: 'apis.kcp.io/v1alpha2',
        kind: 'APIBinding',
        metadata: { name: 'stolen' },
        spec: { reference: { export: { path: installation.workspace.path, name: 'kbb-of-another' } } },
      }),
    });
    expect(answer.code).not.toBe(0);
    expect(answer.stderr).toContain('no permission to bind');
  });

  it.each([
    [
      'both sources',
      { backend: { url: 'https://a.example.com' }, kubeconfigSecretRef: { namespace: 'a', name: 'b' } },
    ],
    ['neither source', {}],
    ['a URL with user info', { backend: { url: 'https://user:pw@a.example.com' } }],
    ['a login without a backend', { kubeconfigSecretRef: { namespace: 'a', name: 'b' }, login: {} }],
  ])('cannot create a connection with %s', async (_, spec) => {
    const answer = await runKubectl(alice, ['apply', '-f', '-'], {
      input: stringify({
        apiVersion: 'kcp.kube-bind.io/v1alpha1',
        kind: 'KubeBindConnection',
        metadata: { name: 'bad' },
        spec,
      }),
    });
    expect(answer.code).not.toBe(0);
    expect(answer.stderr).toMatch(/spec/);
  });

  it('cannot change what is immutable', async () => {
    const answer = await runKubectl(alice, [
      'patch',
      'kubebindconnection',
      'mine',
      '--type=merge',
      '-p',
      '{"spec":{"backend":{"url":"https://other.example.com"}}}',
    ]);
    expect(answer.stderr).toContain('spec.backend is immutable');
  });
});
