import { readBench, type Bench } from './bench.js';
import type { ClientInstallation } from './client-installation.js';
import { kubectl, runKubectl } from './kubectl.js';
import type { User } from './kcp.js';
import { runPlugin, type PluginRun } from './plugin.js';
import { waitFor } from './wait-for.js';
import { createWorkspace, grantAdmin, uniqueName, type Workspace } from './workspaces.js';

/** A tenant: a workspace of his own, and his kubeconfig for it. */
export interface Consumer {
  readonly user: User;
  readonly workspace: Workspace;
  readonly kubeconfig: string;
}

export async function createConsumer(user: User, bench: Bench = readBench()): Promise<Consumer> {
  const workspace = await createWorkspace(bench.consumers, 'root', uniqueName(user));
  return { user, workspace, kubeconfig: await grantAdmin(bench.consumers, workspace, user) };
}

/** Binds a template with the plugin and the real login; rejects with what it printed when that fails. */
export async function bindWithPlugin(
  consumer: Consumer,
  installation: ClientInstallation,
  options: {
    readonly backendUrl?: string;
    readonly template?: string;
    readonly args?: readonly string[];
  } = {},
): Promise<PluginRun> {
  const run = await runPlugin(consumer.kubeconfig, [
    options.backendUrl ?? readBench().backendUrl,
    `--client-path=${installation.workspace.path}`,
    `--template=${options.template ?? 'databases'}`,
    '--accept-claims=all',
    '--no-browser',
    ...(options.args ?? []),
  ]);
  if (run.code !== 0) throw new Error(`bind ended with ${run.code}: ${run.stderr}${run.stdout}`);
  return run;
}

/** A Database, as far as tests look at it. */
export interface Database {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    resourceVersion: string;
    generation: number;
    annotations?: Record<string, string>;
    labels?: Record<string, string>;
    finalizers?: string[];
    deletionTimestamp?: string;
  };
  spec: { engine: string; sizeGiB?: number; parameters?: Record<string, string> };
  status?: { phase?: string; endpoint?: string; sizeGiB?: number; observedGeneration?: number };
}

export async function applyDatabase(
  kubeconfig: string,
  name: string,
  spec: Database['spec'],
  metadata: { readonly namespace?: string; readonly labels?: Record<string, string> } = {},
): Promise<void> {
  const manifest = {
    apiVersion: 'example.org/v1',
    kind: 'Database',
    metadata: { name, namespace: 'default', ...metadata },
    spec,
  };
  await kubectl(kubeconfig, ['apply', '-f', '-'], { input: JSON.stringify(manifest) });
}

export async function readDatabase(
  kubeconfig: string,
  name: string,
  namespace = 'default',
): Promise<Database | undefined> {
  const answer = await runKubectl(kubeconfig, [
    'get',
    'database.example.org',
    name,
    '-n',
    namespace,
    '-o',
    'json',
  ]);
  if (answer.code === 0) return JSON.parse(answer.stdout) as Database;
  if (answer.stderr.includes('(NotFound)')) return undefined;
  throw new Error(answer.stderr);
}

/** All copies on the provider that belong to a consumer's object, by the UID that the copy carries. */
export async function copiesOf(object: Database, bench: Bench = readBench()): Promise<Database[]> {
  const all = await allCopies(bench);
  return all.filter(
    (copy) => copy.metadata.annotations?.['kube-bind.io/consumer-uid'] === object.metadata.uid,
  );
}

export async function allCopies(bench: Bench = readBench()): Promise<Database[]> {
  const text = await kubectl(bench.provider.kubeconfig, ['get', 'databases.example.org', '-A', '-o', 'json']);
  return (JSON.parse(text) as { items: Database[] }).items;
}

/** Waits until the consumer's object has come back with a status, and gives it with its only copy. */
export async function syncedDatabase(
  consumer: Consumer,
  name: string,
  accept: (object: Database, copy: Database) => boolean = () => true,
  bench: Bench = readBench(),
): Promise<{ object: Database; copy: Database }> {
  return waitFor(
    async () => {
      const object = await readDatabase(consumer.kubeconfig, name);
      if (object?.status?.phase !== 'Running') return undefined;
      const [copy, ...more] = await copiesOf(object, bench);
      if (more.length > 0) throw new Error(`${more.length + 1} copies of ${name}`);
      return copy && accept(object, copy) ? { object, copy } : undefined;
    },
    { what: `database ${name} of ${consumer.workspace.path} to be served`, timeout: 120_000, interval: 250 },
  );
}
