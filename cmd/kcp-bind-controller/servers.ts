import { readFile } from 'node:fs/promises';

import type { ControllerConfig } from '../../src/config/controller-config.js';
import type { KubeClient } from '../../src/kube/client.js';
import type { Clock } from '../../src/kube/clock.js';
import type { ServerCredentials } from '../../src/kube/credentials.js';
import { createOpenDialler } from '../../src/kube/dialler/dialler.js';
import { loadKubeconfig } from '../../src/kube/kubeconfig.js';
import { connect } from '../../src/kube/transport/connect.js';
import { ControllerError } from './controller-error.js';

/** Ways to the admin's own kcp: hosts that the kubeconfig and our own endpoint slices name. */
export interface Servers {
  /** The client workspace. */
  readonly client: KubeClient;
  /** What the kubeconfig says of it. */
  readonly own: ServerCredentials;
  /** The same place by connections of its own: a renewal of the Lease must not queue behind large lists. */
  readonly leaseClient: KubeClient;
  /** The controller's credentials for a virtual workspace's URL, mapped as --vw-url-map says. */
  readonly credentialsFor: (url: string) => ServerCredentials;
  readonly connect: (credentials: ServerCredentials) => KubeClient;
}

/** @throws ControllerError where the kubeconfig names no workspace, or a file cannot be read */
export async function openServers(
  config: ControllerConfig,
  clock: Clock,
  userAgent: string,
): Promise<Servers> {
  if (config.kubeconfig === undefined) {
    throw new ControllerError(
      'give --kubeconfig: a kubeconfig of the account kube-bind/kcp-bind-controller whose server ends in ' +
        '/clusters/<path of the client workspace>',
      'KUBECONFIG_MISSING',
    );
  }
  const own = await loadKubeconfig({ path: config.kubeconfig, context: config.context });
  if (!/\/clusters\/[^/]+$/.test(own.server)) {
    throw new ControllerError(
      `the kubeconfig's server ${own.server} is no workspace: it must end in /clusters/<path>, for instance ` +
        '/clusters/root:kube-bind',
      'KUBECONFIG_WITHOUT_WORKSPACE',
    );
  }
  const { caFile, urlMap } = config.virtualWorkspace;
  const ca = caFile === undefined ? own.ca : await readText(caFile);
  const dialler = createOpenDialler();
  const open = (credentials: ServerCredentials): KubeClient =>
    connect(credentials, {
      dialler,
      userAgent,
      requestTimeoutMs: config.syncer.requestTimeoutMs,
      connections: 8,
      clock,
      random: Math.random,
    });
  return {
    client: open(own),
    own,
    leaseClient: open(own),
    connect: open,
    credentialsFor: (url) => ({
      server: mapUrl(url.replace(/\/+$/, ''), urlMap),
      auth: own.auth,
      ...(ca === undefined ? {} : { ca }),
      ...(caFile === undefined && own.tlsServerName !== undefined
        ? { tlsServerName: own.tlsServerName }
        : {}),
      ...(own.proxyUrl === undefined ? {} : { proxyUrl: own.proxyUrl }),
    }),
  };
}

/** The first entry whose prefix fits, up to a border of host or path, replaces it. */
export function mapUrl(url: string, entries: readonly (readonly [string, string])[]): string {
  for (const [from, to] of entries) {
    const prefix = from.replace(/\/+$/, '');
    if (url === prefix || url.startsWith(`${prefix}/`))
      return to.replace(/\/+$/, '') + url.slice(prefix.length);
  }
  return url;
}

export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new ControllerError(`cannot read ${file}`, 'FILE_UNREADABLE', { cause });
  }
}
