import { runQueue } from '../kube/run-queue.js';
import type { QueueFailure } from '../kube/run-queue.js';
import { WorkQueue } from '../kube/work-queue.js';
import { GVR } from '../api/gvr.js';
import { isStatus } from '../kube/errors.js';
import { AccountTokens } from './binding/account-tokens.js';
import { ConsumerAccessResolver } from './binding/consumer-access.js';
import { GeneratedParts } from './binding/generated-parts.js';
import { GeneratedWorkspaces } from './binding/generated-workspace.js';
import { createBindingReconciler } from './binding/reconcile.js';
import type { BindingTools } from './binding/reconcile.js';
import { Runtimes } from './binding/runtime.js';
import { SchemaPlanner } from './binding/schema-planner.js';
import { ProviderDocuments } from './connection/provider-documents.js';
import { createConnectionReconciler } from './connection/reconcile.js';
import { countConditions } from './condition-counts.js';
import type { ReconcilerDeps } from './deps.js';
import { createEventRecorder } from './events/event-recorder.js';
import { parseKey, queueKey } from './keys.js';
import type { QueueKey, ReconcilerKind } from './keys.js';
import { NotLeaderError } from '../kube/fenced-client.js';
import { Reports } from './reports.js';
import type { Reconciler, RunResult, Shared } from './shared.js';
import { StateCache } from './state-cache.js';
import { createStepRunner } from './steps.js';
import { Sweeper } from './sweeper.js';
import { wireEvents } from './wire-events.js';
import { WorkspaceIndex } from './workspace-index.js';

const BACKOFF = { baseMs: 300, maxMs: 2 * 60_000 };

export interface Controllers {
  /** Ends all work and resolves when nothing runs any more; idempotent. */
  close(): Promise<void>;
  /** Shards on which workers use the controller's own credentials, for `/readyz`. */
  readonly shardsWithOwnCredentials: readonly string[];
}

/** Ties stores, queues and reconcilers together and starts to work. */
export function startControllers(deps: ReconcilerDeps): Controllers {
  const abort = new AbortController();
  const { signal } = abort;
  const { clientWorkspace, workspaces, clock, metrics } = deps;
  const home = { path: clientWorkspace.path, cluster: clientWorkspace.cluster };
  const index = new WorkspaceIndex(workspaces, home, clientWorkspace.exportName);
  const states = new StateCache(deps.states);
  const events = createEventRecorder({
    workspace: (cluster) => workspaces.workspace(cluster),
    isAllowed: (cluster) => index.claims(cluster).allows(GVR.events, 'create', 'patch'),
    clock,
    metrics,
    instance: clientWorkspace.path,
  });
  const shared: Shared = {
    index,
    states,
    reports: new Reports(deps.pool),
    runStep: createStepRunner(deps.stepHook),
    events,
    runtimes: new Runtimes(),
  };
  metrics.inventory('connection', () => countConditions('connection', index.connections.all()));
  metrics.inventory('binding', () => countConditions('binding', index.bindings.all()));
  const queues = { connections: newQueue(deps), bindings: newQueue(deps) };
  const documents = new ProviderDocuments({
    api: deps.backend,
    clock,
    changed: (key) => queues.connections.add(key),
    signal,
  });
  const tools = bindingTools(deps, shared);
  const connections = createConnectionReconciler(deps, shared, documents);
  const bindings = createBindingReconciler(deps, shared, tools);
  const unwire = wireEvents(deps, shared, {
    behind: (key) => bindings.behind(key),
    connection: (key) => queues.connections.add(key),
    binding: (key) => queues.bindings.add(key),
  });
  const sweeper = new Sweeper(deps, shared, {
    adopt: (ref) => {
      shared.runtimes.of(ref, clock.now());
      queues.bindings.add(queueKey(ref.cluster, ref.name));
    },
  });
  const running = (async () => {
    try {
      await clientWorkspace.generatedExports.whenSynced(signal);
      await clientWorkspace.endpointSlices.whenSynced(signal);
    } catch {
      return;
    }
    await Promise.all([
      work(deps, queues.connections, { kind: 'connection', reconciler: connections, signal }),
      work(deps, queues.bindings, { kind: 'binding', reconciler: bindings, signal }),
      sweeper.run(signal),
    ]);
  })();
  let closing: Promise<void> | undefined;
  return {
    get shardsWithOwnCredentials() {
      return tools.access.shardsWithOwnCredentials;
    },
    close: () => {
      closing ??= (async () => {
        unwire();
        for (const kind of ['connection', 'binding'] as const) metrics.inventory(kind, () => []);
        abort.abort(new Error('the controllers are closing'));
        queues.connections.shutDown();
        queues.bindings.shutDown();
        await running;
        await events.close();
        states.close();
        await tools.generatedWorkspaces.close();
      })();
      return closing;
    },
  };
}

function bindingTools(deps: ReconcilerDeps, shared: Shared): BindingTools {
  const { client, credentials: home, namespace, cluster, endpointSlices } = deps.clientWorkspace;
  const tokens = new AccountTokens(client, namespace, deps.clock);
  const access = new ConsumerAccessResolver({
    tokens,
    ownCredentials: deps.ownCredentials,
    home,
    connect: deps.connect,
    clock: deps.clock,
    requestToken: (ref, account) =>
      shared.runStep('binding.token.request', queueKey(ref.cluster, ref.name), () => tokens.request(account)),
  });
  return {
    parts: new GeneratedParts(client, namespace),
    planner: new SchemaPlanner(),
    access,
    generatedWorkspaces: new GeneratedWorkspaces(endpointSlices, cluster, deps.connectUrl),
    tokens,
  };
}

/** Workspaces take turns, and none of them may have all workers at a time. */
function newQueue(deps: ReconcilerDeps): WorkQueue<QueueKey> {
  return new WorkQueue<QueueKey>({
    clock: deps.clock,
    random: deps.random,
    backoff: BACKOFF,
    groupOf: (key) => parseKey(key)?.cluster ?? '',
    maxProcessingPerGroup: Math.max(1, Math.floor(deps.concurrency / 2)),
  });
}

function work(
  deps: ReconcilerDeps,
  queue: WorkQueue<QueueKey>,
  what: { readonly kind: ReconcilerKind; readonly reconciler: Reconciler; readonly signal: AbortSignal },
): Promise<void> {
  const { kind, reconciler, signal } = what;
  const { clock, metrics } = deps;
  const handle = async (key: QueueKey): Promise<RunResult> => {
    metrics.queue(kind, queue.length);
    const startedAt = clock.now();
    try {
      const result = await reconciler.reconcile(key);
      metrics.reconciled(kind, 'ok', clock.now() - startedAt);
      return result;
    } catch (error) {
      metrics.reconciled(kind, isStatus(error, 409) ? 'conflict' : 'error', clock.now() - startedAt);
      throw error;
    }
  };
  return runQueue(queue, {
    concurrency: deps.concurrency,
    // The queue takes nothing as "well, and not before something happens".
    handle: handle,
    signal,
    onError: (failure) => logFailure(deps, kind, failure),
  });
}

/** A conflict means that a cache was behind; without the lease nothing may work. Both are no news. */
function logFailure(deps: ReconcilerDeps, kind: ReconcilerKind, failure: QueueFailure<QueueKey>): void {
  const { key, error, failures, retryInMs } = failure;
  const expected = isStatus(error, 409) || error instanceof NotLeaderError;
  const level = expected ? 'debug' : failures > 3 ? 'warn' : 'info';
  deps.log[level]({ component: 'reconcilers', kind, key, failures, retryInMs, err: error }, 'a run failed');
}
