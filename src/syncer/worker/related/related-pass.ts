import { nameOfKey } from '../../../kube/cache/object-key.js';
import type { ObjectKeyText } from '../../../kube/cache/object-key.js';
import type { Clock } from '../../../kube/clock.js';
import { isStatus } from '../../../kube/errors.js';
import type { KubeObject, ObjectName } from '../../../kube/object.js';
import { corrected, NO_CONTEST } from '../../engine/contest.js';
import type { CopyMarks } from '../../engine/desired-copy.js';
import type { MappingRule } from '../../engine/key-mapping.js';
import { EMPTY_MEMORY } from '../../engine/object-memory.js';
import { decideRelated } from '../../engine/related/decide-related.js';
import type { EndView, RelatedDecision, Selected } from '../../engine/related/decide-related.js';
import { differenceOf, stateOfCopy } from '../../engine/related/related-copy.js';
import type { End, RelatedCopy } from '../../engine/related/related-copy.js';
import type { RelatedKind } from '../../engine/related/related-kinds.js';
import { describeName } from '../../engine/sync-context.js';
import type { SyncPolicies } from '../../engine/sync-context.js';
import type { AnswersAhead } from '../objects/answers-ahead.js';
import { awaitNamespace } from '../objects/await-namespace.js';
import { contestedTrouble } from '../objects/copy-writer.js';
import { ObjectFailure } from '../objects/object-failure.js';
import type { PassOutcome } from '../objects/pass-outcome.js';
import type { ObjectRecord } from '../objects/object-records.js';
import type { ObjectTeller } from '../objects/object-teller.js';
import { consumerFailure, providerFailure } from '../objects/object-trouble.js';
import { GateClosedError } from '../objects/side-gate.js';
import type { Side } from '../objects/side.js';
import type { Absences } from './absences.js';
import type { RelatedCalls } from './related-calls.js';

/** One of the two servers, as far as one claimed resource is concerned. */
export interface EndServer {
  readonly side: Side;
  readonly calls: RelatedCalls;
  readonly ahead: AnswersAhead;
  readonly cached: (place: ObjectName) => KubeObject | undefined;
  /** Everything at that place would be in the cache. */
  readonly listed: (place: ObjectName) => boolean;
  /** Where the object of that name in the workspace lies; undefined where the provider has no namespace for it. */
  readonly placeOf: (name: ObjectName) => ObjectName | undefined;
}

export interface RelatedPassOptions {
  readonly clock: Clock;
  readonly kind: RelatedKind;
  readonly servers: Readonly<Record<End, EndServer>>;
  readonly absences: Absences;
  readonly teller: ObjectTeller;
  readonly marks: CopyMarks;
  readonly accepted: boolean;
  readonly policies: () => SyncPolicies;
  readonly selected: (key: ObjectKeyText, end: End, object: KubeObject) => Selected;
  /** From when on what was never seen to be selected counts as not selected. */
  readonly unselectableAt: (key: ObjectKeyText) => number;
  readonly rule: MappingRule;
  /** Resolves with the milliseconds for which the namespace has been waited for. */
  readonly ensureNamespace: (consumerNamespace: string) => Promise<number>;
  /** The namespace may be made in the workspace. */
  readonly mayCreateNamespace: (consumerNamespace: string) => boolean;
}

const MAX_STEPS = 12;
/** What events should wake is looked at this often anyway; a look costs no request. */
const SAFETY_MS = 60_000;
/** A namespace that is missing in the workspace is looked for so often. */
const NAMESPACE_MS = 30_000;

const SETTLED: PassOutcome = { kind: 'settled' };
const WAITING: PassOutcome = { kind: 'waiting', retryInMs: SAFETY_MS };

type WriteDecision = Extract<RelatedDecision, { kind: 'create' | 'replace' | 'delete' | 'orphan' }>;
type Proofs = Record<End, EndView['proof']>;

/** Brings one related object and its copy into line, step by step, from what is known about both ends. */
export class RelatedPass {
  readonly #options: RelatedPassOptions;

  constructor(options: RelatedPassOptions) {
    this.#options = options;
  }

