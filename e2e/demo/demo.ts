import { rm } from 'node:fs/promises';
import { relative } from 'node:path';

import { installClient, startController, type Controller } from '../harness/client-installation.js';
import { kubectl } from '../harness/kubectl.js';
import { runPlugin } from '../harness/plugin.js';
import { emptyBenchFolder, startBench, type RunningBench } from '../harness/start-bench.js';
import { waitFor } from '../harness/wait-for.js';
import { createWorkspace, grantAdmin, type Workspace } from '../harness/workspaces.js';
import type { Narrator } from './narrator.js';

export interface DemoOptions {
  readonly dir: string;
  readonly narrator: Narrator;
  /** Leave everything running, and say how to use and how to stop it. */
  readonly keep: boolean;
}

/** A consumer of the demo: a workspace, its owner's kubeconfig, and the object that he makes. */
interface Consumer {
  readonly user: 'alice' | 'bob';
  readonly workspace: Workspace;
  readonly kubeconfig: string;
  readonly engine: string;
  readonly sizeGiB: number;
}

interface Running {
  bench?: RunningBench;
  controller?: Controller;
}

/** Runs the four steps; the result is the exit code. A failure names the step and keeps the logs. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const { narrator, dir } = options;
  const running: Running = {};
  try {
    await steps(options, running);
    if (options.keep) {
      explain(narrator, dir, running);
    } else {
      await stop(running);
      await rm(dir, { recursive: true, force: true });
    }
    narrator.say('\ndemo: OK');
    return 0;
  } catch (error) {
    narrator.say(`\ndemo: FAILED in step ${narrator.step}`);
    narrator.say(error instanceof Error ? error.message : String(error));
    narrator.say(`The logs are in ${relative(process.cwd(), dir)}.`);
    await stop(running);
    return 1;
  }
}

async function steps({ dir, narrator, keep }: DemoOptions, running: Running): Promise<void> {
  narrator.heading('A provider and an empty kcp');
  await emptyBenchFolder(dir);
  const bench = await startBench(dir, (text) => narrator.say(text), keep);
  running.bench = bench;

  narrator.heading('The platform admin installs the client');
  const installation = await installClient(bench.consumers, 'kube-bind', 'service-account');
  await narrator.kubectl(installation.workspace.kubeconfig, ['apply', '-k', 'apiexport']);
  running.controller = await startController({ installation, dir: `${dir}/controller`, detached: keep });
  narrator.say(`The controller runs: ${running.controller.url}`);

  narrator.heading('Two users bind the API in their workspaces');
  const consumers = [
    await makeConsumer(bench, 'alice', { engine: 'postgres', sizeGiB: 20 }),
    await makeConsumer(bench, 'bob', { engine: 'mysql', sizeGiB: 5 }),
  ];
  for (const consumer of consumers) await bind(narrator, consumer, bench.bench.backendUrl);

  narrator.heading('They use it, and the provider serves them');
  for (const consumer of consumers) await createDatabase(narrator, consumer);
  await narrator.kubectl(bench.bench.provider.kubeconfig, [
    'get',
    'databases.example.org',
    '-A',
    '-o',
    'wide',
  ]);
  await tellTenantsApart(narrator, consumers, bench);
}

async function makeConsumer(
  bench: RunningBench,
  user: Consumer['user'],
  database: Pick<Consumer, 'engine' | 'sizeGiB'>,
): Promise<Consumer> {
  const workspace = await createWorkspace(bench.consumers, 'root', user);
  const kubeconfig = await grantAdmin(bench.consumers, workspace, user);
  return { user, workspace, kubeconfig, ...database };
}

async function bind(narrator: Narrator, consumer: Consumer, backendUrl: string): Promise<void> {
  const args = [backendUrl, '--template', 'databases', '--accept-claims', 'all', '--no-browser'];
  narrator.command(consumer.kubeconfig, ['kubectl', 'kcp', 'bind', ...args]);
  narrator.say('  (the demo opens the login page and clicks, in your place)');
  const run = await runPlugin(consumer.kubeconfig, args, {
    onOutput: (chunk) => narrator.output(chunk.replace(/(verifier=)[^\s&]+/g, '$1…')),
  });
  if (run.code !== 0) throw new Error(`kubectl kcp bind ended with exit code ${run.code}`);
}

/** The same namespace and name in both workspaces; only the content differs. */
async function createDatabase(narrator: Narrator, consumer: Consumer): Promise<void> {
  const manifest = [
    'apiVersion: example.org/v1',
    'kind: Database',
    'metadata: {name: main, namespace: default}',
    `spec: {engine: ${consumer.engine}, sizeGiB: ${consumer.sizeGiB}}`,
    '',
  ].join('\n');
  await narrator.kubectl(consumer.kubeconfig, ['apply', '-f', '-'], manifest);
  await narrator.kubectl(consumer.kubeconfig, [
    'wait',
    '--for=jsonpath={.status.phase}=Running',
    '--timeout=60s',
    'database/main',
    '-n',
    'default',
  ]);
  await narrator.kubectl(consumer.kubeconfig, ['get', 'databases', '-n', 'default']);
  // What the provider made for the database comes back too: its template claims it, and the user agreed.
  await narrator.kubectl(consumer.kubeconfig, [
    'wait',
    '--for=create',
    '--timeout=60s',
    'secret/main-credentials',
    '-n',
    'default',
  ]);
  await narrator.kubectl(consumer.kubeconfig, ['get', 'secret', 'main-credentials', '-n', 'default']);
}

