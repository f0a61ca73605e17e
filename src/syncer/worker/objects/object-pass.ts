import type { ObjectKeyText } from '../../../kube/cache/object-key.js';
import type { Clock } from '../../../kube/clock.js';
import type { KubeObject, ObjectName } from '../../../kube/object.js';
import { decideUp, placeOfCopy } from '../../engine/decide-up.js';
import type { UpDecision } from '../../engine/decide-up.js';
import { corrected } from '../../engine/contest.js';
import type { GuardedPatch } from '../../engine/consumer-patch.js';
import { hasSyncerFinalizer, removeFinalizer } from '../../engine/consumer-patch.js';
import { describeFields } from '../../engine/judge-answer.js';
import type { SyncContext } from '../../engine/sync-context.js';
import { describeName } from '../../engine/sync-context.js';
import { contestedTrouble } from './copy-writer.js';
import type { CopyWriter } from './copy-writer.js';
import { awaitNamespace } from './await-namespace.js';
import { ObjectFailure } from './object-failure.js';
import type { ObjectRecord } from './object-records.js';
import type { ObjectTeller } from './object-teller.js';
import { consumerFailure, providerFailure } from './object-trouble.js';
import { ObjectView } from './object-view.js';
import type { Servers } from './object-view.js';
import type { PassOutcome } from './pass-outcome.js';
import { GateClosedError } from './side-gate.js';
import { passStatusDown } from './status-pass.js';
import type { StatusPause } from './status-pass.js';

export interface ObjectPassOptions {
  readonly clock: Clock;
  readonly servers: Servers;
  readonly writer: CopyWriter;
  readonly context: () => SyncContext;
  /** While draining: let go although the provider does not answer. */
  readonly force: () => boolean;
  /** Told of each copy that was left where it is for that. */
  readonly onLeft: (copy: ObjectName) => void;
  readonly hasStatus: boolean;
  /** Delay after so many refusals in a row, jittered. */
  readonly backoffMs: (refusals: number) => number;
  /** What the provider's namespaces do not say yet, they may say after their first list. */
  readonly namespacesKnown: () => boolean;
  /** Asks for it; milliseconds for which it has been waited for. */
  readonly ensureNamespace: (consumerNamespace: string) => Promise<number>;
  readonly teller: ObjectTeller;
}

/** A step may lead to another one; more of them than this in one pass would be a loop. */
const MAX_STEPS = 16;
/** What events should wake is looked at this often anyway; a look costs no request. */
const SAFETY_MS = 60_000;

const SETTLED: PassOutcome = { kind: 'settled' };
const WAITING: PassOutcome = { kind: 'waiting', retryInMs: SAFETY_MS };

/** A step that is made by a request to the provider. */
type ProviderStep = Extract<
  UpDecision,
  { kind: 'readCopy' | 'createCopy' | 'updateCopy' | 'deleteCopy' | 'orphanCopy' }
>;
const PROVIDER_STEPS: ReadonlySet<UpDecision['kind']> = new Set<ProviderStep['kind']>([
  'readCopy',
  'createCopy',
  'updateCopy',
  'deleteCopy',
  'orphanCopy',
]);

function isProviderStep(decision: UpDecision): decision is ProviderStep {
  return PROVIDER_STEPS.has(decision.kind);
}

type WriteStep = Extract<UpDecision, { kind: 'createCopy' | 'updateCopy' }>;

/** What a pass is about. */
interface Subject {
  readonly view: ObjectView;
  readonly record: ObjectRecord;
}

/** Brings one consumer object and its copy into line, step by step, from what is known about both. */
export class ObjectPass {
  readonly #options: ObjectPassOptions;

  constructor(options: ObjectPassOptions) {
    this.#options = options;
  }

  /**
   * Rejects with ObjectFailure, GateClosedError, or what the clients reject with.
   *
   * @param heldMs the copy was refused a short while ago: for so long only the status is looked after
   */
  async run(key: ObjectKeyText, record: ObjectRecord, heldMs: number): Promise<PassOutcome> {
    const { servers, context, hasStatus } = this.#options;
    const subject: Subject = { view: new ObjectView(servers, key), record };
    const { view } = subject;
    let outcome: PassOutcome | undefined;
    let failure: unknown;
    try {
      outcome =
        heldMs > 0 && view.consumer !== undefined
          ? { kind: 'waiting', retryInMs: heldMs }
          : await this.#up(subject);
    } catch (error) {
      failure = error;
    }
    const { consumerLive } = view;
    const { clock, backoffMs } = this.#options;
    const options = { servers, context: context(), hasStatus, now: clock.now(), backoffMs };
    let status: StatusPause | undefined;
    try {
      // The status comes down whatever holds up the other direction.
      if (outcome?.kind !== 'absent') status = await passStatusDown(view, record, options);
    } catch (error) {
      if (outcome !== undefined) throw error;
    }
    if (outcome === undefined) throw failure;
    // On the way down the object turned out to be another one than the copy was compared with.
    if (view.consumerLive && !consumerLive) return { kind: 'waiting', retryInMs: 0 };
    return status === undefined ? outcome : pausedFor(outcome, status);
  }