  /** Rejects with ObjectFailure, GateClosedError, or what the clients reject with. */
  async run(key: ObjectKeyText, record: ObjectRecord): Promise<PassOutcome> {
    const { kind, marks, accepted, policies, clock, unselectableAt } = this.#options;
    const object = nameOfKey(key);
    const proofs: Proofs = { consumer: 'none', provider: 'none' };
    for (let step = 0; step < MAX_STEPS; step++) {
      const ends = {
        consumer: this.#view('consumer', key, object, proofs),
        provider: this.#view('provider', key, object, proofs),
      };
      const decision = decideRelated({
        kind,
        ends,
        selected: {
          consumer: this.#selected(key, 'consumer', ends.consumer.object),
          provider: this.#selected(key, 'provider', ends.provider.object),
        },
        accepted,
        marks,
        policies: policies(),
        memory: record.memory,
        unselectableAt: unselectableAt(key),
        now: clock.now(),
      });
      if (decision.kind !== 'none' || decision.altered !== true) record.notice = undefined;
      const outcome = await this.#act(decision, { key, record, ends, proofs });
      if (outcome !== undefined) {
        if (ends.consumer.object === undefined && ends.provider.object === undefined)
          return { kind: 'absent' };
        return outcome;
      }
    }
    return WAITING;
  }

