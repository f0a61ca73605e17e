import { locate } from '../../scripts/tools.mjs';
import { startBackendAt } from './backend.js';
import type { Bench, KubernetesProvider } from './bench.js';
import { startKubernetes, type KubernetesPrograms } from './kubernetes.js';
import { emptyBenchFolder, program, startBench, startProvider } from './start-bench.js';

/** The servers of all end-to-end suites. */
export interface RunningSuiteBench {
  readonly bench: Bench;
  stop(): Promise<void>;
}

/** Starts what the demo has, and a plain Kubernetes as another provider, below `dir`, which is emptied first. */
export async function startSuiteBench(dir: string, say: (text: string) => void): Promise<RunningSuiteBench> {
  await emptyBenchFolder(dir);
  const [kcps, kubernetes] = await Promise.all([
    startBench(dir, say),
    startKubernetesProvider(`${dir}/kubernetes`),
  ]);
  return {
    bench: { ...kcps.bench, kubernetes: kubernetes.provider },
    stop: async () => {
      await Promise.all([kcps.stop(), kubernetes.stop()]);
    },
  };
}

/** Where the programs of a plain Kubernetes are. */
export function kubernetesPrograms(programs: Readonly<Record<string, string>>): KubernetesPrograms {
  return {
    etcd: program(programs, 'etcd'),
    apiserver: program(programs, 'kube-apiserver'),
    controllerManager: program(programs, 'kube-controller-manager'),
  };
}

async function startKubernetesProvider(
  dir: string,
): Promise<{ readonly provider: KubernetesProvider; stop(): Promise<void> }> {
  const { programs, crds } = await locate();
  const server = await startKubernetes({ programs: kubernetesPrograms(programs), name: 'kubernetes', dir });
  const service = await startProvider(server, { crds, dir: `${dir}/service` });
  const { name, address, ca, caFile, auditLog, kubeconfig } = server;
  const backend = await startBackendAt(
    { kubeconfig, server: address, caFile },
    { binary: program(programs, 'backend'), dir: `${dir}/backend` },
  );
  return {
    provider: { name, dir, address, ca, caFile, auditLog, kubeconfig, backendUrl: backend.url },
    stop: async () => {
      await service.stop();
      await backend.stop();
      await server.stop();
    },
  };
}