interface Database {
  metadata: { namespace: string; annotations?: Record<string, string> };
  spec: { engine: string; sizeGiB: number };
  status?: { endpoint?: string };
}

/** Reads both sides with kubectl, checks that nobody sees the other's object, and shows it as a table. */
async function tellTenantsApart(
  narrator: Narrator,
  consumers: readonly Consumer[],
  bench: RunningBench,
): Promise<void> {
  const all = await kubectl(bench.bench.provider.kubeconfig, [
    'get',
    'databases.example.org',
    '-A',
    '-o',
    'json',
  ]);
  const copies = (JSON.parse(all) as { items: Database[] }).items;
  const rows = await Promise.all(
    consumers.map(async (consumer) => {
      const copy = copies.find((each) => each.spec.engine === consumer.engine);
      const seen = await waitFor(async () => endpointOf(consumer), { what: 'the status', timeout: 30_000 });
      if (copy?.spec.sizeGiB !== consumer.sizeGiB || copy.status?.endpoint !== seen) {
        throw new Error(`${consumer.user}'s database is not what its copy on the provider says`);
      }
      return [consumer.workspace.path, consumer.engine, copy.metadata.namespace, seen];
    }),
  );
  if (copies.length !== consumers.length) {
    throw new Error(`${copies.length} copies on the provider, ${consumers.length} objects of consumers`);
  }
  narrator.say('\nWho has what:');
  narrator.output(table(['WORKSPACE', 'ENGINE', "PROVIDER'S NAMESPACE", 'ENDPOINT THAT CAME BACK'], rows));
}

async function endpointOf(consumer: Consumer): Promise<string | undefined> {
  const text = await kubectl(consumer.kubeconfig, ['get', 'database', 'main', '-n', 'default', '-o', 'json']);
  return (JSON.parse(text) as Database).status?.endpoint;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}

function explain(narrator: Narrator, dir: string, running: Running): void {
  const { bench, controller } = running;
  if (!bench || !controller) return;
  const pids = [
    controller.child,
    bench.service,
    bench.backend.child,
    bench.consumers.child,
    bench.providers.child,
  ];
  narrator.say('\nEverything is left running. Kubeconfigs:');
  const folder = relative(process.cwd(), dir);
  narrator.output(
    [
      `${folder}/consumers/kubeconfigs/alice-alice.yaml   Alice's workspace`,
      `${folder}/consumers/kubeconfigs/bob-bob.yaml       Bob's workspace`,
      `${folder}/consumers/kubeconfigs/kube-bind.yaml     client workspace (platform admin)`,
      `${folder}/providers/kubeconfigs/provider.yaml      provider`,
    ].join('\n'),
  );
  narrator.say('To look around:');
  narrator.output(
    `KUBECONFIG=${folder}/consumers/kubeconfigs/alice-alice.yaml kubectl get databases,kubebindbindings`,
  );
  narrator.say('To stop it:');
  narrator.output(`kill ${pids.map((child) => child.pid).join(' ')} && rm -r ${folder}`);
}

async function stop(running: Running): Promise<void> {
  await running.controller?.stop();
  await running.bench?.stop();
}
