import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

import { GVR } from '../../src/api/gvr.js';
import { createBackendApi } from '../../src/backend/http/backend-api.js';
import type { ControllerConfig } from '../../src/config/controller-config.js';
import { createHandshakeServer } from '../../src/handshake/handshake-server.js';
import { followResource } from '../../src/kube/cache/follow-resource.js';
import type { KubeClient } from '../../src/kube/client.js';
import { createDialler } from '../../src/kube/dialler/dialler.js';
import { createForeignHttp } from '../../src/kube/foreign-http-undici.js';
import { sanitizeKubeconfig } from '../../src/kube/kubeconfig-sanitizer.js';
import { createSystemClock } from '../../src/kube/system-clock.js';
import { GENERATED_SELECTOR } from '../../src/reconcilers/binding/owner.js';
import type { ReconcilerDeps } from '../../src/reconcilers/deps.js';
import { fencedClient } from '../../src/reconcilers/leader/fence.js';
import { Lease } from '../../src/reconcilers/leader/lease.js';
import { runAsLeader } from '../../src/reconcilers/leader/run-as-leader.js';
import { createReconcilerMetrics } from '../../src/reconcilers/metrics.js';
import { startControllers } from '../../src/reconcilers/start-controllers.js';
import { createConnectionStates } from '../../src/state/secret-connection-states.js';
import { createInstallationKey } from '../../src/state/secret-installation-key.js';
import { CONNECTION_STATE_SELECTOR } from '../../src/state/state-secret.js';
import { createSyncerPool } from '../../src/syncer/pool/syncer-pool.js';
import { spawnThreads } from '../../src/syncer/pool/thread.js';
import type { Logger } from '../../src/telemetry/logger.js';
import { createMetricsRegistry } from '../../src/telemetry/metrics.js';
import { openVirtualWorkspace } from '../../src/vw-client/open.js';
import type { VirtualWorkspace } from '../../src/vw-client/virtual-workspace.js';
import { identifyClientWorkspace, type ClientWorkspaceIdentity } from './client-workspace.js';
import { ControllerError } from './controller-error.js';
import { createPoolMetrics } from './pool-metrics.js';
import { Readiness } from './readiness.js';
import { openServers, readText, type Servers } from './servers.js';

export interface RunOptions {
  readonly config: ControllerConfig;
  readonly log: Logger;
  /** Ends the run in order. */
  readonly signal: AbortSignal;
  readonly version: string;
}

/** What all parts share; made before anything runs. */
function createShared({ config, log, version }: RunOptions, servers: Servers) {
  const clock = createSystemClock();
  const registry = createMetricsRegistry({ defaults: true });
  const userAgent = `kcp-bind-controller/${version}`;
  const foreignHttp = createForeignHttp({
    dialler: createDialler(config.syncer.dialPolicy),
    userAgent,
    clock,
  });
  return {
    config,
    log,
    servers,
    clock,
    registry,
    foreignHttp,
    poolMetrics: createPoolMetrics(registry),
    reconcilerMetrics: createReconcilerMetrics(registry),
    backend: (spec: { url: string; clusterID?: string | undefined; caBundle?: string | undefined }) =>
      createBackendApi({
        http: foreignHttp,
        url: spec.url,
        ...(spec.clusterID === undefined ? {} : { clusterID: spec.clusterID }),
        ...(spec.caBundle === undefined ? {} : { ca: spec.caBundle }),
      }),
  };
}

type Shared = ReturnType<typeof createShared>;

/**
 * Runs the controller until the signal. Pages, health and metrics are served from the start; the reconcilers run
 * while the Lease is held.
 *
 * @throws ControllerError, StateError or a KubeError where it cannot start or lost the Lease
 */
export async function runController(options: RunOptions): Promise<void> {
  const { config, log, signal } = options;
  const servers = await openServers(config, createSystemClock(), `kcp-bind-controller/${options.version}`);
  const shared = createShared(options, servers);
  const readiness = new Readiness(['client-export', 'installation-key', 'controllers']);
  const workspaces = openWorkspaces(shared, servers.client, signal);
  const lease = createLease(shared);
  const server = await serve(shared, { workspaces, readiness, isLeader: () => lease.isHeld() });
  try {
    await server.listen({ ...config.listen, signal });
    log.info(
      { listen: config.listen, externalUrl: config.externalUrl },
      'serving login pages, health and metrics',
    );
    const identity = await identifyClientWorkspace(servers.client, config.clientExport, signal);
    readiness.set('client-export', true, `${identity.path}:${config.clientExport}`);
    await createInstallationKey({
      client: servers.client,
      namespace: config.namespace,
      random: randomBytes,
    }).load();
    readiness.set('installation-key', true, 'loaded');
    await lead(shared, { identity, lease, readiness, signal });
  } finally {
    await server.close();
    await workspaces.close();
    await shared.foreignHttp.close();
    await servers.client.close();
  }
}

