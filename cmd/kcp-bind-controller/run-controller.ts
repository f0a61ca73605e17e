import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

import { createSystemClock } from '../../src/kube/system-clock.js';
import { WritePermit } from '../../src/kube/write-permit.js';
import { Lease } from '../../src/reconcilers/leader/lease.js';
import { runAsLeader } from '../../src/reconcilers/leader/run-as-leader.js';
import { identifyClientWorkspace, type ClientWorkspaceIdentity } from './client-workspace.js';
import { patiently } from './patiently.js';
import { Reachability } from './reachability.js';
import { Readiness } from './readiness.js';
import { reconcile } from './reconcile.js';
import { createServer } from './serve.js';
import { openServers } from './servers.js';
import { createShared, type RunOptions, type Shared } from './shared.js';
import { RIGHTS_CHECK, watchRights } from './watch-rights.js';
import { openWorkspaces } from './workspaces.js';

/**
 * Runs the controller until the signal. Pages, health and metrics are served from the start; the reconcilers run
 * while the Lease is held.
 *
 * @throws ControllerError, StateError or a KubeError where it cannot start
 */
export async function runController(options: RunOptions): Promise<void> {
  const { config, log, signal } = options;
  const servers = await openServers(config, createSystemClock(), `kcp-bind-controller/${options.version}`);
  const shared = createShared(options, servers);
  const readiness = new Readiness([RIGHTS_CHECK, 'client-export', 'installation-key', 'controllers']);
  const reachability = new Reachability();
  const workspaces = openWorkspaces(shared, servers.client, signal, {
    onClientWorkspace: (event) => reachability.note(event),
  });
  const permit = config.leader.enabled ? new WritePermit(() => process.hrtime.bigint()) : undefined;
  const lease = createLease(shared, permit);
  const ending = new AbortController();
  let watching: Promise<void> | undefined;
  const server = await createServer(shared, { workspaces, readiness, isLeader: () => lease.isHeld() });
  try {
    await server.listen({ ...config.listen, signal });
    warnOfAddress(config, log);
    log.info(
      { listen: config.listen, externalUrl: config.externalUrl },
      'serving login pages, health and metrics',
    );
    const { namespace } = config;
    watching = watchRights(
      { client: servers.client, namespace, readiness, clock: shared.clock, log },
      AbortSignal.any([signal, ending.signal]),
    );
    const patience = { clock: shared.clock, log, signal };
    const identity = await patiently(
      () => identifyClientWorkspace(servers.client, config.clientExport, signal),
      patience,
    );
    readiness.setLive('client-export', () => {
      const { problem } = reachability;
      const message = problem ?? `${identity.path}:${config.clientExport}`;
      return { name: 'client-export', ok: problem === undefined, message };
    });
    await patiently(() => shared.installationKey.load(), patience);
    readiness.set('installation-key', true, 'loaded');
    await lead(shared, { identity, lease, permit, readiness, signal });
  } finally {
    ending.abort();
    await watching;
    await server.close();
    await workspaces.close();
    await shared.foreignHttp.close();
    await Promise.all([servers.client.close(), servers.leaseClient.close()]);
  }
}

function createLease({ servers, config, clock }: Shared, permit: WritePermit | undefined): Lease {
  return new Lease({
    client: servers.leaseClient,
    namespace: config.namespace,
    name: 'kcp-bind-controller',
    identity: `${hostname()}_${randomBytes(8).toString('hex')}`,
    times: config.leader,
    clock,
    monotonic: () => performance.now(),
    onHeld: (leftMs) => permit?.allowFor(leftMs),
  });
}

interface Leading {
  readonly identity: ClientWorkspaceIdentity;
  readonly lease: Lease;
  readonly permit: WritePermit | undefined;
  readonly readiness: Readiness;
  readonly signal: AbortSignal;
}

async function lead(shared: Shared, { identity, lease, permit, readiness, signal }: Leading): Promise<void> {
  const { config, clock, log } = shared;
  const work = async (until: AbortSignal): Promise<void> => {
    shared.reconcilerMetrics.leader(true);
    await reconcile(
      shared,
      {
        ...{ identity, readiness, writePermit: permit },
        mayWrite: () => !config.leader.enabled || lease.isHeld(),
      },
      until,
    );
    shared.reconcilerMetrics.leader(false);
  };
  if (!config.leader.enabled) {
    await work(signal);
    return;
  }
  while (!signal.aborted) {
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
    // All that leading made is gone by now: the next term begins with empty caches, as a new process would.
    if (outcome === 'lost') log.warn({ component: 'leader' }, 'the Lease was lost; competing for it again');
  }
}

function warnOfAddress({ externalUrl, tls }: Shared['config'], log: Shared['log']): void {
  if (externalUrl === undefined) {
    log.warn('no --external-url: no login is possible; connections by kubeconfig work');
  } else if (externalUrl.startsWith('https:') && tls === undefined) {
    log.info('--external-url is https and there is no --tls-cert-file: a reverse proxy has to end TLS');
  }
}
