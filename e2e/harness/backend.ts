import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';

import { startChild, type Child } from './child.js';
import type { KcpAccess } from './kcp.js';
import { kubectl } from './kubectl.js';
import { freePorts } from './ports.js';
import { waitFor } from './wait-for.js';
import type { Workspace } from './workspaces.js';

/** A running kube-bind backend that serves one provider. */
export interface Backend {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  readonly child: Child;
  stop(): Promise<void>;
}

/** A provider as a backend needs it. */
export interface ProviderServer {
  /** Kubeconfig of its admin. */
  readonly kubeconfig: string;
  /** Server URL for consumers. */
  readonly server: string;
  readonly caFile: string;
}

export interface BackendFlags {
  readonly binary: string;
  readonly dir: string;
  readonly prettyName?: string;
  readonly consumerScope?: 'cluster' | 'namespaced';
  readonly isolation?: 'prefixed' | 'namespaced' | 'none';
  /** Start of the contract namespaces' names. */
  readonly namespacePrefix?: string;
  readonly detached?: boolean;
}

export interface BackendOptions extends BackendFlags {
  readonly kcp: KcpAccess;
  readonly provider: Workspace;
}

/** Installs kube-bind's own CRDs into a provider and waits until they are served. */
export async function installBackendCrds(
  provider: { readonly kubeconfig: string },
  crds: string,
): Promise<void> {
  await kubectl(provider.kubeconfig, ['apply', '--server-side', '-f', crds]);
  await kubectl(provider.kubeconfig, ['wait', '--for=condition=Established', '--timeout=60s', '-f', crds]);
}

/** Starts a backend in front of a provider workspace. */
export async function startBackend(options: BackendOptions): Promise<Backend> {
  const { kcp, provider } = options;
  const server = `${kcp.address}/clusters/${provider.path}`;
  return startBackendAt({ kubeconfig: provider.kubeconfig, server, caFile: kcp.caFile }, options);
}

/** Starts a backend with its embedded login, which lets everybody in without a form. */
export async function startBackendAt(provider: ProviderServer, options: BackendFlags): Promise<Backend> {
  const [port = 0] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  await mkdir(options.dir, { recursive: true });
  const child = startChild({
    name: `backend-${port}`,
    command: options.binary,
    logFile: `${options.dir}/backend.log`,
    detached: options.detached ?? false,
    args: [
      `--kubeconfig=${provider.kubeconfig}`,
      `--listen-address=${address}`,
      '--oidc-type=embedded',
      `--oidc-issuer-url=http://${address}/oidc`,
      `--oidc-callback-url=http://${address}/api/callback`,
      `--external-address=${provider.server}`,
      `--external-ca-file=${provider.caFile}`,
      `--cookie-signing-key=${randomBytes(32).toString('base64')}`,
      `--namespace-prefix=${options.namespacePrefix ?? 'kube-bind-'}`,
      `--pretty-name=${options.prettyName ?? 'Example Corp'}`,
      `--consumer-scope=${options.consumerScope ?? 'namespaced'}`,
      `--isolation=${options.isolation ?? 'prefixed'}`,
      '--schema-sync-interval=10s',
    ],
  });
  const url = `http://${address}`;
  await waitFor(
    async () => {
      if (!child.running) throw new Error(`the backend ended; its log is ${child.logFile}`);
      return (await fetch(`${url}/api/exports`)).ok;
    },
    { what: `the backend at ${url} (log: ${child.logFile})`, timeout: 60_000 },
  );
  await waitFor(async () => letsEverybodyBind(provider.kubeconfig), {
    what: `users to be allowed to bind at ${url} (log: ${child.logFile})`,
    timeout: 60_000,
  });
  return { url, child, stop: () => child.stop() };
}

/**
 * Whether the provider's API server lets a backend's users bind. A backend answers before it has given them
 * the right to, and then refuses each bind with 403; it asks the server with this very review.
 */
async function letsEverybodyBind(kubeconfig: string): Promise<boolean> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: 'anybody',
      groups: ['system:authenticated'],
      resourceAttributes: { verb: 'bind', group: 'kube-bind.io' },
    },
  };
  const answer = await kubectl(kubeconfig, ['create', '-f', '-', '-o', 'jsonpath={.status.allowed}'], {
    input: JSON.stringify(review),
  });
  return answer === 'true';
}