async function serve(
  shared: Shared,
  parts: {
    readonly workspaces: VirtualWorkspace;
    readonly readiness: Readiness;
    readonly isLeader: () => boolean;
  },
) {
  const { config, servers, clock } = shared;
  const states = createConnectionStates({ client: servers.client, namespace: config.namespace });
  const tls = config.tls && {
    cert: await readText(config.tls.certFile),
    key: await readText(config.tls.keyFile),
  };
  return createHandshakeServer({
    states,
    installationKey: createInstallationKey({
      client: servers.client,
      namespace: config.namespace,
      random: randomBytes,
    }),
    workspaces: parts.workspaces,
    backendApi: shared.backend,
    sanitize: (text) => sanitizeKubeconfig(text, { allowProxy: config.syncer.dialPolicy.allowProxy }),
    clock,
    random: randomBytes,
    log: shared.log,
    externalUrl: config.externalUrl,
    metrics: shared.registry,
    renderMetrics: () => shared.poolMetrics.render(),
    ready: () => parts.readiness.report(),
    isLeader: parts.isLeader,
    ...(tls === undefined ? {} : { tls }),
  });
}

/** The client export's virtual workspace; `writes` decides whether its clients may write. */
function openWorkspaces(
  shared: Shared,
  clientWorkspace: KubeClient,
  signal: AbortSignal,
  mayWrite?: () => boolean,
): VirtualWorkspace {
  const { servers, clock, log, config } = shared;
  return openVirtualWorkspace({
    clientWorkspace,
    exportName: config.clientExport,
    connect: (url) => {
      const client = servers.connect(servers.credentialsFor(url));
      return mayWrite ? fencedClient(client, mayWrite) : client;
    },
    urlMap: servers.urlMap,
    clock,
    random: Math.random,
    signal,
    limits: { silenceMs: config.syncer.watchSilenceMs },
    onEvent: (event) => log.debug({ component: 'vw-client', event }, 'virtual workspace'),
  });
}

function createLease({ servers, config, clock }: Shared): Lease {
  return new Lease({
    client: servers.client,
    namespace: config.namespace,
    name: 'kcp-bind-controller',
    identity: `${hostname()}_${randomBytes(8).toString('hex')}`,
    times: config.leader,
    clock,
    monotonic: () => performance.now(),
  });
}

interface Leading {
  readonly identity: ClientWorkspaceIdentity;
  readonly lease: Lease;
  readonly readiness: Readiness;
  readonly signal: AbortSignal;
}

async function lead(shared: Shared, { identity, lease, readiness, signal }: Leading): Promise<void> {
  const { config, clock, log } = shared;
  const work = async (until: AbortSignal): Promise<void> => {
    shared.reconcilerMetrics.leader(true);
    await reconcile(
      shared,
      { identity, readiness, mayWrite: () => !config.leader.enabled || lease.isHeld() },
      until,
    );
    shared.reconcilerMetrics.leader(false);
  };
  if (!config.leader.enabled) {
    await work(signal);
    return;
  }
  readiness.set('controllers', true, 'waiting for the Lease; another replica leads');
  const outcome = await runAsLeader({
    lease,
    times: config.leader,
    clock,
    random: Math.random,
    log,
    onStarted: work,
    signal,
  });
  if (outcome === 'lost') {
    throw new ControllerError(
      'the Lease was lost; the process ends and is to be started again',
      'LEASE_LOST',
    );
  }
}

/** Runs the reconcilers until the signal; resolves when every thread and watch of theirs has ended. */
async function reconcile(
  shared: Shared,
  how: {
    readonly identity: ClientWorkspaceIdentity;
    readonly readiness: Readiness;
    readonly mayWrite: () => boolean;
  },
  until: AbortSignal,
): Promise<void> {
  const { servers, config, clock, log } = shared;
  const { identity, readiness, mayWrite } = how;
  const client = fencedClient(servers.client, mayWrite);
  const workspaces = openWorkspaces(shared, client, until, mayWrite);
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
    });
  const generatedExports = follow(GVR.apiExports, { labelSelector: GENERATED_SELECTOR });
  const endpointSlices = follow(GVR.apiExportEndpointSlices);
  const stateSecrets = follow(GVR.secrets, {
    labelSelector: CONNECTION_STATE_SELECTOR,
    namespace: config.namespace,
  });
  const pool = createSyncerPool({
    spawn: spawnThreads({ url: new URL('./worker.js', import.meta.url), logLevel: config.logLevel, log }),
    options: config.syncer,
    clock,
    random: Math.random,
    log,
    metrics: shared.poolMetrics,
    maxWorkers: config.maxWorkers,
    limits: { heapMb: config.workerMemoryMb },
  });
  const deps: ReconcilerDeps = {
    clientWorkspace: {
      client,
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
    allowProxy: config.syncer.dialPolicy.allowProxy,
    clock,
    random: Math.random,
    randomBytes,
    log,
    metrics: shared.reconcilerMetrics,
    concurrency: config.concurrency,
  };
  const controllers = startControllers(deps);
  readiness.set('controllers', true, 'running');
  await new Promise<void>((resolve) => {
    if (until.aborted) resolve();
    else until.addEventListener('abort', () => resolve(), { once: true });
  });
  readiness.set('controllers', false, 'stopping');
  await controllers.close();
  await pool.close();
  await workspaces.close();
  await Promise.all([generatedExports.stopped, endpointSlices.stopped, stateSecrets.stopped]);
}