  #view(end: End, key: ObjectKeyText, name: ObjectName, proofs: Proofs): EndView {
    const { servers, absences, clock } = this.#options;
    const { ahead, cached, listed, placeOf } = servers[end];
    const place = placeOf(name);
    if (place === undefined)
      return { place, object: undefined, listed: false, proof: 'none', provableAt: undefined };
    const object = ahead.current(key, cached(place));
    const isListed = listed(place);
    const provableAt =
      object === undefined && isListed ? absences.provableAt(key, end, clock.now()) : undefined;
    return {
      place,
      object,
      listed: isListed,
      proof: object === undefined ? proofs[end] : 'none',
      provableAt,
    };
  }

  #selected(key: ObjectKeyText, end: End, object: KubeObject | undefined): Selected {
    return object === undefined ? 'no' : this.#options.selected(key, end, object);
  }

  /** Makes one step; the outcome when nothing more can be done now. */
  async #act(decision: RelatedDecision, subject: Subject): Promise<PassOutcome | undefined> {
    switch (decision.kind) {
      case 'none':
      case 'paused':
        return SETTLED;
      case 'wait':
        return WAITING;
      case 'waitUntil': {
        const ms = decision.at - this.#options.clock.now();
        return { kind: 'waiting', retryInMs: Math.min(Math.max(ms, 0), SAFETY_MS) };
      }
      case 'waitNamespace':
        return awaitNamespace(decision.namespace, this.#options.rule, this.#options.ensureNamespace);
      case 'prove':
        return this.#prove(decision.end, subject);
      case 'conflict':
        throw new ObjectFailure({ reason: 'Conflict', message: decision.message });
      case 'contested':
        return {
          kind: 'waiting',
          retryInMs: decision.retryInMs,
          trouble: contestedTrouble([this.#options.kind.kind]),
        };
      case 'create':
      case 'replace':
      case 'delete':
      case 'orphan':
        return this.#write(decision, subject);
    }
  }

  async #prove(end: End, { key, ends, proofs }: Subject): Promise<PassOutcome | undefined> {
    const { servers, absences, clock } = this.#options;
    const { place } = ends[end];
    if (place === undefined) return WAITING;
    if (await servers[end].calls.isGone(place)) {
      proofs[end] = 'gone';
      return undefined;
    }
    absences.refuted(key, end, clock.now());
    return WAITING;
  }

  async #write(decision: WriteDecision, subject: Subject): Promise<PassOutcome | undefined> {
    const { end } = decision;
    const { place } = subject.ends[end];
    if (place === undefined) return WAITING;
    try {
      await this.#request(decision, place, subject);
      return undefined;
    } catch (error) {
      if (error instanceof GateClosedError) throw error;
      const kind = this.#options.servers[end].side.classify(error, place);
      if (kind === 'stale' || kind === 'gone') return this.#reread(decision, place, subject);
      if (kind === 'namespaceGone' && end === 'consumer' && isStatus(error, 404))
        return this.#withNamespace(place.namespace ?? '');
      if (decision.kind === 'create' || decision.kind === 'replace') this.#countAttempt(subject.record);
      const sent = 'copy' in decision ? decision.copy.object : undefined;
      throw end === 'provider'
        ? providerFailure(kind, error, place, sent)
        : consumerFailure(kind, error, sent);
    }
  }

  /** What was known is old: the next decision needs the truth. */
  async #reread({ kind, end }: WriteDecision, place: ObjectName, { key }: Subject): Promise<undefined> {
    const found = await this.#read(end, key, place);
    // A claim that was just accepted does not show everything yet.
    if (kind === 'create' && found === undefined)
      throw new ObjectFailure({ reason: 'Conflict', message: hidden(this.#options.kind, place, end) });
    return undefined;
  }

  async #request(decision: WriteDecision, place: ObjectName, subject: Subject): Promise<void> {
    const { calls, ahead, cached } = this.#options.servers[decision.end];
    const { key, record } = subject;
    const track = (write: () => Promise<KubeObject | undefined>): Promise<KubeObject | undefined> =>
      ahead.track(key, () => cached(place), write);
    switch (decision.kind) {
      case 'create':
      case 'replace': {
        const answer = await track(() =>
          decision.kind === 'create' ? calls.create(decision.copy.object) : calls.replace(decision.object),
        );
        if (answer !== undefined) this.#remember(record, decision.copy, answer, decision.repeated);
        return;
      }
      case 'delete': {
        const left = await track(() => calls.delete(decision.object));
        if (left === undefined) ahead.gone(key, cached(place));
        if (decision.cause === 'retract') record.memory = EMPTY_MEMORY;
        return;
      }
      case 'orphan':
        await track(() => calls.patch(place, decision.patch));
        record.memory = EMPTY_MEMORY;
        this.#tellOrphaned(subject, decision.end, place);
    }
  }

  #remember(record: ObjectRecord, copy: RelatedCopy, answer: KubeObject, repeated: boolean): void {
    const { kind, clock } = this.#options;
    const { contest } = record.memory;
    const altered = differenceOf(answer, copy.object, kind) !== 'none';
    record.memory = {
      sent: copy.hash,
      ...(altered && { accepted: { hash: copy.hash, fingerprint: stateOfCopy(answer, kind) } }),
      ...(repeated ? { contest: corrected(contest ?? NO_CONTEST, clock.now()) } : contest && { contest }),
    };
    record.notice = altered
      ? {
          reason: 'Mutated',
          message: `The copy of ${kind.kind} ${copy.object.metadata.name} is not kept as it was sent. Ask whoever runs that server what it changes.`,
        }
      : undefined;
  }

  /** A correction that is refused must not be tried without end either. */
  #countAttempt(record: ObjectRecord): void {
    const { memory } = record;
    if (memory.contest === undefined) return;
    record.memory = { ...memory, contest: corrected(memory.contest, this.#options.clock.now()) };
  }

  /** Asks an end for its object, and lets the answer count until its watch has caught up. */
  async #read(end: End, key: ObjectKeyText, place: ObjectName): Promise<KubeObject | undefined> {
    const { calls, ahead, cached } = this.#options.servers[end];
    ahead.forget(key);
    const object = await calls.read(place);
    if (object === undefined) ahead.gone(key, cached(place));
    else
      await ahead.track(
        key,
        () => cached(place),
        async () => object,
      );
    return object;
  }

  /** The workspace lacks the namespace: what its user deleted stays deleted, what the provider asks for is made. */
  async #withNamespace(name: string): Promise<PassOutcome | undefined> {
    const { calls } = this.#options.servers.consumer;
    if (!this.#options.mayCreateNamespace(name)) return { kind: 'waiting', retryInMs: NAMESPACE_MS };
    try {
      await calls.createNamespace(name);
    } catch (error) {
      if (error instanceof GateClosedError) throw error;
      const message = `The provider has objects for namespace ${name}, which is not there and cannot be made: accept the permission claim namespaces, or create it.`;
      throw new ObjectFailure({ reason: 'WorkspaceForbidden', message }, { cause: error });
    }
    return undefined;
  }

  #tellOrphaned({ record, ends }: Subject, end: End, place: ObjectName): void {
    const object = ends.consumer.object;
    if (object === undefined) return;
    const where = end === 'provider' ? 'on the provider' : 'in the workspace';
    const message = `The copy ${describeName(place)} stays ${where} as an object of its own.`;
    this.#options.teller.tell(record, object, 'Normal', { reason: 'Orphaned', message });
  }
}

interface Subject {
  readonly key: ObjectKeyText;
  readonly record: ObjectRecord;
  readonly ends: Readonly<Record<End, EndView>>;
  readonly proofs: Proofs;
}

function hidden({ kind }: RelatedKind, place: ObjectName, end: End): string {
  const where = end === 'provider' ? 'The provider' : 'The workspace';
  return `${where} already has a ${kind} ${describeName(place)} that this binding is not shown. It is left as it is; tried again.`;
}
