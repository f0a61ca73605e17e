import { DESIRED_HASH_ANNOTATION } from '../../api/markers.js';
import type { JsonObject } from '../../kube/json-value.js';
import { jsonEqual } from '../../kube/json.js';
import type { KubeObject, ObjectName } from '../../kube/object.js';
import { addFinalizer, guardedPatch, hasSyncerFinalizer, removeFinalizer } from './consumer-patch.js';
import type { GuardedPatch } from './consumer-patch.js';
import { NO_CONTEST, pauseBeforeCorrection } from './contest.js';
import { desiredCopy } from './desired-copy.js';
import type { DesiredCopy } from './desired-copy.js';
import { findDeviations, fingerprint } from './deviations.js';
import type { Deviation } from './deviations.js';
import { conflictOf, foreignFields, mayTakeOver } from './conflict.js';
import type { ConflictReason } from './conflict.js';
import { member } from './field-access.js';
import { sentGeneration } from './sent-generation.js';
import { conventionalNamespace, toProviderKey } from './key-mapping.js';
import { FORMER_MANAGERS, entryPositions, ourOwnership, ownershipOf } from './managed-fields.js';
import type { Ownership } from './managed-fields.js';
import type { ObjectMemory } from './object-memory.js';
import { stripMarks } from './orphan.js';
import { classifyCopy, isCopyOfBinding, wasCopyOf } from './ownership.js';
import { removalsBeforeApply, removalsOfFormerManagers } from './residue.js';
import type { EmptyingMode } from './residue.js';
import type { SyncContext } from './sync-context.js';
import { deletionPolicyOf, isPaused } from './user-annotations.js';

