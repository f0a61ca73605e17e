import { setTimeout as sleep } from 'node:timers/promises';

import { runKubectl } from '../harness/kubectl.js';

/** A provider's own controller, as small as it can be: it looks at all databases, again and again. */
export interface DatabaseService {
  stop(): Promise<void>;
}

interface Database {
  metadata: { name: string; namespace: string; generation: number; deletionTimestamp?: string };
  spec: { engine: string; sizeGiB?: number };
  status?: { phase?: string; observedGeneration?: number };
}

interface List<T> {
  items: T[];
}

/**
 * Runs beside the backend with the provider's own rights. For each database it sets the status and makes a
 * Secret with credentials; for each contract namespace it adds the ClusterRoleBinding that backend v0.8.2
 * should keep for every consumer but keeps for the last one only.
 */
export function startDatabaseService(kubeconfig: string, intervalMs = 500): DatabaseService {
  const stopping = new AbortController();
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      await serveAll(kubeconfig);
      await sleep(intervalMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}

async function serveAll(kubeconfig: string): Promise<void> {
  await grantEveryConsumer(kubeconfig);
  const databases = await read<List<Database>>(kubeconfig, ['get', 'databases.example.org', '-A']);
  for (const database of databases?.items ?? []) {
    if (database.metadata.deletionTimestamp !== undefined) continue;
    if (database.status?.observedGeneration === database.metadata.generation) continue;
    await serve(kubeconfig, database);
  }
}

async function serve(kubeconfig: string, database: Database): Promise<void> {
  const { name, namespace, generation } = database.metadata;
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `${name}-credentials`,
      namespace,
      labels: { 'example.org/database-credentials': 'true' },
    },
    stringData: { username: name, password: `secret-of-${name}` },
  };
  const status = {
    phase: 'Running',
    endpoint: `${name}.${namespace}.db.example.org:5432`,
    sizeGiB: database.spec.sizeGiB ?? 0,
    observedGeneration: generation,
  };
  await runKubectl(kubeconfig, ['apply', '-f', '-'], { input: JSON.stringify(secret) });
  await runKubectl(kubeconfig, [
    'patch',
    'databases.example.org',
    name,
    '-n',
    namespace,
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  ]);
}

async function grantEveryConsumer(kubeconfig: string): Promise<void> {
  const accounts = await read<List<{ metadata: { name: string; namespace: string } }>>(kubeconfig, [
    'get',
    'serviceaccounts',
    '-A',
    '--field-selector=metadata.name=kube-binder',
  ]);
  const bindings = await read<List<{ metadata: { name: string } }>>(kubeconfig, [
    'get',
    'clusterrolebindings',
  ]);
  const have = new Set(bindings?.items.map((binding) => binding.metadata.name));
  for (const account of accounts?.items ?? []) {
    const name = `kube-binder-exports-${account.metadata.namespace}`;
    if (have.has(name)) continue;
    await runKubectl(kubeconfig, [
      'create',
      'clusterrolebinding',
      name,
      '--clusterrole=kube-binder-exports',
      `--serviceaccount=${account.metadata.namespace}:${account.metadata.name}`,
    ]);
  }
}

async function read<T>(kubeconfig: string, args: readonly string[]): Promise<T | undefined> {
  const answer = await runKubectl(kubeconfig, [...args, '-o', 'json']);
  return answer.code === 0 ? (JSON.parse(answer.stdout) as T) : undefined;
}
