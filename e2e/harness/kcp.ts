import { readFile, mkdir, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';

import { AUDIT_POLICY } from './audit-log.js';
import { startChild, type Child } from './child.js';
import { runKubectl } from './kubectl.js';
import { writeKubeconfig } from './kubeconfig.js';
import { freePorts } from './ports.js';
import { waitFor } from './wait-for.js';

/** Users that each kcp of the bench knows besides its admin; the token is the user's name and `-token`. */
export const USERS = ['alice', 'bob', 'carol', 'controller'] as const;
export type User = (typeof USERS)[number];

/** A running kcp. `address` is `https://127.0.0.1:port`. */
export interface Kcp {
  readonly name: string;
  readonly dir: string;
  readonly address: string;
  readonly ca: string;
  readonly caFile: string;
  readonly auditLog: string;
  readonly adminToken: string;
  readonly child: Child;
  /** Stops it and starts it again with the same data and ports. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** What another process needs to use a kcp that this one started. */
export type KcpAccess = Pick<Kcp, 'name' | 'dir' | 'address' | 'ca' | 'caFile' | 'auditLog' | 'adminToken'>;

const ADMIN_TOKEN = 'bench-admin-token';

/** Starts kcp with an embedded etcd and waits until it serves; about ten to thirty seconds. */
export async function startKcp(options: {
  readonly binary: string;
  readonly name: string;
  readonly dir: string;
  readonly detached?: boolean;
}): Promise<Kcp> {
  const { binary, name, dir } = options;
  await mkdir(dir, { recursive: true });
  const [port = 0, etcdClient = 0, etcdPeer = 0] = await freePorts(3);
  const auditLog = `${dir}/audit.log`;
  await writeFile(`${dir}/audit-policy.yaml`, AUDIT_POLICY);
  await writeFile(
    `${dir}/tokens.csv`,
    [
      `${ADMIN_TOKEN},bench-admin,bench-admin,"system:kcp:admin"`,
      ...USERS.map((user) => `${user}-token,${user},${user},"tenants"`),
    ].join('\n') + '\n',
    { mode: 0o600 },
  );
  const start = () =>
    startChild({
      name,
      command: binary,
      logFile: `${dir}/kcp.log`,
      detached: options.detached ?? false,
      args: [
        'start',
        `--root-directory=${dir}`,
        '--bind-address=127.0.0.1',
        `--secure-port=${port}`,
        `--embedded-etcd-client-port=${etcdClient}`,
        `--embedded-etcd-peer-port=${etcdPeer}`,
        `--token-auth-file=${dir}/tokens.csv`,
        `--audit-policy-file=${dir}/audit-policy.yaml`,
        `--audit-log-path=${auditLog}`,
        '--audit-log-mode=blocking',
      ],
    });
  const address = `https://127.0.0.1:${port}`;
  let child = start();
  await ready(child, dir);
  const { ca, caFile } = await authority(dir);
  return {
    name,
    dir,
    address,
    ca,
    caFile,
    auditLog,
    adminToken: ADMIN_TOKEN,
    get child() {
      return child;
    },
    restart: async () => {
      await child.stop();
      child = start();
      await ready(child, dir);
    },
    stop: () => child.stop(),
  };
}

async function ready(child: Child, dir: string): Promise<void> {
  await waitFor(
    async () => {
      if (!child.running) throw new Error(`kcp ended; its log is ${child.logFile}`);
      const answer = await runKubectl(`${dir}/admin.kubeconfig`, ['get', '--raw', '/readyz']);
      if (answer.stdout !== 'ok') return false;
      const workspaces = await runKubectl(`${dir}/admin.kubeconfig`, ['get', 'workspaces']);
      return workspaces.code === 0;
    },
    { what: `kcp ${child.name} (log: ${child.logFile})`, timeout: 180_000, interval: 300 },
  );
}

async function authority(dir: string): Promise<{ ca: string; caFile: string }> {
  const config = parse(await readFile(`${dir}/admin.kubeconfig`, 'utf8')) as {
    clusters: { cluster: { 'certificate-authority-data': string } }[];
  };
  const data = config.clusters[0]?.cluster['certificate-authority-data'];
  if (data === undefined) throw new Error(`${dir}/admin.kubeconfig names no authority`);
  const ca = Buffer.from(data, 'base64').toString();
  const caFile = `${dir}/ca.crt`;
  await writeFile(caFile, ca);
  return { ca, caFile };
}

/** Writes a kubeconfig for a workspace path (or logical cluster) and a token. */
export async function workspaceKubeconfig(
  kcp: KcpAccess,
  path: string,
  file: string,
  token: string = kcp.adminToken,
): Promise<string> {
  return writeKubeconfig(file, { server: `${kcp.address}/clusters/${path}`, ca: kcp.ca, token });
}
