import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { stringify } from 'yaml';

import { readBench } from '../../harness/bench.js';
import { bindClient } from '../../harness/client-binding.js';
import { installClient, startController, type Controller } from '../../harness/client-installation.js';
import { conditionWith } from '../../harness/conditions.js';
import { apply, kubectl } from '../../harness/kubectl.js';
import { staysTrue } from '../../harness/wait-for.js';
import { createWorkspace, uniqueName, type Workspace } from '../../harness/workspaces.js';

const LABELS = { 'kcp.kube-bind.io/credentials': 'true' };
/** More levels than the controller reads; kcp takes ten thousand of them. */
const DEEP = 600;

/** `metadata.managedFields` is anybody's to write; a server checks no more than that it is a tree of fields. */
function deepFields(apiVersion: string): object {
  const fieldsV1 = Array.from({ length: DEEP }).reduce<object>((inner) => ({ 'f:a': inner }), {});
  const time = '2026-01-01T00:00:00Z';
  return { manager: 'x', operation: 'Update', apiVersion, time, fieldsType: 'FieldsV1', fieldsV1 };
}

function connection(name: string, metadata: object = {}): object {
  return {
    apiVersion: 'kcp.kube-bind.io/v1alpha1',
    kind: 'KubeBindConnection',
    metadata: { name, ...metadata },
    spec: { kubeconfigSecretRef: { namespace: 'default', name } },
  };
}

function secret(name: string, data: object, metadata: object = {}): object {
  const named = { name, namespace: 'default', labels: LABELS, ...metadata };
  return { apiVersion: 'v1', kind: 'Secret', metadata: named, ...data };
}

/** `kubectl create`, since an apply writes managedFields of its own. */
async function create(workspace: Workspace, objects: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  await kubectl(workspace.kubeconfig, ['create', '--validate=false', '-f', '-'], { input });
}

/** All workspaces are read by the same lists: what one tenant stores must not keep the controller from the others. */
describe('objects that a tenant made to be unreadable', () => {
  const bench = readBench();
  const tag = uniqueName('hostile');
  let mallory: Workspace;
  let alice: Workspace;
  let controller: Controller;

  beforeAll(async () => {
    const installation = await installClient(bench.consumers, tag);
    [mallory, alice] = await Promise.all([
      createWorkspace(bench.consumers, 'root', `${tag}-mallory`),
      createWorkspace(bench.consumers, 'root', `${tag}-alice`),
    ]);
    await Promise.all([mallory, alice].map(({ kubeconfig }) => bindClient(kubeconfig, installation)));
    await create(mallory, [
      connection('deep', { managedFields: [deepFields('kcp.kube-bind.io/v1alpha1')] }),
      secret('deep', {}, { managedFields: [deepFields('v1')] }),
    ]);
    // Only now: what is there is read by lists.
    controller = await startController({ installation, dir: `${bench.dir}/${tag}` });
  });

  afterAll(async () => {
    await controller.stop();
    const made = ['secrets,kubebindconnections', '--all', '-n', 'default', '--wait=false'];
    await kubectl(mallory.kubeconfig, ['delete', ...made]);
  });

  const authenticated = (workspace: Workspace, name: string, reason: string) =>
    conditionWith(workspace.kubeconfig, 'kubebindconnection', name, {
      type: 'Authenticated',
      reason,
      timeout: 45_000,
    });

  it('do not keep the controller from the connections of others', async () => {
    await apply(alice.kubeconfig, stringify(connection('mine')));
    await authenticated(alice, 'mine', 'SecretNotFound');
  });

  it('do not keep it from their Secrets', async () => {
    // Within the first seconds connections are looked at again without news.
    await staysTrue(() => controller.child.running, { what: 'the controller runs', ms: 17_000 });
    await apply(alice.kubeconfig, stringify(secret('mine', { stringData: { kubeconfig: 'just words' } })));
    await authenticated(alice, 'mine', 'KubeconfigInvalid');
  });

  it('are worked on like any other where what counts can be read', async () => {
    await authenticated(mallory, 'deep', 'KubeconfigInvalid');
  });
});
