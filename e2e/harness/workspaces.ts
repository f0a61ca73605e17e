import { mkdir } from 'node:fs/promises';
import { stringify } from 'yaml';

import { workspaceKubeconfig, type KcpAccess, type User } from './kcp.js';
import { apply, kubectl, runKubectl } from './kubectl.js';
import { waitFor } from './wait-for.js';

/** A workspace of the bench, and how to get in as its admin. */
export interface Workspace {
  readonly path: string;
  readonly cluster: string;
  /** Kubeconfig of kcp's admin. */
  readonly kubeconfig: string;
}

let counter = 0;

/** A name that no other suite, project or run uses. */
export function uniqueName(stem: string): string {
  counter += 1;
  return `${stem}-${process.pid.toString(36)}${Date.now().toString(36).slice(-4)}${counter.toString(36)}`;
}

/** Creates a workspace below `parent` and waits until it is ready. */
export async function createWorkspace(
  kcp: KcpAccess,
  parent: string,
  name: string,
  type = 'universal',
): Promise<Workspace> {
  await mkdir(`${kcp.dir}/kubeconfigs`, { recursive: true });
  const parentConfig = await workspaceKubeconfig(kcp, parent, `${kcp.dir}/kubeconfigs/parent-${name}.yaml`);
  const manifest = stringify({
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name },
    spec: { type: { name: type, path: 'root' } },
  });
  await waitFor(() => apply(parentConfig, manifest), { what: `creating workspace ${parent}:${name}` });
  const cluster = await waitFor(
    async () => {
      const text = await kubectl(parentConfig, ['get', 'workspace', name, '-o', 'json']);
      const workspace = JSON.parse(text) as { spec: { cluster?: string }; status?: { phase?: string } };
      return workspace.status?.phase === 'Ready' && workspace.spec.cluster;
    },
    { what: `workspace ${parent}:${name} to be ready`, timeout: 150_000, interval: 300 },
  );
  const path = `${parent}:${name}`;
  const kubeconfig = await workspaceKubeconfig(kcp, path, `${kcp.dir}/kubeconfigs/${name}.yaml`);
  await waitFor(() => kubectl(kubeconfig, ['get', 'logicalcluster', 'cluster']), {
    what: `${path} to be served`,
  });
  return { path, cluster, kubeconfig };
}

/** Starts the deletion of a workspace; resolves when the parent has forgotten it. */
export async function deleteWorkspace(
  kcp: KcpAccess,
  workspace: Workspace,
  timeout = 120_000,
): Promise<void> {
  const separator = workspace.path.lastIndexOf(':');
  const name = workspace.path.slice(separator + 1);
  const parent = workspace.path.slice(0, separator);
  const config = await workspaceKubeconfig(kcp, parent, `${kcp.dir}/kubeconfigs/parent-${name}.yaml`);
  await kubectl(config, ['delete', 'workspace', name, '--wait=false', '--ignore-not-found']);
  await waitFor(
    async () => {
      const answer = await runKubectl(config, ['get', 'workspace', name]);
      return answer.code !== 0 && answer.stderr.includes('NotFound');
    },
    { what: `workspace ${workspace.path} to be gone`, timeout, interval: 300 },
  );
}

/** Makes a user admin of one workspace, and gives his kubeconfig for it. */
export async function grantAdmin(kcp: KcpAccess, workspace: Workspace, user: User): Promise<string> {
  await apply(
    workspace.kubeconfig,
    stringify({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `${user}-admin` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    }),
  );
  const file = `${workspace.kubeconfig.replace(/\.yaml$/, '')}-${user}.yaml`;
  return workspaceKubeconfig(kcp, workspace.path, file, `${user}-token`);
}
