import { generateKeyPairSync } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';

import { AUDIT_POLICY } from './audit-log.js';
import { startChild, type Child } from './child.js';
import { writeKubeconfig } from './kubeconfig.js';
import { runKubectl } from './kubectl.js';
import { freePorts } from './ports.js';
import { waitFor } from './wait-for.js';

/** A plain Kubernetes API server without nodes. `address` is `https://127.0.0.1:port`. */
export interface Kubernetes {
  readonly name: string;
  readonly dir: string;
  readonly address: string;
  readonly ca: string;
  readonly caFile: string;
  readonly auditLog: string;
  /** Kubeconfig of its admin. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

/** What another process needs to use one that this process started. */
export type KubernetesAccess = Omit<Kubernetes, 'stop'>;

/** Paths of the three programs. */
export interface KubernetesPrograms {
  readonly etcd: string;
  readonly apiserver: string;
  readonly controllerManager: string;
}

const ADMIN_TOKEN = 'bench-admin-token';

/** A little less than in kcp, so that an object may fit there and not here. */
export const MAX_OBJECT_BYTES = 1_300_000;

/** The loops of the controller-manager that a kube-bind backend needs, and those that clean up after deletions. */
const CONTROLLERS = [
  'serviceaccount-token-controller',
  'serviceaccount-controller',
  'clusterrole-aggregation-controller',
  'namespace-controller',
  'garbage-collector-controller',
].join(',');

/** Starts etcd, the API server and a small controller-manager, and waits until they serve; about ten seconds. */
export async function startKubernetes(options: {
  readonly programs: KubernetesPrograms;
  readonly name: string;
  readonly dir: string;
}): Promise<Kubernetes> {
  const { programs, name, dir } = options;
  await mkdir(dir, { recursive: true });
  const [port = 0, etcdPort = 0, peerPort = 0] = await freePorts(3);
  const address = `https://127.0.0.1:${port}`;
  const auditLog = `${dir}/audit.log`;
  await writeInputs(dir);
  const children: Child[] = [];
  const run = (program: string, command: string, args: readonly string[]): Child => {
    const child = startChild({ name: `${name}-${program}`, command, args, logFile: `${dir}/${program}.log` });
    children.push(child);
    return child;
  };
  /** Last started first: without its etcd, an API server ignores SIGTERM. */
  const stop = async (): Promise<void> => {
    for (const child of children.splice(0).reverse()) await child.stop();
  };
  try {
    run('etcd', programs.etcd, etcdArgs(dir, etcdPort, peerPort));
    const apiserver = run('apiserver', programs.apiserver, [
      ...[`--etcd-servers=http://127.0.0.1:${etcdPort}`, `--secure-port=${port}`, '--bind-address=127.0.0.1'],
      ...[`--cert-dir=${dir}`, `--token-auth-file=${dir}/tokens.csv`, '--authorization-mode=RBAC'],
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${dir}/service-accounts.pub`,
      `--service-account-signing-key-file=${dir}/service-accounts.key`,
      ...['--service-cluster-ip-range=10.0.0.0/24', '--disable-admission-plugins=ServiceAccount'],
      ...[`--audit-policy-file=${dir}/audit-policy.yaml`, `--audit-log-path=${auditLog}`],
      '--audit-log-mode=blocking',
    ]);
    // The server makes its certificate while it starts; it signs itself.
    const caFile = `${dir}/apiserver.crt`;
    const ca = await waitFor(() => readFile(caFile, 'utf8'), { what: `${name}'s certificate` });
    const kubeconfig = await writeKubeconfig(`${dir}/admin.kubeconfig`, {
      server: address,
      ca,
      token: ADMIN_TOKEN,
    });
    await ready(apiserver, kubeconfig);
    run('controller-manager', programs.controllerManager, [
      ...[`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0'],
      ...[`--service-account-private-key-file=${dir}/service-accounts.key`, `--root-ca-file=${caFile}`],
      `--controllers=${CONTROLLERS}`,
    ]);
    // Written by the service account controller: the controller-manager is at work.
    await waitFor(
      async () =>
        (await runKubectl(kubeconfig, ['get', 'serviceaccount', 'default', '-n', 'default'])).code === 0,
      { what: `the controller-manager of ${name}`, timeout: 60_000, interval: 300 },
    );
    return { name, dir, address, ca, caFile, auditLog, kubeconfig, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function etcdArgs(dir: string, port: number, peerPort: number): readonly string[] {
  const url = `http://127.0.0.1:${port}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  return [
    ...[`--data-dir=${dir}/etcd`, `--listen-client-urls=${url}`, `--advertise-client-urls=${url}`],
    ...[`--listen-peer-urls=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`],
    ...[
      `--initial-cluster=default=${peerUrl}`,
      '--unsafe-no-fsync',
      `--max-request-bytes=${MAX_OBJECT_BYTES}`,
    ],
  ];
}

async function writeInputs(dir: string): Promise<void> {
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  const secret = { mode: 0o600 };
  await Promise.all([
    writeFile(`${dir}/service-accounts.key`, pair.privateKey, secret),
    writeFile(`${dir}/service-accounts.pub`, pair.publicKey),
    writeFile(`${dir}/audit-policy.yaml`, AUDIT_POLICY),
    writeFile(`${dir}/tokens.csv`, `${ADMIN_TOKEN},bench-admin,bench-admin,"system:masters"\n`, secret),
  ]);
}

async function ready(child: Child, kubeconfig: string): Promise<void> {
  await waitFor(
    async () => {
      if (!child.running) throw new Error(`the API server ended; its log is ${child.logFile}`);
      return (await runKubectl(kubeconfig, ['get', '--raw', '/readyz'])).stdout === 'ok';
    },
    { what: `the API server (log: ${child.logFile})`, timeout: 120_000, interval: 300 },
  );
}
