import { startBackend } from './backend.js';
import type { Bench } from './bench.js';
import {
  CONTROLLER_TOKEN,
  installClient,
  startController,
  waitUntilReady,
  type ClientInstallation,
  type Controller,
} from './client-installation.js';
import type { CrashStep } from './crash-steps.js';
import { behindProxy, startFaultProxy, type FaultProxy, type Verdict } from './fault-proxy.js';
import { writeKubeconfig } from './kubeconfig.js';
import { ON_THE_WIRE, type WireRequest } from './on-the-wire.js';
import { freePorts } from './ports.js';
import { startProvider } from './start-bench.js';
import { waitFor } from './wait-for.js';
import { createWorkspace, uniqueName } from './workspaces.js';

const MOMENTS = ['before', 'after'] as const;

/**
 * A controller behind proxies that kill it before and after each step that is asked for, and start it again. The
 * provider and its backend are the rig's own, and reached through a proxy too.
 */
export interface CrashRig {
  /** The bench with the rig's provider in place of the shared one. */
  readonly bench: Bench;
  readonly installation: ClientInstallation;
  /** From now on the controller is killed around these steps, once before and once after each, and no others. */
  readonly killAround: (steps: readonly CrashStep[]) => void;
  /** Resolves when all that was asked for last is done; says which kills there were, as `step moment`. */
  readonly killed: (timeout?: number) => Promise<string[]>;
  /** Resolves when a controller runs that answers. */
  readonly ready: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startCrashRig(shared: Bench, dir: string): Promise<CrashRig> {
  const [consumersProxy, providersProxy] = await Promise.all([
    startFaultProxy(shared.consumers),
    startFaultProxy(shared.providers),
  ]);
  const [installation, provider, [port = 0]] = await Promise.all([
    installClient(shared.consumers, uniqueName('kube-bind')),
    createWorkspace(shared.providers, 'root', uniqueName('provider')),
    freePorts(1),
  ]);
  const service = await startProvider(provider, { crds: shared.crds, dir });
  const backend = await startBackend({
    binary: shared.programs['backend'] ?? '',
    dir,
    kcp: behindProxy(shared.providers, providersProxy),
    provider,
  });
  const kubeconfig = await writeKubeconfig(`${dir}/controller.yaml`, {
    server: `${consumersProxy.address}/clusters/${installation.workspace.path}`,
    ca: shared.consumers.ca,
    token: CONTROLLER_TOKEN,
  });

  const start = () =>
    startController({
      installation,
      dir,
      kubeconfig,
      port,
      dontWait: true,
      args: [
        '--leader-elect=false',
        `--vw-url-map=${shared.consumers.address}=${consumersProxy.address}`,
        '--heartbeat-interval=2s',
      ],
    });
  let steps: readonly CrashStep[] = [];
  let done: string[] = [];
  let controller: Controller = await start();
  let restarting = Promise.resolve();
  let dying = false;
  let stopped = false;

  const killAndRestart = (): void => {
    const victim = controller;
    dying = true;
    victim.child.signal('SIGKILL');
    restarting = restarting.then(async () => {
      await victim.child.ended;
      if (!stopped) controller = await start();
      dying = false;
    });
  };

  const rule = (request: WireRequest): Verdict => {
    if (!isOurs(request)) return 'pass';
    // What a process still says between the blow and its end is lost.
    if (dying) return 'drop';
    for (const step of steps) {
      const moment = MOMENTS.find((each) => !done.includes(`${step} ${each}`));
      if (moment === undefined) continue;
      const blow = ON_THE_WIRE[step][moment];
      if (!blow.at(request)) continue;
      done.push(`${step} ${moment}`);
      if (blow.how === 'drop') killAndRestart();
      return blow.how;
    }
    return 'pass';
  };
  const proxies: readonly [WireRequest['to'], FaultProxy][] = [
    ['consumers', consumersProxy],
    ['providers', providersProxy],
  ];
  for (const [to, proxy] of proxies) {
    proxy.setRule((request) => rule({ ...request, to }));
    proxy.onSwallowed(killAndRestart);
  }

  return {
    bench: { ...shared, provider, backendUrl: backend.url },
    installation,
    killAround: (next) => {
      steps = next;
      done = [];
    },
    killed: async (timeout = 240_000) => {
      const wanted = steps.flatMap((step) => MOMENTS.map((moment) => `${step} ${moment}`));
      const missing = () => wanted.filter((kill) => !done.includes(kill));
      await waitFor(() => missing().length === 0, { what: 'the kills', timeout }).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${missing().join(', ')}`);
      });
      await restarting;
      return [...done];
    },
    ready: async () => {
      await restarting;
      await waitUntilReady(controller, 20_000);
    },
    stop: async () => {
      stopped = true;
      await restarting;
      await controller.stop();
      await backend.stop();
      await service.stop();
      await Promise.all(proxies.map(([, proxy]) => proxy.close()));
    },
  };
}

/** The controller itself, or a ServiceAccount: its workers at either side, whose tokens are JWTs. */
function isOurs({ token }: WireRequest): boolean {
  return token === CONTROLLER_TOKEN || token.split('.').length === 3;
}
