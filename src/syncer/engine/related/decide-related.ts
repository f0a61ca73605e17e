import type { KubeObject, ObjectName } from '../../../kube/object.js';
import type { GuardedPatch } from '../consumer-patch.js';
import { NO_CONTEST, pauseBeforeCorrection } from '../contest.js';
import type { CopyMarks } from '../desired-copy.js';
import type { ObjectMemory } from '../object-memory.js';
import { stripRelatedMarks } from '../orphan.js';
import type { SyncPolicies } from '../sync-context.js';
import { describeName } from '../sync-context.js';
import { deletionPolicyOf, isPaused } from '../user-annotations.js';
import { differenceOf, needsNewObject, relatedCopy, stateOfCopy, updatedCopy } from './related-copy.js';
import type { End, RelatedCopy } from './related-copy.js';
import type { RelatedKind } from './related-kinds.js';
import { roleOf } from './related-role.js';
import type { RelatedRole } from './related-role.js';

/** What is known about one of the two places of a related object. */
export interface EndView {
  /** Undefined where the provider has no namespace for it. */
  readonly place: ObjectName | undefined;
  readonly object: KubeObject | undefined;
  /** What is not shown is not there, as far as this end says: it has been listed completely. */
  readonly listed: boolean;
  /** `gone`: the API is served, and a GET just answered 404 with a Status that names the object. */
  readonly proof: 'none' | 'gone';
  /** From when on its absence may be proven, milliseconds since the epoch; undefined while it is there. */
  readonly provableAt: number | undefined;
}

/** `uncertain`: this process has not seen it selected; it may be that what refers to it is only not to be seen. */
export type Selected = 'yes' | 'no' | 'uncertain';

