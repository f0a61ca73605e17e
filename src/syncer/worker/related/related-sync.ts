import { formatKey, nameOfKey } from '../../../kube/cache/object-key.js';
import type { ObjectKeyText } from '../../../kube/cache/object-key.js';
import type { ObjectStore, StoreChange } from '../../../kube/cache/object-store.js';
import type { KubeObject, ObjectName } from '../../../kube/object.js';
import { runQueue } from '../../../kube/run-queue.js';
import { WorkQueue } from '../../../kube/work-queue.js';
import { toConsumerKey } from '../../engine/key-mapping.js';
import type { MappingRule } from '../../engine/key-mapping.js';
import { EMPTY_MEMORY } from '../../engine/object-memory.js';
import type { ClaimSelector } from '../../engine/related/claim-selector.js';
import type { End } from '../../engine/related/related-copy.js';
import type { RelatedKind } from '../../engine/related/related-kinds.js';
import { NamespaceRequests } from '../objects/namespace-requests.js';
import { retryAfterOf } from '../objects/object-failure.js';
import { ObjectRecords } from '../objects/object-records.js';
import { ObjectTeller } from '../objects/object-teller.js';
import type { ResourceSyncOptions } from '../objects/sync-options.js';
import { consumerNamespaces, syncContext } from '../objects/sync-parts.js';
import { syncProblem } from '../objects/sync-problem.js';
import type { ResourceSync, SyncPolicy, SyncStats } from '../resource-sync.js';
import { Absences } from './absences.js';
import { OwnCopies } from './own-copies.js';
import { ReferenceNotes } from './reference-notes.js';
import { RelatedEnds } from './related-ends.js';
import { RelatedPass } from './related-pass.js';
import { relatedNote } from './related-note.js';
import { RelatedWork } from './related-work.js';
import { Selection } from './selection.js';

export interface RelatedSyncOptions extends Omit<ResourceSyncOptions, 'target'> {
  readonly kind: RelatedKind;
  /** What the provider's export claims of this resource. */
  readonly selectors: readonly ClaimSelector[];
  /** Binding and workspace have both agreed. Otherwise nothing moves, and what moved before stays. */
  readonly accepted: boolean;
  readonly isolation: MappingRule['isolation'];
  /** Copies in the workspace that a predecessor knew of and this one, without consent, cannot see. */
  readonly knownCopies?: readonly string[];
}

/** Keeps the related objects of one resource in sync, in both directions. */
export interface RelatedResourceSync extends ResourceSync {
  /** The consumer's objects that may refer to related ones, by `resource.group`. Idempotent. */
  attach(originals: ReadonlyMap<string, ObjectStore>): void;
  /** Copies that this binding made, in words. */
  copies(): readonly string[];
  /** Those of them that are in the workspace. */
  copiesInWorkspace(): readonly string[];
}

export function createRelatedSync(options: RelatedSyncOptions): RelatedResourceSync {
  return new RelatedSync(options);
}

class RelatedSync implements RelatedResourceSync {
  readonly #options: RelatedSyncOptions;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #rule: MappingRule;
  readonly #queue: WorkQueue<ObjectKeyText>;
  readonly #records = new ObjectRecords<ObjectKeyText>();
  readonly #absences: Absences;
  readonly #selection: Selection;
  readonly #notes: ReferenceNotes;
  readonly #namespaces: NamespaceRequests;
  readonly #ends: RelatedEnds;
  readonly #own: OwnCopies;
  readonly #work: RelatedWork;
  #running: Promise<unknown> | undefined;
  #policy: SyncPolicy;
  #draining = false;
  #lastSyncAt: number | undefined;