  async #up(subject: Subject): Promise<PassOutcome> {
    const { view, record } = subject;
    for (let step = 0; step < MAX_STEPS; step++) {
      const { consumer } = view;
      if (consumer === undefined) return { kind: 'absent' };
      record.missingSince = undefined;
      const context = this.#options.context();
      const place = placeOfCopy(view.name, context);
      if (!place.guessed) this.#notePlace(place.target, consumer, record);
      if (place.guessed && !this.#options.namespacesKnown() && !this.#options.force()) return WAITING;
      const decision = decideUp({
        consumer,
        consumerLive: view.consumerLive,
        copy: view.copy(place.target),
        context,
        memory: record.memory,
        now: this.#options.clock.now(),
      });
      const outcome = await this.#act(decision, consumer, subject);
      if (outcome !== undefined) return outcome;
    }
    return WAITING;
  }

  /** Makes one step; the outcome when nothing more can be done now. */
  async #act(decision: UpDecision, consumer: KubeObject, subject: Subject): Promise<PassOutcome | undefined> {
    if (isProviderStep(decision)) return this.#onProvider(decision, consumer, subject);
    switch (decision.kind) {
      case 'none':
      case 'paused':
        return SETTLED;
      case 'waitNamespace':
        return awaitNamespace(
          decision.namespace,
          this.#options.context().rule,
          this.#options.ensureNamespace,
        );
      case 'waitGone':
        return this.#options.force() ? this.#letGo(consumer, subject) : WAITING;
      case 'conflict':
        throw new ObjectFailure({ reason: 'Conflict', message: decision.message });
      case 'contested': {
        const trouble = contestedTrouble(describeFields(decision.deviations));
        return { kind: 'waiting', retryInMs: decision.retryInMs, trouble };
      }
      case 'readConsumer':
        await subject.view.readConsumer();
        return undefined;
      case 'removeFinalizer':
        // Before the finalizer goes: afterwards there may be no object to tell it of.
        if (decision.left !== undefined)
          this.#options.teller.tell(subject.record, consumer, 'Warning', unproven(decision.left));
        await this.#patchConsumer(decision.patch, subject);
        return undefined;
      case 'addFinalizer':
        await this.#patchConsumer(decision.patch, subject);
        return undefined;
    }
  }

  async #onProvider(
    step: ProviderStep,
    consumer: KubeObject,
    subject: Subject,
  ): Promise<PassOutcome | undefined> {
    const { target } = step;
    try {
      switch (step.kind) {
        case 'readCopy':
          await subject.view.readCopy(target);
          break;
        case 'createCopy':
        case 'updateCopy':
          await this.#writeCopy(step, consumer, subject);
          break;
        case 'deleteCopy':
          await this.#deleteCopy(target, step.uid, subject);
          break;
        case 'orphanCopy':
          await subject.view.writeCopy(target, () =>
            this.#options.servers.provider.calls.patch(target, step.patch),
          );
          this.#options.teller.tell(subject.record, consumer, 'Normal', orphaned(target));
          break;
      }
      return undefined;
    } catch (error) {
      if (await subject.view.rereadCopy(error, target)) return undefined;
      if (this.#options.force()) return this.#letGo(consumer, subject);
      if (error instanceof GateClosedError) throw error;
      const kind = this.#options.servers.provider.side.classify(error, target);
      const sent = 'desired' in step ? step.desired.object : undefined;
      const failure = providerFailure(kind, error, target, sent);
      if (failure instanceof ObjectFailure) this.#countAttempt(subject.record);
      throw failure;
    }
  }

  async #writeCopy(step: WriteStep, consumer: KubeObject, { view, record }: Subject): Promise<void> {
    const { clock, writer, teller } = this.#options;
    const { target, desired } = step;
    const write = {
      target,
      desired,
      memory: record.memory,
      consumerGeneration: consumer.metadata.generation ?? 0,
      repeated: step.kind === 'updateCopy' ? step.cause === 'drift' : record.memory.sent === desired.hash,
      now: clock.now(),
    };
    const copy = await view.writeCopy(target, async () => {
      const result = await (step.kind === 'createCopy' ? writer.create(write) : writer.update(write, step));
      record.memory = result.memory;
      record.notice = result.notice;
      return result.copy;
    });
    if (copy === undefined) {
      // Fields have to be left out, or the place was taken: the next decision needs the truth.
      await view.readCopy(target);
      return;
    }
    if (record.notice !== undefined) teller.tell(record, consumer, 'Warning', record.notice);
    if (step.kind === 'createCopy') return;
    if (step.cause === 'takeover') teller.tell(record, consumer, 'Normal', adopted(target, step.kept));
    else if (step.kept.length > 0) teller.tell(record, consumer, 'Warning', ownerless(target, step.kept));
  }

  /**
   * The provider may map a namespace elsewhere. The copy that is there already is not followed: what is stored behind
   * it may be all that the user has, and one wrong status of the provider must not be enough to delete it.
   */
  #notePlace(target: ObjectName, consumer: KubeObject, record: ObjectRecord): void {
    const { place } = record;
    record.place = target;
    if (place === undefined || place.namespace === target.namespace) return;
    this.#options.teller.tell(record, consumer, 'Warning', moved(place, target));
  }

  async #deleteCopy(target: ObjectName, uid: string, { view }: Subject): Promise<void> {
    const terminating = await view.writeCopy(target, async () => {
      const answer = await this.#options.servers.provider.calls.delete(target, uid);
      return answer?.metadata.deletionTimestamp === undefined ? undefined : answer;
    });
    // Gone at once, or so the server says: seen to be gone is what counts.
    if (terminating === undefined) await view.readCopy(target);
  }

  async #patchConsumer(patch: GuardedPatch, { view }: Subject): Promise<void> {
    const { calls, side } = this.#options.servers.consumer;
    try {
      await view.writeConsumer(() => calls.patch(view.name, patch));
    } catch (error) {
      if (await view.rereadConsumer(error)) return;
      if (error instanceof GateClosedError) throw error;
      throw consumerFailure(side.classify(error, view.name), error);
    }
  }

  /** The forced end of a drain: the consumer's object gets free, the copy stays where it is. */
  async #letGo(consumer: KubeObject, subject: Subject): Promise<PassOutcome> {
    if (!hasSyncerFinalizer(consumer)) return SETTLED;
    const { target } = placeOfCopy(subject.view.name, this.#options.context());
    // Before the finalizer goes: afterwards there may be no object to tell it of.
    this.#options.teller.tell(subject.record, consumer, 'Warning', leftBehind(target));
    await this.#patchConsumer(removeFinalizer(consumer), subject);
    this.#options.onLeft(target);
    return SETTLED;
  }

  /** A correction that is refused must not be tried without end either. */
  #countAttempt(record: ObjectRecord): void {
    const { memory } = record;
    if (memory.contest === undefined) return;
    record.memory = { ...memory, contest: corrected(memory.contest, this.#options.clock.now()) };
  }
}

