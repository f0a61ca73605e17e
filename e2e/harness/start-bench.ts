import { mkdir, rm } from 'node:fs/promises';

import { locate } from '../../scripts/tools.mjs';
import { installBackendCrds, startBackend, type Backend } from './backend.js';
import type { KcpBench } from './bench.js';
import { startChild, type Child } from './child.js';
import { startKcp, type Kcp, type KcpAccess } from './kcp.js';
import { kubectl } from './kubectl.js';
import { ROOT } from './root.js';
import { waitFor } from './wait-for.js';
import { createWorkspace } from './workspaces.js';

/** Two kcps, a provider workspace, its service and its backend. */
export interface RunningBench {
  readonly bench: KcpBench;
  readonly consumers: Kcp;
  readonly providers: Kcp;
  readonly backend: Backend;
  readonly service: Child;
  stop(): Promise<void>;
}

/** Makes the folder of a bench, and empties it. */
export async function emptyBenchFolder(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
}

/** Starts all of it below `dir`. About half a minute. */
export async function startBench(
  dir: string,
  say: (text: string) => void,
  detached = false,
): Promise<RunningBench> {
  const { programs, crds } = await locate();
  const kcp = (name: string) =>
    startKcp({ binary: program(programs, 'kcp'), name, dir: `${dir}/${name}`, detached });
  say('starting two kcps: one for consumers, one for providers');
  const [consumers, providers] = await Promise.all([kcp('consumers'), kcp('providers')]);
  say('making a provider workspace with an example service and a kube-bind backend');
  const provider = await createWorkspace(providers, 'root', 'provider');
  const service = await startProvider(provider, { crds, dir: `${dir}/service`, detached });
  const backend = await startBackend({
    binary: program(programs, 'backend'),
    dir: `${dir}/backend`,
    kcp: providers,
    provider,
    detached,
  });
  return {
    bench: {
      dir,
      programs,
      crds,
      consumers: access(consumers),
      providers: access(providers),
      provider,
      backendUrl: backend.url,
    },
    consumers,
    providers,
    backend,
    service,
    stop: async () => {
      await service.stop();
      await backend.stop();
      await Promise.all([consumers.stop(), providers.stop()]);
    },
  };
}

/** Installs kube-bind's CRDs and the example API into a provider, and runs its service. */
export async function startProvider(
  provider: { readonly kubeconfig: string },
  options: { readonly crds: string; readonly dir: string; readonly detached?: boolean },
): Promise<Child> {
  await mkdir(options.dir, { recursive: true });
  await installBackendCrds(provider, options.crds);
  const example = `${ROOT}/e2e/service/databases.yaml`;
  await waitFor(() => kubectl(provider.kubeconfig, ['apply', '-f', example]), { what: 'the example API' });
  return startChild({
    name: 'database-service',
    command: process.execPath,
    args: ['--import', 'tsx', `${ROOT}/e2e/service/main.ts`, provider.kubeconfig],
    logFile: `${options.dir}/database-service.log`,
    cwd: ROOT,
    ...(options.detached === undefined ? {} : { detached: options.detached }),
  });
}

/** Path of a program; throws where there is none of that name. */
export function program(programs: Readonly<Record<string, string>>, name: string): string {
  const path = programs[name];
  if (path === undefined) throw new Error(`no program ${name}`);
  return path;
}

function access(kcp: Kcp): KcpAccess {
  const { name, dir, address, ca, caFile, auditLog, adminToken } = kcp;
  return { name, dir, address, ca, caFile, auditLog, adminToken };
}
