import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { STEPS, type StepName } from '../../../src/reconcilers/steps.js';
import { startBackend, type Backend } from '../../harness/backend.js';
import { readBench } from '../../harness/bench.js';
import type { Child } from '../../harness/child.js';
import { bindClient } from '../../harness/client-binding.js';
import {
  CONTROLLER_TOKEN,
  installClient,
  startController,
  waitUntilReady,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { applyDatabase, createConsumer, type Consumer } from '../../harness/consumer.js';
import {
  behindProxy,
  startFaultProxy,
  type FaultProxy,
  type ProxiedRequest,
} from '../../harness/fault-proxy.js';
import { writeKubeconfig } from '../../harness/kubeconfig.js';
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { finishLogin } from '../../harness/login.js';
import { freePorts } from '../../harness/ports.js';
import { startProvider } from '../../harness/start-bench.js';
import { waitFor } from '../../harness/wait-for.js';
import { createWorkspace, uniqueName, type Workspace } from '../../harness/workspaces.js';

/** Effects of a worker on the provider and on objects, which have no name in the reconcilers' table. */
type WorkerStep =
  | 'worker.export-request.create'
  | 'worker.service-namespace.create'
  | 'worker.heartbeat'
  | 'worker.object.finalizer.add'
  | 'worker.copy.create'
  | 'worker.object.status'
  | 'worker.copy.delete'
  | 'worker.object.finalizer.remove'
  | 'worker.service-namespace.delete'
  | 'worker.export-request.delete';
type Step = StepName | WorkerStep;
type Moment = 'before' | 'after';

/** How each step looks on the wire. */
const ON_THE_WIRE: Partial<Record<Step, (request: ProxiedRequest) => boolean>> = {
  'connection.finalizer.add': (r) =>
    patches(r, 'kubebindconnections') && r.body.includes('kcp.kube-bind.io/cleanup'),
  'connection.login.start': (r) => writesSecret(r, 'connection-') && has(r, 'login.json'),
  'connection.status': (r) => isStatus(r, 'kubebindconnections'),
  'connection.state.remove': (r) => r.method === 'DELETE' && r.path.includes('/secrets/connection-'),
  'connection.finalizer.remove': (r) =>
    patches(r, 'kubebindconnections') && !r.body.includes('kcp.kube-bind.io/cleanup"]'),
  'binding.finalizer.add': (r) =>
    patches(r, 'kubebindbindings') && r.body.includes('kcp.kube-bind.io/cleanup'),
  'binding.identity.create': (r) =>
    r.method === 'POST' && /\/secrets(\?|$)/.test(r.path) && r.body.includes('-identity'),
  'binding.schema.create': (r) => r.method === 'POST' && /\/apiresourceschemas(\?|$)/.test(r.path),
  'binding.account.create': (r) => r.method === 'POST' && /\/serviceaccounts(\?|$)/.test(r.path),
  'binding.role.apply': (r) => r.method === 'POST' && /\/clusterroles(\?|$)/.test(r.path),
  'binding.role-binding.apply': (r) => r.method === 'POST' && /\/clusterrolebindings(\?|$)/.test(r.path),
  'binding.export.create': (r) => r.method === 'POST' && /\/apiexports(\?|$)/.test(r.path),
  'binding.token.request': (r) => r.method === 'POST' && /\/token(\?|$)/.test(r.path),
  'binding.api-binding.create': (r) => r.method === 'POST' && /\/apibindings(\?|$)/.test(r.path),
  'binding.status': (r) => isStatus(r, 'kubebindbindings'),
  'binding.api-binding.delete': (r) => r.method === 'DELETE' && r.path.includes('/apibindings/kbb-'),
  'binding.export.delete': (r) => r.method === 'DELETE' && r.path.includes('/apiexports/kbb-'),
  'binding.schemas.delete': (r) => r.method === 'DELETE' && r.path.includes('/apiresourceschemas/'),
  'binding.account.delete': (r) =>
    r.method === 'DELETE' && /\/(serviceaccounts|clusterroles|clusterrolebindings)\/kbb-/.test(r.path),
  'binding.identity.delete': (r) => r.method === 'DELETE' && r.path.includes('/secrets/kbb-'),
  'binding.finalizer.remove': (r) =>
    patches(r, 'kubebindbindings') && !r.body.includes('kcp.kube-bind.io/cleanup"]'),
  'worker.export-request.create': (r) =>
    r.method === 'POST' && /\/apiserviceexportrequests(\?|$)/.test(r.path),
  'worker.service-namespace.create': (r) =>
    r.method === 'POST' && /\/apiservicenamespaces(\?|$)/.test(r.path),
  'worker.heartbeat': (r) => r.method === 'PATCH' && r.path.includes('/clusterbindings/cluster/status'),
  'worker.object.finalizer.add': (r) =>
    r.method === 'PATCH' && isObject(r) && r.path.includes('/services/apiexport/'),
  'worker.copy.create': (r) =>
    r.method === 'PATCH' && isObject(r) && !r.path.includes('/services/apiexport/'),
  'worker.object.status': (r) => r.method === 'PUT' && /\/databases\/[^/]+\/status/.test(r.path),
  'worker.copy.delete': (r) => r.method === 'DELETE' && isObject(r),
  'worker.object.finalizer.remove': (r) =>
    r.method === 'PATCH' && isObject(r) && r.path.includes('/services/apiexport/'),
  'worker.service-namespace.delete': (r) =>
    r.method === 'DELETE' && r.path.includes('/apiservicenamespaces/'),
  'worker.export-request.delete': (r) =>
    r.method === 'DELETE' && r.path.includes('/apiserviceexportrequests/'),
};

/** Steps that this life does not take; where they are shown, or why they cannot be cut on the wire. */
const ELSEWHERE: Partial<Record<Step, string>> = {
  'connection.account.store': 'kubeconfig connections: suite input',
  'connection.account.update': 'kubeconfig connections: suite input',
  'binding.worker.assign': 'a message between threads; each worker step cuts it',
  'binding.worker.release': 'a message between threads; each worker step cuts it',
  'binding.export.update': 'schema changes: suite lifecycle',
  'binding.bind-role.apply': 'the mode without the apibindings claim: suite install',
  'binding.bind-role.remove': 'the mode without the apibindings claim: suite install',
  'binding.api-binding.update': 'claims that change: suite install',
  'binding.schema.remove-old': 'schema changes: suite lifecycle',
};

function patches(r: ProxiedRequest, resource: string): boolean {
  return (
    r.method === 'PATCH' &&
    new RegExp(`/${resource}/[^/?]+(\\?|$)`).test(r.path) &&
    r.body.includes('finalizers')
  );
}
function isStatus(r: ProxiedRequest, resource: string): boolean {
  return r.method !== 'GET' && new RegExp(`/${resource}/[^/]+/status(\\?|$)`).test(r.path);
}
function writesSecret(r: ProxiedRequest, prefix: string): boolean {
  return (
    (r.method === 'POST' || r.method === 'PUT') &&
    r.path.includes('/secrets') &&
    r.body.includes(`"${prefix}`)
  );
}
function has(r: ProxiedRequest, key: string): boolean {
  return r.body.includes(`"${key}"`);
}
function isObject(r: ProxiedRequest): boolean {
  return /\/databases\/[^/?]+(\?|$)/.test(r.path);
}

const DYING: readonly Step[] = [
  'connection.state.remove',
  'connection.finalizer.remove',
  'binding.finalizer.remove',
  'worker.copy.delete',
  'worker.object.finalizer.remove',
];

/**
 * One life of a binding, from the login to the end of the connection, in which the controller is killed before and
 * after each named step. The killing is done by a proxy in front of both servers: before means that the server
 * never sees the request, after means that the controller never sees the answer.
 */
describe('a controller that is killed around every step', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('crash')}`;
  const kills = new Map<string, Date>();
  let installation: ClientInstallation;
  let alice: Consumer;
  let provider: Workspace;
  let backend: Backend;
  let service: Child;
  let proxies: FaultProxy[] = [];
  let controller: Controller | undefined;
  let restarting = Promise.resolve();
  let dying = false;
  let stopped = false;
  let kubeconfig = '';
  let port = 0;

  const start = () =>
    startController({
      installation,
      dir,
      kubeconfig,
      port,
      dontWait: true,
      args: [
        '--leader-elect=false',
        `--vw-url-map=${bench.consumers.address}=${proxies[0]?.address ?? ''}`,
        '--heartbeat-interval=2s',
      ],
    });

  const killAndRestart = (): void => {
    const victim = controller;
    victim?.child.signal('SIGKILL');
    restarting = restarting.then(async () => {
      await victim?.child.ended;
      if (!stopped) controller = await start();
    });
  };

  /** Kills before the first, and after the second, occurrence of each step. */
  const rule = (request: ProxiedRequest) => {
    if (request.method === 'GET' || !isOurs(request)) return 'pass';
    for (const [step, matches] of Object.entries(ON_THE_WIRE)) {
      if (
        DYING.includes(step as Step) !== dying &&
        (DYING.includes(step as Step) || step.includes('finalizer'))
      )
        continue;
      if (!matches(request)) continue;
      for (const moment of ['before', 'after'] as const) {
        const key = `${step} ${moment}`;
        if (kills.has(key)) continue;
        kills.set(key, new Date());
        if (moment === 'after') return 'swallow';
        killAndRestart();
        return 'drop';
      }
    }
    return 'pass';
  };

  const isOurs = (request: ProxiedRequest): boolean =>
    controllerTokens.has(request.token) || isServiceAccount(request.token);
  const controllerTokens = new Set([CONTROLLER_TOKEN]);
  const isServiceAccount = (token: string) => token.split('.').length === 3;

  beforeAll(async () => {
    proxies = await Promise.all([startFaultProxy(bench.consumers), startFaultProxy(bench.providers)]);
    [installation, alice, provider] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
      createWorkspace(bench.providers, 'root', uniqueName('provider')),
    ]);
    const [consumersProxy, providersProxy] = proxies;
    if (!consumersProxy || !providersProxy) throw new Error('no proxy');
    service = await startProvider(provider, { crds: bench.crds, dir });
    backend = await startBackend({
      binary: bench.programs['backend'] ?? '',
      dir,
      kcp: behindProxy(bench.providers, providersProxy),
      provider,
    });
    kubeconfig = await writeKubeconfig(`${dir}/controller.yaml`, {
      server: `${consumersProxy.address}/clusters/${installation.workspace.path}`,
      ca: bench.consumers.ca,
      token: CONTROLLER_TOKEN,
    });
    [port = 0] = await freePorts(1);
    for (const proxy of proxies) {
      proxy.setRule(rule);
      proxy.onSwallowed(killAndRestart);
    }
    await bindClient(alice.kubeconfig, installation);
    controller = await start();
  });

  afterAll(async () => {
    stopped = true;
    await restarting;
    await controller?.stop();
    await backend.stop();
    await service.stop();
    await Promise.all(proxies.map((proxy) => proxy.close()));
  });

  it('still makes a login, binds the API and serves objects', async () => {
    await apply(
      alice.kubeconfig,
      JSON.stringify({
        apiVersion: 'kcp.kube-bind.io/v1alpha1',
        kind: 'KubeBindConnection',
        metadata: { name: 'provider' },
        spec: { backend: { url: backend.url } },
      }),
    );
    const login = await waitFor(
      async () => {
        const text = await kubectl(alice.kubeconfig, ['get', 'kubebindconnection', 'provider', '-o', 'json']);
        const { status } = JSON.parse(text) as {
          status?: { authentication?: { url?: string; userCode?: string } };
        };
        return status?.authentication;
      },
      { what: 'the login URL', timeout: 90_000 },
    );
    await waitFor(
      async () => {
        if (controller) await waitUntilReady(controller, 20_000);
        await finishLogin(login.url ?? '', login.userCode);
        return true;
      },
      { what: 'the login', timeout: 90_000 },
    );
    await apply(
      alice.kubeconfig,
      JSON.stringify({
        apiVersion: 'kcp.kube-bind.io/v1alpha1',
        kind: 'KubeBindBinding',
        metadata: { name: 'databases' },
        spec: { connection: 'provider', template: 'databases' },
      }),
    );
    await kubectl(
      alice.kubeconfig,
      ['wait', '--for=condition=Ready', '--timeout=420s', 'kubebindbinding/databases'],
      { timeout: 430_000 },
    );
    await waitFor(() => applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres' }).then(() => true), {
      what: 'the API to be served',
    });
    await waitFor(
      async () => {
        const text = await kubectl(alice.kubeconfig, ['get', 'database', 'main', '-o', 'json']);
        return (JSON.parse(text) as { status?: { phase?: string } }).status?.phase === 'Running';
      },
      { what: 'the status to come back', timeout: 120_000 },
    );
    const copies = await providerCopies();
    expect(copies).toHaveLength(1);
  }, 600_000);

  it('still unbinds, and leaves nothing behind', async () => {
    dying = true;
    await kubectl(alice.kubeconfig, ['delete', 'kubebindbinding', 'databases', '--timeout=420s'], {
      timeout: 430_000,
    });
    await kubectl(alice.kubeconfig, ['delete', 'kubebindconnection', 'provider', '--timeout=110s']);
    expect(await providerCopies()).toEqual([]);
    const left = await kubectl(installation.workspace.kubeconfig, [
      'get',
      'apiexports,apiresourceschemas,clusterroles,clusterrolebindings',
      '-o',
      'name',
    ]);
    expect(left).not.toContain('kbb-');
    const inNamespace = await kubectl(installation.workspace.kubeconfig, [
      'get',
      'secrets,serviceaccounts',
      '-n',
      'kube-bind',
      '-o',
      'name',
    ]);
    expect(inNamespace).not.toMatch(/kbb-|connection-/);
    const inWorkspace = await runKubectl(alice.kubeconfig, ['get', 'apibindings', '-o', 'name']);
    expect(inWorkspace.stdout).not.toContain('kbb-');
  }, 600_000);

  const steps = [
    ...Object.keys(STEPS),
    ...Object.keys(ON_THE_WIRE).filter((step) => step.startsWith('worker.')),
  ];
  const table = steps.flatMap((step) =>
    (['before', 'after'] as const).map((moment: Moment) => [step as Step, moment] as const),
  );
  it.each(table.filter(([step]) => ELSEWHERE[step] === undefined))('was killed: %s, %s', (step, moment) => {
    expect([...kills.keys()]).toContain(`${step} ${moment}`);
  });

  const providerCopies = async () => {
    const text = await kubectl(provider.kubeconfig, ['get', 'databases.example.org', '-A', '-o', 'json']);
    return (JSON.parse(text) as { items: unknown[] }).items;
  };
});