export interface RelatedInput {
  readonly kind: RelatedKind;
  readonly ends: Readonly<Record<End, EndView>>;
  /** Whether the accepted claim selects the object at that end. */
  readonly selected: Readonly<Record<End, Selected>>;
  /** Consent holds. Without it nothing happens but, while draining, the removal of copies on the provider. */
  readonly accepted: boolean;
  readonly marks: CopyMarks;
  readonly policies: SyncPolicies;
  readonly memory: ObjectMemory;
  /** From when on an object that was never seen to be selected may count as not selected. */
  readonly unselectableAt: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type RelatedDecision =
  /** All is as it should be, or is not ours to change. `altered`: as far as the copy's server lets it. */
  | { readonly kind: 'none'; readonly altered?: boolean }
  | { readonly kind: 'paused' }
  /** An event has to come. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'waitUntil'; readonly at: number }
  /** The provider has not named a namespace yet. */
  | { readonly kind: 'waitNamespace'; readonly namespace: string }
  /** Ask this end whether its object is gone. */
  | { readonly kind: 'prove'; readonly end: End }
  | { readonly kind: 'conflict'; readonly message: string }
  | { readonly kind: 'contested'; readonly retryInMs: number }
  /** `repeated`: the same was sent before, and somebody else changed it or took it away. */
  | { readonly kind: 'create'; readonly end: End; readonly copy: RelatedCopy; readonly repeated: boolean }
  | {
      readonly kind: 'replace';
      readonly end: End;
      readonly object: KubeObject;
      readonly copy: RelatedCopy;
      readonly repeated: boolean;
    }
  /** `renew`: it is made again at once, since no update can make it what it should be. */
  | {
      readonly kind: 'delete';
      readonly end: End;
      readonly object: KubeObject;
      readonly cause: 'renew' | 'retract';
    }
  | { readonly kind: 'orphan'; readonly end: End; readonly object: KubeObject; readonly patch: GuardedPatch };

type Roles = Readonly<Record<End, RelatedRole | undefined>>;

const NONE: RelatedDecision = { kind: 'none' };
const WAIT: RelatedDecision = { kind: 'wait' };

export function otherEnd(end: End): End {
  return end === 'consumer' ? 'provider' : 'consumer';
}

/**
 * The next step for one related object. It has an original at one end, whichever that is, and a copy at the other.
 * Only what carries this binding's own marks is ever changed or deleted; originals never are.
 */
export function decideRelated(input: RelatedInput): RelatedDecision {
  const { ends, policies, accepted } = input;
  const roles: Roles = { consumer: role(input, 'consumer'), provider: role(input, 'provider') };
  if (policies.draining) return decideDrain(input, roles);
  if (!accepted) return NONE;
  if (policies.paused) return { kind: 'paused' };
  const consumer = ends.consumer.object;
  if (consumer !== undefined && isPaused(consumer, policies)) return { kind: 'paused' };
  if (roles.consumer === 'ours' && roles.provider === 'ours') return conflict(input, 'bothCopies');
  if (roles.provider === 'ours') return follow(input, roles, 'consumer');
  if (roles.consumer === 'ours') return follow(input, roles, 'provider');
  return begin(input, roles);
}

function role({ ends, kind, marks }: RelatedInput, end: End): RelatedRole | undefined {
  const { object } = ends[end];
  return object && roleOf(object, end, kind, marks);
}

/** Every copy goes, on both sides; what the provider has no name for any more goes with its namespace. */
function decideDrain(input: RelatedInput, roles: Roles): RelatedDecision {
  for (const end of ['consumer', 'provider'] as const) {
    const { object } = input.ends[end];
    if (object !== undefined && roles[end] === 'ours') {
      const decision = retract(input, end, object);
      if (decision.kind !== 'wait' || end === 'provider') return decision;
    }
  }
  return NONE;
}

/** There is no copy of ours yet. */
function begin(input: RelatedInput, roles: Roles): RelatedDecision {
  const { ends, selected } = input;
  const wanted = (['consumer', 'provider'] as const).filter(
    (end) => roles[end] === 'original' && selected[end] === 'yes',
  );
  const [origin] = wanted;
  if (origin === undefined) return NONE;
  const copy = otherEnd(origin);
  if (roles[copy] === 'sibling') return NONE;
  if (roles[copy] !== undefined) return conflict(input, 'occupied');
  if (!ends[copy].listed && ends[copy].place !== undefined) return WAIT;
  return send(input, origin, undefined);
}

/** The copy of ours is at the other end: it follows its original. */
function follow(input: RelatedInput, roles: Roles, origin: End): RelatedDecision {
  const { ends, selected, now, unselectableAt } = input;
  const copy = ends[otherEnd(origin)].object;
  const { object, listed, proof, provableAt } = ends[origin];
  if (copy === undefined) return NONE;
  if (object !== undefined) {
    if (object.metadata.deletionTimestamp !== undefined) return retract(input, otherEnd(origin), copy);
    if (roles[origin] !== 'original') return retract(input, otherEnd(origin), copy);
    if (selected[origin] === 'yes') return send(input, origin, copy);
    if (selected[origin] === 'uncertain' && now < unselectableAt)
      return { kind: 'waitUntil', at: unselectableAt };
    return retract(input, otherEnd(origin), copy);
  }
  // Not to be seen is not gone: it takes a while, and then the word of its own server.
  if (proof === 'gone') return retract(input, otherEnd(origin), copy);
  if (!listed || ends[origin].place === undefined || provableAt === undefined) return WAIT;
  return now < provableAt ? { kind: 'waitUntil', at: provableAt } : { kind: 'prove', end: origin };
}

/** Makes the copy what its original says. */
function send(input: RelatedInput, origin: End, live: KubeObject | undefined): RelatedDecision {
  const { ends, kind, marks } = input;
  const end = otherEnd(origin);
  const original = ends[origin].object;
  const target = ends[end].place;
  if (original === undefined || original.metadata.deletionTimestamp !== undefined) return NONE;
  if (target === undefined) return { kind: 'waitNamespace', namespace: original.metadata.namespace ?? '' };
  if (live?.metadata.deletionTimestamp !== undefined) return WAIT;
  return write(input, end, relatedCopy(original, { kind, to: end, target }, marks), live);
}

function write(
  { kind, memory, now }: RelatedInput,
  end: End,
  copy: RelatedCopy,
  live: KubeObject | undefined,
): RelatedDecision {
  const difference = live === undefined ? 'content' : differenceOf(live, copy.object, kind);
  if (difference === 'none') return NONE;
  if (live !== undefined && isAccepted(memory, copy, stateOfCopy(live, kind)))
    return { kind: 'none', altered: true };
  const repeated = memory.sent === copy.hash;
  const pause = repeated ? pauseBeforeCorrection(memory.contest ?? NO_CONTEST, now) : 0;
  if (pause > 0) return { kind: 'contested', retryInMs: pause };
  if (live === undefined) return { kind: 'create', end, copy, repeated };
  if (difference === 'content' && needsNewObject(live, copy.object, kind))
    return { kind: 'delete', end, object: live, cause: 'renew' };
  return { kind: 'replace', end, object: updatedCopy(live, copy.object, kind), copy, repeated };
}

/** The server has made this of the same copy before. */
function isAccepted({ accepted }: ObjectMemory, copy: RelatedCopy, state: string): boolean {
  return accepted?.hash === copy.hash && accepted.fingerprint === state;
}

/** Takes a copy away, or lets it be an ordinary object, as the user decided. */
function retract(input: RelatedInput, end: End, copy: KubeObject): RelatedDecision {
  const consumer = input.ends.consumer.object;
  const policy =
    consumer === undefined ? input.policies.deletion : deletionPolicyOf(consumer, input.policies);
  if (copy.metadata.deletionTimestamp !== undefined) return WAIT;
  if (policy === 'Orphan') return { kind: 'orphan', end, object: copy, patch: stripRelatedMarks(copy) };
  return { kind: 'delete', end, object: copy, cause: 'retract' };
}

function conflict({ ends, kind }: RelatedInput, why: 'occupied' | 'bothCopies'): RelatedDecision {
  const { consumer, provider } = ends;
  const here = `${kind.kind} ${describeName(consumer.place ?? { name: consumer.object?.metadata.name ?? '' })}`;
  const there = provider.place === undefined ? '' : ` (${describeName(provider.place)})`;
  const message =
    why === 'occupied'
      ? `${here} is in the workspace and on the provider${there}, and neither is the other's copy. Both are left as they are. Rename or delete one of them.`
      : `${here} carries the marks of a copy in the workspace and on the provider${there}. Both are left as they are. Delete the one that is not needed.`;
  return { kind: 'conflict', message };
}
