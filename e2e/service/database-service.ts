import { setTimeout as sleep } from 'node:timers/promises';

import { GVR } from '../../src/api/gvr.js';
import type { KubeClient } from '../../src/kube/client.js';
import { isStatus } from '../../src/kube/errors.js';
import type { KubeObject } from '../../src/kube/object.js';
import { isJsonObject } from '../../src/kube/json-value.js';

/** A provider's own controller, as small as it can be: it looks at all databases, again and again. */
export interface DatabaseService {
  stop(): Promise<void>;
}

const DATABASES = { group: 'example.org', version: 'v1', resource: 'databases' };

/**
 * Runs beside the backend with the provider's own rights. For each database it sets the status and makes a
 * Secret with credentials; for each contract namespace it adds the ClusterRoleBinding that backend v0.8.2
 * should keep for every consumer but keeps for the last one only.
 */
export function startDatabaseService(
  client: KubeClient,
  options: { readonly intervalMs?: number; readonly onError?: (error: unknown) => void } = {},
): DatabaseService {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = (async () => {
    while (!signal.aborted) {
      await serveAll(client).catch((error: unknown) => options.onError?.(error));
      await sleep(options.intervalMs ?? 300, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}

async function serveAll(client: KubeClient): Promise<void> {
  await grantEveryConsumer(client);
  const { items } = await client.list(DATABASES);
  for (const database of items) {
    if (database.metadata.deletionTimestamp !== undefined) continue;
    const status = isJsonObject(database['status']) ? database['status'] : {};
    if (status['observedGeneration'] === database.metadata.generation) continue;
    await serve(client, database);
  }
}

async function serve(client: KubeClient, database: KubeObject): Promise<void> {
  const { name, namespace = '', generation = 0 } = database.metadata;
  const spec = isJsonObject(database['spec']) ? database['spec'] : {};
  await ignoring(409, () =>
    client.create(GVR.secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: `${name}-credentials`,
        namespace,
        labels: { 'example.org/database-credentials': 'true' },
      },
      stringData: { username: name, password: `secret-of-${name}` },
    }),
  );
  const status = {
    phase: 'Running',
    endpoint: `${name}.${namespace}.db.example.org:5432`,
    sizeGiB: spec['sizeGiB'] ?? 0,
    observedGeneration: generation,
  };
  await ignoring(404, () =>
    client.patch(DATABASES, { namespace, name }, 'merge', { status }, { subresource: 'status' }),
  );
}

async function grantEveryConsumer(client: KubeClient): Promise<void> {
  const accounts = await client.list(GVR.serviceAccounts, { fieldSelector: 'metadata.name=kube-binder' });
  if (accounts.items.length === 0) return;
  const bindings = await client.list(GVR.clusterRoleBindings);
  const have = new Set(bindings.items.map((binding) => binding.metadata.name));
  for (const { metadata } of accounts.items) {
    const name = `kube-binder-exports-${metadata.namespace ?? ''}`;
    if (have.has(name)) continue;
    await ignoring(409, () =>
      client.create(GVR.clusterRoleBindings, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'kube-binder-exports' },
        subjects: [{ kind: 'ServiceAccount', name: metadata.name, namespace: metadata.namespace ?? '' }],
      }),
    );
  }
}

async function ignoring(status: number, effect: () => Promise<unknown>): Promise<void> {
  try {
    await effect();
  } catch (error) {
    if (!isStatus(error, status)) throw error;
  }
}
