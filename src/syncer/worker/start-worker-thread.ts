import { getHeapStatistics } from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import { createDialler, createOpenDialler, type Dialler } from '../../kube/dialler/dialler.js';
import type { ServerCredentials } from '../../kube/credentials.js';
import type { ReflectorEvent } from '../../kube/cache/reflector.js';
import { createSystemClock } from '../../kube/system-clock.js';
import { WritePermit } from '../../kube/write-permit.js';
import type { QueueFailure } from '../../kube/run-queue.js';
import { connect } from '../../kube/transport/connect.js';
import { fencedReloadable, type ReloadableClient } from '../../kube/transport/reloadable-client.js';
import { createLogger } from '../../telemetry/logger.js';
import { EXIT_UNHANDLED_REJECTION } from '../protocol/exit-codes.js';
import type { WorkerData } from '../protocol/worker-data.js';
import { openBindingSession } from './binding-session.js';
import { answerBudgets } from './answer-budgets.js';
import { createEventBudget } from './event-budget.js';
import { messagePortAsWorkerPort } from './message-port.js';
import { openBindingObjects } from './binding-objects.js';
import type { BindingObjectsOutput } from './binding-objects.js';
import type { SyncEvent } from './objects/object-teller.js';
import { createApiSync } from './objects/api-sync.js';
import { pacedConnector } from './provider-connector.js';
import type { RequestMade, SideName } from './objects/side.js';
import { ProviderLink } from './provider-link.js';
import { createRelatedSync } from './related/related-sync.js';
import type { SyncPlaces, SyncPolicy } from './resource-sync.js';
import { runWorker } from './run-worker.js';
import { createServerPace } from './server-pace.js';
import { createWorkerMetrics } from './worker-metrics.js';

/** Wires a worker's thread and serves until it is told to stop. */
export async function startWorkerThread(port: MessagePort, data: WorkerData): Promise<void> {
  const { options, version, worker, logLevel } = data;
  const clock = createSystemClock();
  const random = Math.random;
  const mayWrite = mayWriteOf(data);
  const log = createLogger({ level: logLevel, base: { component: 'syncer', worker: String(worker) } });
  process.on('unhandledRejection', (reason) => {
    log.error({ err: reason }, 'an error that nothing handles ends this worker');
    process.exit(EXIT_UNHANDLED_REJECTION);
  });
  const metrics = createWorkerMetrics();
  const budgets = answerBudgets(getHeapStatistics().heap_size_limit);
  const connector =
    (dialler: Dialler) =>
    (credentials: ServerCredentials): ReloadableClient =>
      fencedReloadable(
        connect(credentials, {
          dialler,
          userAgent: `kcp-kube-bind/${version}`,
          requestTimeoutMs: options.requestTimeoutMs,
          budgets,
          clock,
          random,
        }),
        mayWrite,
      );
  const connectProvider = pacedConnector(
    connector(createDialler(options.dialPolicy)),
    createServerPace(clock, options.providerQps),
  );
  // The consumer's side is our own kcp: the main thread took its address from a slice of ours.
  const connectConsumer = connector(createOpenDialler());
  const { allowProxy } = options.dialPolicy;

  await runWorker({
    port: messagePortAsWorkerPort(port),
    clock,
    externalBytes: () => process.memoryUsage().external,
    metrics: () => metrics.json(),
    openSession: (assignment, output) => {
      const mayTell = createEventBudget(clock);
      const sessionLog = log.child({ binding: assignment.bindingName, cluster: assignment.cluster });
      const effects = (
        places: SyncPlaces,
        {
          policy,
          signal,
          output: told,
        }: { policy: SyncPolicy; signal: AbortSignal; output: BindingObjectsOutput },
      ) => ({
        places,
        policy,
        limits: options,
        clock,
        random,
        signal,
        emitEvent: (said: SyncEvent) => {
          if (mayTell()) told.event({ key: assignment.key, ...said });
          else metrics.eventDropped();
        },
        onChange: () => told.changed(),
        onRequest: (request: RequestMade) => metrics.request(request),
        meter: {
          ...metrics.meter,
          watched: (side: SideName, event: ReflectorEvent) => {
            metrics.meter.watched(side, event);
            if (event.type !== 'error') return;
            const { phase, error, failures, retryInMs } = event;
            sessionLog.debug({ side, phase, err: error, failures, retryInMs }, 'a watch failed');
          },
        },
        onFailure: ({ key, error, failures, retryInMs }: QueueFailure<string>) => {
          metrics.objectFailed();
          sessionLog.debug({ key, err: error, failures, retryInMs }, 'an object could not be synced');
        },
      });
      return openBindingSession(
        {
          options,
          clock,
          random,
          log: sessionLog,
          version,
          onPassFailed: () => metrics.passFailed(),
          onWatched: (event) => metrics.meter.watched('provider', event),
          linkProvider: (provider) =>
            new ProviderLink({ connect: connectProvider, clock, allowProxy }, provider),
          openBindingObjects: (first, link, objectOutput) =>
            openBindingObjects(
              {
                options,
                clock,
                random,
                connectConsumer,
                onNamespacesWatched: (event) => metrics.meter.watched('provider', event),
                openResourceSync: (target, places, context) =>
                  createApiSync({ target, ...effects(places, context) }),
                openRelatedSync: (target, places, context) =>
                  createRelatedSync({
                    ...target,
                    knownCopies: context.knownCopies,
                    ...effects(places, context),
                  }),
              },
              first,
              link,
              objectOutput,
            ),
        },
        assignment,
        output,
      );
    },
  });
}

function mayWriteOf({ writePermit }: WorkerData): () => boolean {
  if (writePermit === undefined) return () => true;
  const permit = new WritePermit(() => process.hrtime.bigint(), writePermit);
  return () => permit.isValid();
}
