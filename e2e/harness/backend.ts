import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';

import { startChild, type Child } from './child.js';
import type { KcpAccess } from './kcp.js';
import { kubectl } from './kubectl.js';
import { freePorts } from './ports.js';
import { waitFor } from './wait-for.js';
import type { Workspace } from './workspaces.js';

/** A running kube-bind backend that serves one provider workspace. */
export interface Backend {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  readonly child: Child;
  stop(): Promise<void>;
}

export interface BackendOptions {
  readonly binary: string;
  readonly dir: string;
  readonly kcp: KcpAccess;
  readonly provider: Workspace;
  readonly prettyName?: string;
  readonly consumerScope?: 'cluster' | 'namespaced';
  readonly isolation?: 'prefixed' | 'namespaced' | 'none';
  /** Start of the contract namespaces' names. */
  readonly namespacePrefix?: string;
  readonly detached?: boolean;
}

/** Installs kube-bind's own CRDs into a provider workspace and waits until they are served. */
export async function installBackendCrds(provider: Workspace, crds: string): Promise<void> {
  await kubectl(provider.kubeconfig, ['apply', '--server-side', '-f', crds]);
  await kubectl(provider.kubeconfig, ['wait', '--for=condition=Established', '--timeout=60s', '-f', crds]);
}

/** Starts a backend with its embedded login, which lets everybody in without a form. */
export async function startBackend(options: BackendOptions): Promise<Backend> {
  const [port = 0] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  await mkdir(options.dir, { recursive: true });
  const child = startChild({
    name: `backend-${port}`,
    command: options.binary,
    logFile: `${options.dir}/backend.log`,
    detached: options.detached ?? false,
    args: [
      `--kubeconfig=${options.provider.kubeconfig}`,
      `--listen-address=${address}`,
      '--oidc-type=embedded',
      `--oidc-issuer-url=http://${address}/oidc`,
      `--oidc-callback-url=http://${address}/api/callback`,
      `--external-address=${options.kcp.address}/clusters/${options.provider.path}`,
      `--external-ca-file=${options.kcp.caFile}`,
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
  return { url, child, stop: () => child.stop() };
}
