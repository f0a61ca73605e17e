import { requestServiceNamespace } from '../../backend/provider/service-namespace.js';
import type { ReflectorEvent } from '../../kube/cache/reflector.js';
import type { Clock } from '../../kube/clock.js';
import type { ServerCredentials } from '../../kube/credentials.js';
import type { BindingAssignment, SyncerOptions } from '../protocol/assignment.js';
import { ConsumerError } from './consumer-problem.js';
import { sameAccess } from './credential-rotation.js';
import type { Prepared } from './preparation.js';
import type { ProviderLink, RenewableClient } from './provider-link.js';
import type { RelatedResourceSync } from './related/related-sync.js';
import { RelatedSyncs, relatedTargets } from './related/related-syncs.js';
import type { RelatedTarget } from './related/related-syncs.js';
import type { ResourceSync, SyncPlaces, SyncPolicy, SyncStats, SyncTarget } from './resource-sync.js';
import { RunningSyncs } from './running-syncs.js';
import type { SessionOutput } from './run-worker.js';
import { servedResources } from './served-resources.js';
import { followNamespaces } from './service-namespaces.js';
import { syncTargets } from './sync-targets.js';

/** The sync of all objects of one binding. */
export interface BindingObjects {
  /**
   * Brings what runs in line with the assignment; idempotent. `abandoned`: the provider does not answer and
   * the user wants to be let go. Rejects with ConsumerError where the workspace does not answer.
   */
  reconcile(
    assignment: BindingAssignment,
    prepared: Prepared | undefined,
    options: { readonly abandoned: boolean; readonly signal: AbortSignal },
  ): Promise<void>;
  stats(): readonly SyncStats[];
  /** Everything is let go. */
  readonly drained: boolean;
  /** Stops at once, leaves everything as it is. */
  close(): Promise<void>;
}

/** `changed`: figures may have moved. */
export type BindingObjectsOutput = SessionOutput & { readonly changed: () => void };

export interface BindingObjectsSettings {
  readonly options: SyncerOptions;
  readonly clock: Clock;
  readonly random: () => number;
  /** The watch of the provider's namespaces; for metrics. */
  readonly onNamespacesWatched?: (event: ReflectorEvent) => void;
  readonly connectConsumer: (credentials: ServerCredentials) => RenewableClient;
  readonly openResourceSync: (
    target: SyncTarget,
    places: SyncPlaces,
    context: {
      readonly policy: SyncPolicy;
      readonly signal: AbortSignal;
      readonly output: BindingObjectsOutput;
    },
  ) => ResourceSync;
  readonly openRelatedSync: (
    target: RelatedTarget,
    places: SyncPlaces,
    context: {
      readonly policy: SyncPolicy;
      readonly signal: AbortSignal;
      readonly output: BindingObjectsOutput;
      readonly knownCopies: readonly string[];
    },
  ) => RelatedResourceSync;
}

/** Opens what a binding's objects need. `assignment.consumer` must be there. */
export function openBindingObjects(
  settings: BindingObjectsSettings,
  assignment: BindingAssignment & { readonly consumer: NonNullable<BindingAssignment['consumer']> },
  link: ProviderLink,
  output: BindingObjectsOutput,
): BindingObjects {
  const { options, clock, random } = settings;
  const closed = new AbortController();
  const { contract } = link;
  let credentials = assignment.consumer.credentials;
  const consumer = settings.connectConsumer(credentials);
  const namespaces = followNamespaces({
    contract,
    cluster: assignment.cluster,
    clock,
    random,
    silenceMs: options.watchSilenceMs,
    signal: closed.signal,
    ...(settings.onNamespacesWatched && { onEvent: settings.onNamespacesWatched }),
  });
  const places: SyncPlaces = {
    key: assignment.key,
    cluster: assignment.cluster,
    bindingName: assignment.bindingName,
    bindingUid: assignment.bindingUid,
    consumer,
    provider: contract.client,
    contractNamespace: contract.namespace,
    namespaces,
    ensureNamespace: async (consumerNamespace, signal) => {
      await requestServiceNamespace(contract, consumerNamespace, {
        signal,
        timeoutMs: options.requestTimeoutMs,
      });
    },
  };
  const { signal: closing } = closed;
  const told: BindingObjectsOutput = {
    ...output,
    changed: () => {
      drainRelated();
      output.changed();
    },
  };
  const syncs = new RunningSyncs((target, policy) =>
    settings.openResourceSync(target, places, { policy, signal: closing, output: told }),
  );
  const related = new RelatedSyncs((target, policy, knownCopies) =>
    settings.openRelatedSync(target, places, { policy, signal: closing, output: told, knownCopies }),
  );
  let draining = false;
  let targetsKnown = false;

  return {
    async reconcile(next, prepared, { abandoned, signal }) {
      if (next.consumer !== undefined && !sameAccess(next.consumer.credentials, credentials)) {
        consumer.setCredentials(next.consumer.credentials);
        ({ credentials } = next.consumer);
      }
      const targets = await targetsOf(next, prepared, signal);
      // What has begun to let go cannot be told to hold on: it is opened anew.
      if (draining && next.stage !== 'drain') await Promise.all([syncs.close(), related.close()]);
      draining = next.stage === 'drain';
      const { conflictPolicy, deletionPolicy, paused } = next;
      const policy = { conflictPolicy, deletionPolicy, paused, force: abandoned };
      await syncs.reconcile(targets, policy);
      if (prepared?.export !== undefined || draining)
        await related.reconcile(relatedTargets(prepared?.export, next.claims), policy, syncs.originals());
      targetsKnown = true;
      if (draining) syncs.drain();
      drainRelated();
    },
    stats,
    get drained() {
      return draining && targetsKnown && stats().every((each) => each.drained);
    },
    async close() {
      closed.abort();
      await Promise.all([syncs.close(), related.close()]);
      await namespaces.stopped;
      await consumer.close();
    },
  };

  function stats(): readonly SyncStats[] {
    return [...syncs.stats(), ...related.stats()];
  }

  /** Related objects go last: whoever takes an object apart on the provider may need its Secret for that. */
  function drainRelated(): void {
    if (draining && targetsKnown && syncs.stats().every((each) => each.drained)) related.drain();
  }

  /** What the provider has told, or, to drain without it, what the workspace is served. */
  async function targetsOf(
    next: BindingAssignment,
    prepared: Prepared | undefined,
    signal: AbortSignal,
  ): Promise<readonly SyncTarget[]> {
    if (prepared?.export !== undefined && prepared.schemas !== undefined && next.consumer !== undefined) {
      return syncTargets(prepared.export, prepared.schemas, next.consumer);
    }
    if (next.stage !== 'drain') return [];
    try {
      const served = await servedResources(consumer, next.request.create?.resources, signal);
      if (served.length === 0) throw new Error('no API of this binding is served there');
      return served;
    } catch (error) {
      if (signal.aborted) throw error;
      throw new ConsumerError('what the workspace is served is not known', { cause: error });
    }
  }
}
