import { randomBytes } from 'node:crypto';

import { GVR } from '../../src/api/gvr.js';
import { followResource } from '../../src/kube/cache/follow-resource.js';
import { GENERATED_SELECTOR } from '../../src/reconcilers/binding/owner.js';
import type { WritePermit } from '../../src/kube/write-permit.js';
import type { ReconcilerDeps } from '../../src/reconcilers/deps.js';
import { fencedClient } from '../../src/kube/fenced-client.js';
import { startControllers } from '../../src/reconcilers/start-controllers.js';
import { createConnectionStates } from '../../src/state/secret-connection-states.js';
import { CONNECTION_STATE_SELECTOR } from '../../src/state/state-secret.js';
import { createSyncerPool } from '../../src/syncer/pool/syncer-pool.js';
import { spawnThreads } from '../../src/syncer/pool/thread.js';
import type { ClientWorkspaceIdentity } from './client-workspace.js';
import type { Readiness } from './readiness.js';
import type { Shared } from './shared.js';
import { openWorkspaces } from './workspaces.js';

/** Runs the reconcilers until the signal; resolves when every thread and watch of theirs has ended. */
export async function reconcile(
  shared: Shared,
  how: {
    readonly identity: ClientWorkspaceIdentity;
    readonly readiness: Readiness;
    readonly mayWrite: () => boolean;
    /** The same for the writes of threads; absent: they may always. */
    readonly writePermit: WritePermit | undefined;
  },
  until: AbortSignal,
): Promise<void> {
  const { servers, config, clock, log } = shared;
  const { identity, readiness, mayWrite, writePermit } = how;
  const client = fencedClient(servers.client, mayWrite);
  const workspaces = openWorkspaces(shared, client, until, { mayWrite });
  const follow = (
    gvr: (typeof GVR)[keyof typeof GVR],
    selector?: { labelSelector?: string; namespace?: string },
  ) =>
    followResource({
      client,
      gvr,
      ...selector,
      cluster: identity.cluster,
      clock,
      random: Math.random,
      signal: until,
      limits: { silenceMs: config.syncer.watchSilenceMs },
      onEvent: (event) => shared.countWatch('client-workspace', event),
    });
  const generatedExports = follow(GVR.apiExports, { labelSelector: GENERATED_SELECTOR });
  const endpointSlices = follow(GVR.apiExportEndpointSlices);
  const stateSecrets = follow(GVR.secrets, {
    labelSelector: CONNECTION_STATE_SELECTOR,
    namespace: config.namespace,
  });
  const pool = createSyncerPool({
    spawn: spawnThreads({
      url: new URL('./worker.js', import.meta.url),
      logLevel: config.logLevel,
      log,
      version: shared.version,
      writePermit,
    }),
    options: config.syncer,
    clock,
    random: Math.random,
    log,
    metrics: shared.poolMetrics,
    maxWorkers: config.maxWorkers,
    limits: {
      heapMb: config.workerMemoryMb,
      externalBytes: config.workerMemoryMb * 1024 * 1024,
      silenceMs: config.workerSilenceMs,
    },
  });
  const deps: ReconcilerDeps = {
    clientWorkspace: {
      client,
      credentials: servers.own,
      path: identity.path,
      cluster: identity.cluster,
      namespace: config.namespace,
      exportName: config.clientExport,
      generatedExports: generatedExports.store,
      endpointSlices: endpointSlices.store,
    },
    workspaces,
    states: createConnectionStates({ client, namespace: config.namespace, store: stateSecrets.store }),
    pool,
    connectUrl: (url) => fencedClient(servers.connect(servers.credentialsFor(url)), mayWrite),
    ownCredentials: servers.credentialsFor,
    connect: servers.connect,
    backend: shared.backend,
    externalUrl: config.externalUrl,
    loginLifetimeMs: config.loginLifetimeMs,
    allowProxy: config.syncer.dialPolicy.allowProxy,
    clock,
    random: Math.random,
    randomBytes,
    log,
    metrics: shared.reconcilerMetrics,
    concurrency: config.concurrency,
  };
  const controllers = startControllers(deps);
  readiness.setLive('controllers', () => {
    const shards = controllers.shardsWithOwnCredentials;
    const shared =
      shards.length === 0 ? '' : `; workers use the controller's own credentials on ${shards.join(', ')}`;
    return { name: 'controllers', ok: true, message: `running${shared}` };
  });
  await new Promise<void>((resolve) => {
    if (until.aborted) resolve();
    else until.addEventListener('abort', () => resolve(), { once: true });
  });
  readiness.set('controllers', false, 'stopping');
  // At the same time: after a lost Lease, workers must stop writing at once too.
  await Promise.all([controllers.close(), pool.close(), workspaces.close()]);
  await Promise.all([generatedExports.stopped, endpointSlices.stopped, stateSecrets.stopped]);
}
