import { mkdir, readFile } from 'node:fs/promises';

import { startChild, type Child } from './child.js';
import type { KcpAccess, User } from './kcp.js';
import { writeKubeconfig } from './kubeconfig.js';
import { kubectl } from './kubectl.js';
import { secretsInLog } from './log-secrets.js';
import { freePorts } from './ports.js';
import { ROOT } from './root.js';
import { waitFor } from './wait-for.js';
import { createWorkspace, type Workspace } from './workspaces.js';

/** A client workspace with the client installed, and the controller's own kubeconfig for it. */
export interface ClientInstallation {
  readonly kcp: KcpAccess;
  readonly workspace: Workspace;
  readonly controllerKubeconfig: string;
}

/**
 * Who the controller is: the ServiceAccount that apiexport/ installs, or a user of kcp with the same roles. kcp v0.28.1
 * shares one map between all requests of a ServiceAccount's token and ends with "concurrent map read and map write" when
 * two of them meet in it, which many suites at once would bring about.
 */
export type ControllerAccount = 'service-account' | 'user';

/** Does what the platform admin does: a workspace, `kubectl apply -k apiexport`, an account for the controller. */
export async function installClient(
  kcp: KcpAccess,
  name: string,
  account: ControllerAccount = 'user',
): Promise<ClientInstallation> {
  const workspace = await createWorkspace(kcp, 'root', name);
  await kubectl(workspace.kubeconfig, ['apply', '-k', `${ROOT}/apiexport`]);
  if (account === 'user') await grantRoles(workspace.kubeconfig, CONTROLLER_USER);
  const token = await waitFor(
    async () => {
      const text = await kubectl(workspace.kubeconfig, [
        'get',
        'secret',
        'kcp-bind-controller-token',
        '-n',
        'kube-bind',
        '-o',
        'jsonpath={.data.token}',
      ]);
      return text !== '' && Buffer.from(text, 'base64').toString();
    },
    { what: "the controller's token" },
  );
  const controllerKubeconfig = await writeKubeconfig(`${kcp.dir}/kubeconfigs/${name}-controller.yaml`, {
    server: `${kcp.address}/clusters/${workspace.path}`,
    ca: kcp.ca,
    token: account === 'user' ? CONTROLLER_TOKEN : token,
  });
  return { kcp, workspace, controllerKubeconfig };
}

/** The bench's user for controllers, and its token. */
export const CONTROLLER_USER = 'controller';
export const CONTROLLER_TOKEN = `${CONTROLLER_USER}-token`;

/** Gives a user the roles that apiexport/ gives the ServiceAccount. */
export async function grantRoles(kubeconfig: string, user: User): Promise<void> {
  await kubectl(kubeconfig, [
    'create',
    'clusterrolebinding',
    `${user}-user`,
    '--clusterrole=kcp.kube-bind.io:controller',
    `--user=${user}`,
  ]);
  await kubectl(kubeconfig, [
    'create',
    'rolebinding',
    `${user}-user`,
    '--namespace=kube-bind',
    '--role=kcp-bind-controller',
    `--user=${user}`,
  ]);
}

/** A running controller. */
export interface Controller {
  /** `http://127.0.0.1:port`: login pages, health, metrics. */
  readonly url: string;
  readonly child: Child;
  readonly logFile: string;
  /** Rejects where the log holds a credential: so the run of each suite shows that none does. */
  stop(): Promise<void>;
  /** Kills it without a chance to clean up, and resolves when it is gone. */
  kill(): Promise<void>;
}

export interface ControllerOptions {
  readonly installation: ClientInstallation;
  readonly dir: string;
  /** Further flags; they stand behind, and so replace, those of the bench. */
  readonly args?: readonly string[];
  /** Guarded address ranges that tenants' URLs may lead to. Default: loopback, where the bench lives. */
  readonly allowAddresses?: readonly string[];
  /** Keep a port over restarts, so that a published login URL stays good. */
  readonly port?: number;
  /** Resolve without waiting for /readyz. */
  readonly dontWait?: boolean;
  /** Without --external-url: it serves no login pages. */
  readonly withoutLoginPages?: boolean;
  readonly env?: NodeJS.ProcessEnv;
  /** Another kubeconfig than the installation's: through a fault proxy, or of another account. */
  readonly kubeconfig?: string;
  readonly detached?: boolean;
}

/** For suites that kill a controller: the next one has to wait until the Lease has run out. */
export const SHORT_LEASE = ['--lease-duration=10s', '--lease-renew-deadline=8s'] as const;

/** Short deadlines, so that suites do not wait for what takes minutes in production. */
const QUICK = [
  // A loaded machine may answer late, and whoever loses its Lease ends all work and begins anew.
  '--lease-duration=60s',
  '--lease-renew-deadline=45s',
  '--lease-retry=500ms',
  '--backoff-base=100ms',
  '--backoff-max=3s',
  '--report-interval=200ms',
  '--absence-grace=3s',
];

export async function startController(options: ControllerOptions): Promise<Controller> {
  await mkdir(options.dir, { recursive: true });
  const port = options.port ?? (await freePorts(1))[0] ?? 0;
  const url = `http://127.0.0.1:${port}`;
  const logFile = `${options.dir}/controller.log`;
  const child = startChild({
    name: `controller-${port}`,
    command: process.execPath,
    logFile,
    detached: options.detached ?? false,
    args: [
      '--enable-source-maps',
      `${ROOT}/dist/controller/controller.js`,
      `--kubeconfig=${options.kubeconfig ?? options.installation.controllerKubeconfig}`,
      `--listen=127.0.0.1:${port}`,
      ...(options.withoutLoginPages === true ? [] : [`--external-url=${url}`]),
      ...(options.allowAddresses ?? ['127.0.0.0/8']).map((cidr) => `--allow-address=${cidr}`),
      '--log-level=debug',
      ...QUICK,
      ...(options.args ?? []),
    ],
    env: { PATH: process.env['PATH'], ...options.env },
  });
  const controller: Controller = {
    url,
    child,
    logFile,
    stop: async () => {
      await child.stop();
      const secrets = secretsInLog(await readFile(logFile, 'utf8'));
      if (secrets.length > 0) throw new Error(`${logFile}: ${secrets.slice(0, 5).join('\n')}`);
    },
    kill: async () => {
      child.signal('SIGKILL');
      await child.ended;
    },
  };
  if (options.dontWait !== true) await waitUntilReady(controller);
  return controller;
}

/** Resolves when /readyz says so; rejects early when the process ends. */
export async function waitUntilReady(controller: Controller, timeout = 60_000): Promise<void> {
  await waitFor(
    async () => {
      if (!controller.child.running) return 'ended';
      return (await fetch(`${controller.url}/readyz`)).ok && 'ready';
    },
    { what: `the controller to be ready (log: ${controller.logFile})`, timeout },
  ).then((answer) => {
    if (answer === 'ended') throw new Error(`the controller ended; its log is ${controller.logFile}`);
  });
}
