import { randomBytes } from 'node:crypto';

import { createHandshakeServer, type HandshakeServer } from '../../src/handshake/handshake-server.js';
import { sanitizeKubeconfig } from '../../src/kube/kubeconfig-sanitizer.js';
import { createConnectionStates } from '../../src/state/secret-connection-states.js';
import type { VirtualWorkspace } from '../../src/vw-client/virtual-workspace.js';
import type { Readiness } from './readiness.js';
import { readText } from './servers.js';
import type { Shared } from './shared.js';

/** Makes the server of login pages, health and metrics; it does not listen yet. */
export async function createServer(
  shared: Shared,
  parts: {
    readonly workspaces: VirtualWorkspace;
    readonly readiness: Readiness;
    readonly isLeader: () => boolean;
  },
): Promise<HandshakeServer> {
  const { config, servers, clock } = shared;
  const states = createConnectionStates({ client: servers.client, namespace: config.namespace });
  const tls = config.tls && {
    cert: await readText(config.tls.certFile),
    key: await readText(config.tls.keyFile),
  };
  return createHandshakeServer({
    states,
    installationKey: shared.installationKey,
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
    trustedProxies: config.trustedProxies,
    ...(tls === undefined ? {} : { tls }),
  });
}
