import { backoffMs } from '../../../kube/backoff.js';
import { parseKey } from '../../../kube/cache/object-key.js';
import type { ObjectKeyText } from '../../../kube/cache/object-key.js';
import type { Clock } from '../../../kube/clock.js';
import type { KubeObject, ObjectName } from '../../../kube/object.js';
import type { SyncContext } from '../../engine/sync-context.js';
import type { SyncerOptions } from '../../protocol/assignment.js';
import { AbsencePass } from './absence-pass.js';
import type { SyncPlaces, SyncTarget } from '../resource-sync.js';
import type { AnswersAhead } from './answers-ahead.js';
import { ConsumerCalls } from './consumer-calls.js';
import type { CopyStore } from './copy-store.js';
import { CopyWriter } from './copy-writer.js';
import { NamespaceRequests } from './namespace-requests.js';
import { ObjectFailure } from './object-failure.js';
import type { Trouble } from './object-failure.js';
import { ObjectPass } from './object-pass.js';
import type { PassOutcome } from './pass-outcome.js';
import type { ObjectRecord } from './object-records.js';
import type { ObjectTeller } from './object-teller.js';
import { ProviderCalls } from './provider-calls.js';
import { GateClosedError } from './side-gate.js';
import type { Side, SideName } from './side.js';

export interface ObjectWorkOptions {
  readonly target: SyncTarget;
  readonly places: SyncPlaces;
  readonly limits: Pick<
    SyncerOptions,
    'absenceGraceMs' | 'requestTimeoutMs' | 'backoffBaseMs' | 'backoffMaxMs'
  >;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly sides: Readonly<Record<SideName, Side>>;
  readonly ahead: Readonly<Record<SideName, AnswersAhead>>;
  readonly copies: CopyStore;
  readonly context: () => SyncContext;
  readonly force: () => boolean;
  readonly onLeft: (copy: ObjectName) => void;
  readonly consumerSynced: () => boolean;
  readonly cachedConsumer: (name: ObjectName) => KubeObject | undefined;
  readonly teller: ObjectTeller;
}

/** `nothing`: neither side has anything under this key. */
export interface WorkResult {
  readonly kind: 'settled' | 'waiting' | 'nothing';
  readonly retryInMs?: number | undefined;
}

/** Several objects that wait for the same server do not come back in the same moment, milliseconds. */
const GATE_JITTER_MS = 500;

/** Works on one key: the object where it is there, else its copy; and keeps the key's record. */
export class ObjectWork {
  readonly #options: ObjectWorkOptions;
  readonly #pass: ObjectPass;
  readonly #absence: AbsencePass;
  readonly #namespaces: NamespaceRequests;

  constructor(options: ObjectWorkOptions) {
    const { clock, signal, sides, ahead, copies, context, target, places, limits } = options;
    this.#options = options;
    const { gvr } = target;
    const request = { signal, timeoutMs: limits.requestTimeoutMs };
    const backoff = { baseMs: limits.backoffBaseMs, maxMs: limits.backoffMaxMs };
    const consumer = new ConsumerCalls({
      client: places.consumer,
      gvr,
      cluster: places.cluster,
      side: sides.consumer,
      request,
    });
    const provider = new ProviderCalls(places.provider, gvr, sides.provider, request);
    this.#namespaces = new NamespaceRequests(clock, (name) => places.ensureNamespace(name, signal));
    this.#pass = new ObjectPass({
      clock,
      servers: {
        consumer: {
          side: sides.consumer,
          calls: consumer,
          ahead: ahead.consumer,
          cached: options.cachedConsumer,
        },
        provider: {
          side: sides.provider,
          calls: provider,
          ahead: ahead.provider,
          cached: (name) => copies.get(name),
        },
      },
      writer: new CopyWriter(provider, sides.provider),
      context,
      force: options.force,
      onLeft: options.onLeft,
      hasStatus: target.hasStatus,
      backoffMs: (refusals) => backoffMs(refusals, backoff, options.random),
      namespacesKnown: () => target.scope === 'Cluster' || places.namespaces.synced,
      ensureNamespace: (name) => this.#namespaces.ask(name),
      teller: options.teller,
    });
    this.#absence = new AbsencePass({
      clock,
      graceMs: limits.absenceGraceMs,
      context,
      consumerSynced: options.consumerSynced,
      consumer,
      provider: { calls: provider, ahead: ahead.provider, cached: (name) => copies.get(name) },
    });
  }

  /** Rejects where the key has to come back after its own back-off. */
  async run(key: ObjectKeyText, record: ObjectRecord): Promise<WorkResult> {
    const { clock, random } = this.#options;
    try {
      const heldMs = record.heldUntil - clock.now();
      const outcome = await this.#pass.run(key, record, heldMs);
      if (outcome.kind === 'absent') return await this.#lookAfterCopy(key, record);
      if (heldMs <= 0) this.#keep(key, record, outcome);
      return { kind: outcome.kind, retryInMs: outcome.kind === 'waiting' ? outcome.retryInMs : undefined };
    } catch (error) {
      record.pending = true;
      if (error instanceof GateClosedError)
        return { kind: 'waiting', retryInMs: error.retryInMs + random() * GATE_JITTER_MS };
      if (error instanceof ObjectFailure) this.#fails(key, record, error.trouble);
      throw error;
    }
  }

  /** The provider has named, changed or taken away the namespace for a consumer's namespace. */
  namespaceChanged(consumerNamespace: string): void {
    this.#namespaces.forget(consumerNamespace);
  }

  async #lookAfterCopy(key: ObjectKeyText, record: ObjectRecord): Promise<WorkResult> {
    record.failing = undefined;
    record.notice = undefined;
    const outcome = await this.#absence.run(key, record);
    record.pending = outcome.kind === 'waiting';
    if (outcome.kind === 'waiting') return { kind: 'waiting', retryInMs: outcome.retryInMs };
    return { kind: 'nothing' };
  }

  #keep(key: ObjectKeyText, record: ObjectRecord, outcome: PassOutcome): void {
    record.pending = outcome.kind !== 'settled';
    const trouble = outcome.kind === 'waiting' ? outcome.trouble : undefined;
    if (trouble !== undefined) this.#fails(key, record, trouble);
    else {
      // A trouble that comes back later is worth another event.
      if (record.failing !== undefined) record.told = undefined;
      record.failing = undefined;
    }
  }

  #fails(key: ObjectKeyText, record: ObjectRecord, trouble: Trouble): void {
    record.failing = trouble;
    const { name, namespace } = parseKey(key);
    const object = this.#options.cachedConsumer(namespace === undefined ? { name } : { namespace, name });
    if (object !== undefined) this.#options.teller.tell(record, object, 'Warning', trouble);
  }
}