export interface UpInput {
  readonly consumer: KubeObject;
  /** `consumer` was read from the server for this decision. */
  readonly consumerLive: boolean;
  readonly copy: CopyView;
  readonly context: SyncContext;
  readonly memory: ObjectMemory;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * What is known about the place of the copy. `live`: read from the server for this decision, with all
 * managedFields. A cache may be behind: that nothing is there, or whose it is, is decided on a live read only.
 */
export interface CopyView {
  readonly object: KubeObject | undefined;
  readonly live: boolean;
}

/**
 * - `created`: there was none
 * - `changed`: the consumer's object is another one than was sent last
 * - `drift`: the copy is not as it was sent
 * - `takeover`: the copy was not ours before
 */
export type WriteCause = 'created' | 'changed' | 'drift' | 'takeover';

export type UpDecision =
  /** All is as it should be, or is not ours to change. */
  | { readonly kind: 'none' }
  | { readonly kind: 'paused' }
  /** The provider has not named a namespace yet. */
  | { readonly kind: 'waitNamespace'; readonly namespace: string }
  /** What is known of the consumer's object is older than what was sent: it has to be read from the server. */
  | { readonly kind: 'readConsumer' }
  /** The decision needs the copy, or its absence, as the server sees it now. */
  | { readonly kind: 'readCopy'; readonly target: ObjectName }
  | { readonly kind: 'addFinalizer'; readonly patch: GuardedPatch }
  /** `left`: what lies there carries some of our marks, and not enough of them to be taken away. */
  | { readonly kind: 'removeFinalizer'; readonly patch: GuardedPatch; readonly left?: ObjectName }
  /** Apply without force. */
  | { readonly kind: 'createCopy'; readonly target: ObjectName; readonly desired: DesiredCopy }
  | UpdateCopy
  | { readonly kind: 'deleteCopy'; readonly target: ObjectName; readonly uid: string }
  /** The copy is terminating. */
  | { readonly kind: 'waitGone'; readonly target: ObjectName }
  | { readonly kind: 'orphanCopy'; readonly target: ObjectName; readonly patch: GuardedPatch }
  /** Somebody else's object lies where the copy belongs. */
  | { readonly kind: 'conflict'; readonly reason: ConflictReason; readonly message: string }
  /** Somebody keeps changing the copy. */
  | { readonly kind: 'contested'; readonly retryInMs: number; readonly deviations: readonly Deviation[] };

/** Apply with force and uid. */
export interface UpdateCopy {
  readonly kind: 'updateCopy';
  readonly target: ObjectName;
  readonly cause: WriteCause;
  readonly desired: DesiredCopy;
  readonly uid: string;
  /** State of the copy that this was decided for; set where nobody may have changed it since (takeover). */
  readonly resourceVersion?: string;
  /** JSON patches, one of which has to come first: the next one where the server refuses the former. */
  readonly prepare: readonly GuardedPatch[];
  readonly deviations: readonly Deviation[];
  /** Fields that stay although the object does not say them: of others, or of nobody who can be told any more. */
  readonly kept: readonly string[];
}

const NONE: UpDecision = { kind: 'none' };

/**
 * The next step for one consumer object towards its copy on the provider. The caller makes the step and asks
 * again, with what the servers answered, until nothing is left to do.
 */
export function decideUp(input: UpInput): UpDecision {
  const { consumer, context } = input;
  const leaving = consumer.metadata.deletionTimestamp !== undefined || context.policies.draining;
  if (isPaused(consumer, context.policies)) return { kind: 'paused' };
  const place = placeOfCopy(consumer.metadata, context);
  if (leaving) return decideLeaving(input, place.target);
  if (place.guessed) return { kind: 'waitNamespace', namespace: consumer.metadata.namespace ?? '' };
  return decideLiving(input, place.target);
}

/**
 * Where the copy of an object is. `guessed`: the provider names no namespace for it (any more), so this is
 * where it would be by convention: good for looking and for taking away what is proven ours, never for making.
 */
export function placeOfCopy(
  consumer: ObjectName,
  { rule, namespaces }: Pick<SyncContext, 'rule' | 'namespaces'>,
): { readonly target: ObjectName; readonly guessed: boolean } {
  const key = toProviderKey(rule, namespaces, consumer);
  if (key.kind === 'mapped') return { target: key.target, guessed: false };
  const namespace = conventionalNamespace(rule, key.namespace);
  return { target: { namespace, name: consumer.name }, guessed: true };
}

/** The consumer's object, or the whole binding, is on its way out. */
function decideLeaving(input: UpInput, target: ObjectName): UpDecision {
  const { consumer, copy, context } = input;
  const { object } = copy;
  const owner = object && classifyCopy(object, { uid: consumer.metadata.uid ?? '' }, context.marks);
  // A binding that goes takes all its copies along, those of former objects of that name too.
  const ours = owner?.kind === 'ours' || (context.policies.draining && isBindings(object, context));
  if (object === undefined || !ours) return letGo(input, target);
  if (deletionPolicyOf(consumer, context.policies) === 'Orphan')
    return { kind: 'orphanCopy', target, patch: stripMarks(object) };
  if (object.metadata.deletionTimestamp !== undefined) return { kind: 'waitGone', target };
  return { kind: 'deleteCopy', target, uid: object.metadata.uid ?? '' };
}

function isBindings(object: KubeObject | undefined, { marks }: SyncContext): boolean {
  return object !== undefined && isCopyOfBinding(object, marks);
}

/** Nothing that is proven ours is at the place of the copy. */
function letGo({ consumer, copy, context }: UpInput, target: ObjectName): UpDecision {
  if (!hasSyncerFinalizer(consumer)) return NONE;
  if (!copy.live) return { kind: 'readCopy', target };
  const { object } = copy;
  const left = object !== undefined && wasCopyOf(object, consumer.metadata.uid ?? '', context.marks);
  return { kind: 'removeFinalizer', patch: removeFinalizer(consumer), ...(left && { left: target }) };
}

function decideLiving(input: UpInput, target: ObjectName): UpDecision {
  const { consumer, copy, context, memory, now } = input;
  const { object } = copy;
  if (object === undefined) {
    if (!hasSyncerFinalizer(consumer)) return { kind: 'addFinalizer', patch: addFinalizer(consumer) };
    if (!copy.live) return { kind: 'readCopy', target };
    const desired = desiredFor(input, target);
    const pause = memory.sent === desired.hash ? contestPause(memory, now) : 0;
    if (pause > 0) return { kind: 'contested', retryInMs: pause, deviations: [] };
    return { kind: 'createCopy', target, desired };
  }
  const owner = classifyCopy(object, { uid: consumer.metadata.uid ?? '' }, context.marks);
  if (owner.kind !== 'ours') {
    if (!copy.live) return { kind: 'readCopy', target };
    if (!mayTakeOver(owner, context)) return conflictOf(owner, target, context);
    if (object.metadata.deletionTimestamp !== undefined) return { kind: 'waitGone', target };
    if (!hasSyncerFinalizer(consumer)) return { kind: 'addFinalizer', patch: addFinalizer(consumer) };
    return takeOver(input, object, target);
  }
  if (object.metadata.deletionTimestamp !== undefined) return { kind: 'waitGone', target };
  if (!hasSyncerFinalizer(consumer)) return { kind: 'addFinalizer', patch: addFinalizer(consumer) };
  return decideUpdate(input, object, target);
}

function decideUpdate(input: UpInput, copy: KubeObject, target: ObjectName): UpDecision {
  const { consumer, consumerLive, memory, now } = input;
  const desired = desiredFor(input, target);
  const ownership = ourOwnership(copy);
  const deviations = findDeviations(desired.object, copy, ownership);
  if (deviations.length === 0) return NONE;
  const { accepted } = memory;
  if (accepted?.hash === desired.hash && accepted.fingerprint === fingerprint(deviations)) return NONE;
  // A cache that fell behind must not bring an earlier edit back.
  if (sentGeneration(copy) > (consumer.metadata.generation ?? 0) && !consumerLive)
    return { kind: 'readConsumer' };
  // Other content than was sent last is the consumer's edit. The same content again is a correction, and so
  // is a copy that carries the right hash although this process has never sent it.
  const repeated = memory.sent === desired.hash || copyHash(copy) === desired.hash;
  if (repeated) {
    const pause = contestPause(memory, now);
    if (pause > 0) return { kind: 'contested', retryInMs: pause, deviations };
  }
  return {
    kind: 'updateCopy',
    target,
    cause: repeated ? 'drift' : 'changed',
    desired,
    uid: copy.metadata.uid ?? '',
    prepare: preparations(copy, (mode) => removalsBeforeApply(desired.object, copy, ownership?.root, mode)),
    deviations,
    kept: repeated ? [] : ownerlessFields(desired, copy, ownership),
  };
}

/** Where the managedFields are lost, what the user has taken away since the last write is nobody's. */
function ownerlessFields(
  desired: DesiredCopy,
  copy: KubeObject,
  ownership: Ownership | undefined,
): readonly string[] {
  return ownership === undefined ? foreignFields(desired.object, copy) : [];
}

/** Needs the live object with all its managedFields. */
function takeOver(input: UpInput, copy: KubeObject, target: ObjectName): UpDecision {
  const desired = desiredFor(input, target);
  const former = ownershipOf(copy, FORMER_MANAGERS);
  // Fields stay as long as any manager is entered for them: those that work no more have to go.
  const entries = entryPositions(copy, FORMER_MANAGERS).map((index) => ({
    op: 'remove',
    path: `/metadata/managedFields/${String(index)}`,
  }));
  const own = ourOwnership(copy)?.root;
  return {
    kind: 'updateCopy',
    target,
    cause: 'takeover',
    desired,
    uid: copy.metadata.uid ?? '',
    resourceVersion: copy.metadata.resourceVersion ?? '',
    prepare: preparations(copy, (mode) => [
      ...removalsBeforeApply(desired.object, copy, own, mode),
      ...(former === undefined ? [] : removalsOfFormerManagers(desired.object, copy, former.root, mode)),
      ...entries,
    ]),
    deviations: [],
    kept: foreignFields(desired.object, copy),
  };
}

/** The patches that take away what an apply cannot, in the order in which they are worth a try. */
export function preparations(
  copy: KubeObject,
  operations: (mode: EmptyingMode) => readonly JsonObject[],
): readonly GuardedPatch[] {
  const [whole, contents] = [operations('whole'), operations('contents')];
  if (whole.length === 0) return [];
  return jsonEqual([...whole], [...contents])
    ? [guardedPatch(copy, whole)]
    : [guardedPatch(copy, whole), guardedPatch(copy, contents)];
}

/** The desired copy without the fields that the provider's schema was seen not to know. */
function desiredFor({ consumer, context, memory }: UpInput, target: ObjectName): DesiredCopy {
  const whole = desiredCopy(consumer, target, context.marks);
  if (memory.unsent?.hash !== whole.hash) return whole;
  const narrowed = desiredCopy(consumer, target, context.marks, memory.unsent.paths);
  return { ...narrowed, wholeHash: whole.hash };
}

function contestPause(memory: ObjectMemory, now: number): number {
  return pauseBeforeCorrection(memory.contest ?? NO_CONTEST, now);
}

function copyHash(copy: KubeObject): string | undefined {
  const hash = member(copy.metadata.annotations, DESIRED_HASH_ANNOTATION);
  return typeof hash === 'string' ? hash : undefined;
}
