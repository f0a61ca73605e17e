import { mkdir } from 'node:fs/promises';

import { readBench } from './bench.js';
import { startChild, type Child } from './child.js';
import { freePorts } from './ports.js';
import { program } from './start-bench.js';

/** Starts the real konnector, kube-bind's own client, for one workspace, as a Deployment in a cluster would run it. */
export async function startKonnector(options: {
  /** Of the workspace's admin. */
  readonly kubeconfig: string;
  readonly dir: string;
}): Promise<Child> {
  await mkdir(options.dir, { recursive: true });
  const [port = 0] = await freePorts(1);
  return startChild({
    name: 'konnector',
    command: program(readBench().programs, 'konnector'),
    logFile: `${options.dir}/konnector.log`,
    args: [
      `--kubeconfig=${options.kubeconfig}`,
      // kcp's workspaces have no kube-system.
      '--lease-namespace=default',
      `--server-address=127.0.0.1:${port}`,
    ],
  });
}