  constructor(options: RelatedSyncOptions) {
    const { places, policy, limits, clock, random, signal, kind, selectors, accepted } = options;
    this.#options = options;
    this.#policy = policy;
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
    this.#rule = {
      scope: 'Namespaced',
      isolation: options.isolation,
      contractNamespace: places.contractNamespace,
    };
    const backoff = { baseMs: limits.backoffBaseMs, maxMs: limits.backoffMaxMs };
    this.#queue = new WorkQueue({ clock, random, backoff });
    this.#absences = new Absences(limits.absenceGraceMs);
    const teller = new ObjectTeller(options.emitEvent);
    this.#notes = new ReferenceNotes({
      rule: this.#rule,
      namespaces: places.namespaces,
      kind: kind.kind,
      tell: (object, what) => teller.say(object, 'Warning', what),
    });
    this.#selection = new Selection({
      selectors,
      clock,
      graceMs: limits.absenceGraceMs,
      onReferenced: (name) => this.#onReferenced(name),
      onReferrer: (referrer) => {
        if (accepted) this.#notes.check(referrer);
      },
    });
    this.#namespaces = new NamespaceRequests(clock, (name) => places.ensureNamespace(name, this.#signal));
    this.#ends = new RelatedEnds({
      ...options,
      rule: this.#rule,
      signal: this.#signal,
      kept: (object) => this.#selection.kept(object, kind),
      onListed: () => this.#enqueueAll(false),
      // Keys go in as ObjectKeyText and come out the same.
      onOld: (key) => this.#queue.add(key as ObjectKeyText),
    });
    this.#own = new OwnCopies({
      ends: this.#ends,
      marks: this.#context().marks,
      accepted,
      isMapped: (copy) => this.#consumerKey(copy) !== undefined,
    });
    const pass = new RelatedPass({
      clock,
      kind,
      servers: this.#ends.servers,
      absences: this.#absences,
      teller,
      marks: this.#context().marks,
      accepted,
      policies: () => this.#context().policies,
      selected: (key, _end, object) => this.#selection.of(key, object),
      unselectableAt: (key) => this.#selection.unselectableAt(key),
      rule: this.#rule,
      ensureNamespace: (name) => this.#namespaces.ask(name),
      mayCreateNamespace: (name) => places.namespaces.wantedByProvider(name),
    });
    this.#work = new RelatedWork({
      clock,
      random,
      teller,
      pass,
      cached: (key) => this.#ends.servers.consumer.cached(nameOfKey(key)),
    });
  }

  start(): void {
    if (this.#running !== undefined || this.#signal.aborted) return;
    const { places, limits, clock, onFailure } = this.#options;
    this.#ends.start();
    const { consumers, copies } = this.#ends;
    consumers?.subscribe((change) => this.#onChange('consumer', formatKey(change.key), change));
    copies.subscribe((change) => this.#onCopy(change));
    const unsubscribe = places.namespaces.subscribe((name) => this.#onNamespace(name));
    this.#signal.addEventListener('abort', unsubscribe, { once: true });
    for (const source of [consumers, places.namespaces]) if (source !== undefined) this.#whenSynced(source);
    const queue = runQueue(this.#queue, {
      concurrency: limits.concurrency,
      signal: this.#signal,
      handle: (key) => this.#handle(key),
      retryAfter: retryAfterOf,
      onError: (failure) => {
        this.#records.hold(failure.key, clock.now() + failure.retryInMs);
        onFailure?.(failure);
      },
    });
    this.#running = queue;
    const unload = this.#options.meter?.load(() => ({ queued: this.#queue.length, oldestMs: 0 }));
    if (unload !== undefined) this.#signal.addEventListener('abort', unload, { once: true });
  }

  attach(originals: ReadonlyMap<string, ObjectStore>): void {
    if (!this.#options.accepted || this.#signal.aborted) return;
    const { referrers } = this.#selection;
    if (referrers.attach(originals))
      void referrers.whenKnown(this.#signal).then(() => this.#enqueueAll(false));
  }

  update(policy: SyncPolicy): void {
    const before = this.#policy;
    this.#policy = policy;
    if (JSON.stringify(before) !== JSON.stringify(policy)) this.#enqueueAll(true);
  }

  drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    this.#enqueueAll(true);
  }

  stats(): SyncStats {
    const { pending, failing } = this.#records.figures();
    const { consumer, provider } = this.#ends.servers;
    const { accepted, kind, selectors } = this.#options;
    const shown = accepted || this.#draining;
    const problem = shown
      ? syncProblem(consumer.side.gate.problem, provider.side.gate.problem, this.#records)
      : undefined;
    const { referrers } = this.#selection;
    const copies = this.copies();
    const note = relatedNote({
      kind: kind.kind,
      accepted,
      copies,
      refused: selectors.flatMap(({ refused }) => refused),
      unknownApis: accepted ? referrers.unknownApis : [],
      references: accepted ? this.#notes.summary(referrers.all()) : undefined,
    });
    return {
      objects: this.#draining ? copies.length : 0,
      pending: shown ? pending : 0,
      failing: shown ? failing : 0,
      ...(this.#lastSyncAt !== undefined && { lastSyncAt: this.#lastSyncAt }),
      namespaces: consumerNamespaces(this.#ends.copies.all(), this.#context().marks),
      ...(problem !== undefined && {
        problem: { ...problem, message: `${kind.kind} as a related resource: ${problem.message}` },
      }),
      ...(note !== undefined && { note }),
      drained: this.#isDrained(),
      refused: [...(this.#ends.consumers?.refused.values() ?? [])].reduce((sum, count) => sum + count, 0),
    };
  }

  copies(): readonly string[] {
    return [...this.copiesInWorkspace(), ...this.#own.names('provider')];
  }

  copiesInWorkspace(): readonly string[] {
    const { accepted, knownCopies = [] } = this.#options;
    return accepted ? this.#own.names('consumer') : knownCopies;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#selection.referrers.close();
    await this.#ends.close();
    await this.#running;
  }

  async #handle(key: ObjectKeyText): Promise<{ readonly requeueAfterMs: number } | undefined> {
    const { clock, onChange } = this.#options;
    try {
      const record = this.#records.of(key);
      const outcome = await this.#work.run(key, record);
      if (outcome.kind === 'settled') {
        this.#lastSyncAt = clock.now();
        // Most objects of a workspace are nothing to us: nothing is remembered about them.
        if (record.memory === EMPTY_MEMORY && record.told === undefined) this.#records.delete(key);
      }
      if (outcome.kind === 'absent') this.#forget(key);
      return outcome.kind === 'waiting' && outcome.retryInMs !== undefined
        ? { requeueAfterMs: outcome.retryInMs }
        : undefined;
    } finally {
      onChange?.();
    }
  }

  #forget(key: ObjectKeyText): void {
    this.#records.delete(key);
    this.#absences.forget(key);
    this.#selection.forget(key);
  }

  #onCopy(change: StoreChange): void {
    const key = this.#consumerKey(change.type === 'set' ? change.object : change.previous);
    if (key !== undefined) this.#onChange('provider', key, change);
  }

  #onChange(end: End, key: ObjectKeyText, change: StoreChange): void {
    this.#ends.servers[end].ahead.observe(key, change);
    if (change.type === 'set') this.#absences.present(key, end);
    else this.#absences.vanished(key, end, this.#options.clock.now());
    this.#release(key);
  }

  /** More or fewer objects refer to it. One without a namespace: to that name in all of them. */
  #onReferenced({ namespace, name }: ObjectName): void {
    const { cluster } = this.#options.places;
    if (namespace !== undefined) this.#release(formatKey({ cluster, namespace, name }));
    else for (const key of this.#keys()) if (nameOfKey(key).name === name) this.#release(key);
  }

  #onNamespace(consumerNamespace: string): void {
    this.#namespaces.forget(consumerNamespace);
    for (const key of this.#keys()) if (nameOfKey(key).namespace === consumerNamespace) this.#release(key);
    if (!this.#options.accepted) return;
    for (const referrer of this.#selection.referrers.all()) this.#notes.check(referrer);
  }

  #whenSynced(source: { whenSynced(signal: AbortSignal): Promise<void> }): void {
    source.whenSynced(this.#signal).then(
      () => this.#enqueueAll(false),
      // Only the signal ends the waiting.
      () => undefined,
    );
  }

  #enqueueAll(release: boolean): void {
    for (const key of this.#keys()) {
      if (release) this.#release(key);
      else this.#queue.add(key);
    }
  }

  /** Addresses of everything that either side shows. */
  *#keys(): Iterable<ObjectKeyText> {
    const { cluster } = this.#options.places;
    for (const { metadata } of this.#ends.consumers?.all() ?? [])
      yield formatKey({ cluster, namespace: metadata.namespace, name: metadata.name });
    for (const copy of this.#ends.copies.all()) {
      const key = this.#consumerKey(copy);
      if (key !== undefined) yield key;
    }
  }

  /** Something has changed that may help: an end to the back-off. */
  #release(key: ObjectKeyText): void {
    this.#queue.forget(key);
    this.#records.release(key);
    this.#queue.add(key);
  }

  #consumerKey({ metadata }: KubeObject): ObjectKeyText | undefined {
    const { places } = this.#options;
    if (metadata.namespace === places.contractNamespace) return undefined;
    const name = toConsumerKey(this.#rule, places.namespaces, metadata);
    return name && formatKey({ cluster: places.cluster, ...name });
  }

  #isDrained(): boolean {
    if (!this.#draining || this.#own.isLeft('consumer')) return false;
    return this.#policy.force || !this.#own.isLeft('provider');
  }

  #context(): ReturnType<typeof syncContext> {
    const { places } = this.#options;
    const target = { scope: 'Namespaced', isolation: this.#options.isolation } as const;
    return syncContext(target, places, this.#policy, this.#draining);
  }
}