function pausedFor(outcome: PassOutcome, pause: StatusPause): PassOutcome {
  if (outcome.kind !== 'waiting') return { kind: 'waiting', ...pause };
  const { retryInMs = pause.retryInMs } = outcome;
  return { ...pause, ...outcome, retryInMs: Math.min(pause.retryInMs, retryInMs) };
}

function orphaned(target: ObjectName): { reason: string; message: string } {
  const message = `The provider's copy ${describeName(target)} stays there as an object of its own.`;
  return { reason: 'Orphaned', message };
}

function leftBehind(target: ObjectName): { reason: string; message: string } {
  const message = `The binding was released by force: the provider's copy ${describeName(target)}, if there is one, stays there.`;
  return { reason: 'LeftBehind', message };
}

function moved(from: ObjectName, to: ObjectName): { reason: string; message: string } {
  const message =
    `The provider has given this namespace another place: the copy is ${describeName(to)} now. The former one, ${describeName(from)}, ` +
    'stays as it is and is looked after no more. Ask the provider to bring over what it holds, and to remove it.';
  return { reason: 'LeftBehind', message };
}

function ownerless(target: ObjectName, kept: readonly string[]): { reason: string; message: string } {
  const message =
    `The provider has lost the record of who set which field of ${describeName(target)}. These stay although this object does not say them: ` +
    `${kept.join(', ')}. To remove one that was yours, set it here once more and take it away again.`;
  return { reason: 'Mutated', message };
}

function unproven(target: ObjectName): { reason: string; message: string } {
  const message =
    `The provider's object ${describeName(target)} stays: somebody on the provider has changed the marks that prove whose copy it is. ` +
    'Ask the provider to remove it if it is not needed.';
  return { reason: 'LeftBehind', message };
}

function adopted(target: ObjectName, kept: readonly string[]): { reason: string; message: string } {
  const fields =
    kept.length === 0 ? '' : ` Fields that this object does not say were kept: ${kept.join(', ')}.`;
  const message = `The provider's object ${describeName(target)} is now this object's copy.${fields}`;
  return { reason: 'Adopted', message };
}
