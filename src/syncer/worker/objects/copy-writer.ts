import type { KubeObject, ObjectName } from '../../../kube/object.js';
import { preparations } from '../../engine/decide-up.js';
import type { UpdateCopy } from '../../engine/decide-up.js';
import { guardedPatch } from '../../engine/consumer-patch.js';
import type { GuardedPatch } from '../../engine/consumer-patch.js';
import { CONTEST_WINDOW_MS, CORRECTIONS, NO_CONTEST, corrected } from '../../engine/contest.js';
import type { DesiredCopy } from '../../engine/desired-copy.js';
import { toFieldPath } from '../../engine/json-pointer.js';
import type { JsonPath } from '../../engine/json-pointer.js';
import { joinedForeignObject, judgeAnswer } from '../../engine/judge-answer.js';
import type { AnswerVerdict } from '../../engine/judge-answer.js';
import { MAX_LOST_FIELDS } from '../../engine/lost-fields.js';
import { entriesInVersion, ourOwnership } from '../../engine/managed-fields.js';
import type { ObjectMemory } from '../../engine/object-memory.js';
import { removalsBeforeApply } from '../../engine/residue.js';
import type { Trouble } from './object-failure.js';
import type { ProviderCalls } from './provider-calls.js';
import type { Side } from './side.js';

/** What became of the write of a copy. */
export interface WriteResult {
  /** The copy as the server has it now; undefined: read it again, the write did not take place. */
  readonly copy: KubeObject | undefined;
  readonly memory: ObjectMemory;
  /** What the server did not take as it was meant. */
  readonly notice: Trouble | undefined;
}

export interface CopyWrite {
  readonly target: ObjectName;
  readonly desired: DesiredCopy;
  readonly memory: ObjectMemory;
  readonly consumerGeneration: number;
  /** The same was sent before: counts as a correction. */
  readonly repeated: boolean;
  readonly now: number;
}

/** Makes copies and changes them, and sees to it that the server has what was meant. */
export class CopyWriter {
  readonly #calls: ProviderCalls;
  readonly #side: Side;

  constructor(calls: ProviderCalls, side: Side) {
    this.#calls = calls;
    this.#side = side;
  }

  async create(write: CopyWrite): Promise<WriteResult> {
    const { target, desired } = write;
    return this.#withKnownFields(write, false, async () => {
      const answer = await this.#calls.create(target, desired);
      if (joinedForeignObject(answer)) {
        await this.#calls.withdraw(target, answer);
        return { copy: undefined, memory: write.memory, notice: undefined };
      }
      return this.#settle(write, answer);
    });
  }

  async update(write: CopyWrite, decision: UpdateCopy): Promise<WriteResult> {
    const { target, desired } = write;
    return this.#withKnownFields(write, true, async () => {
      let { resourceVersion } = decision;
      const prepared = await this.#prepare(target, decision.prepare);
      if (prepared !== undefined && resourceVersion !== undefined)
        resourceVersion = prepared.metadata.resourceVersion;
      const answer = await this.#calls.update(target, desired, { uid: decision.uid, resourceVersion });
      return this.#settle(write, answer);
    });
  }

  /** Compares the answer with what was meant, sends it once more where that may help, and remembers. */
  async #settle(write: CopyWrite, first: KubeObject): Promise<WriteResult> {
    const { desired, target } = write;
    let answer = first;
    let verdict = judgeAnswer(desired, answer);
    if (verdict.kind === 'otherwise' && verdict.repairable) {
      const owned = ourOwnership(first)?.root;
      const patches = preparations(first, (mode) => removalsBeforeApply(desired.object, first, owned, mode));
      answer = (await this.#prepare(target, patches)) ?? answer;
      answer = await this.#calls.update(target, desired, { uid: answer.metadata.uid ?? '' });
      verdict = judgeAnswer(desired, answer);
    }
    return {
      copy: answer,
      memory: remember(write, answer, verdict),
      notice: noticeOf(verdict, write),
    };
  }

  /** Makes the first patch that the server does not refuse. */
  async #prepare(
    target: ObjectName,
    [patch, ...others]: readonly GuardedPatch[],
  ): Promise<KubeObject | undefined> {
    if (patch === undefined) return undefined;
    try {
      return await this.#calls.patch(target, patch);
    } catch (error) {
      if (others.length === 0 || this.#side.classify(error, target) !== 'refused') throw error;
      return this.#prepare(target, others);
    }
  }

  /**
   * A server refuses an apply as a whole, with a bare 500, when its schema lacks one of the fields, or when it has
   * stopped to serve the version under which somebody is entered in managedFields. Finds out which fields, so that the
   * next decision leaves them out, or moves the entries.
   */
  async #withKnownFields(
    write: CopyWrite,
    exists: boolean,
    attempt: () => Promise<WriteResult>,
  ): Promise<WriteResult> {
    const { target, desired, memory } = write;
    try {
      return await attempt();
    } catch (error) {
      if (this.#side.classify(error, target) !== 'unexplained') throw error;
      const known = memory.unsent?.hash === desired.wholeHash ? memory.unsent.paths : [];
      const paths = await this.#calls.unknownFields(target, desired, exists);
      if (paths.length === 0 && exists && (await this.#moveEntries(target))) return attempt();
      // Nothing (more) to leave out: the trouble is something else.
      if (paths.length === 0 || known.length >= MAX_LOST_FIELDS) throw error;
      const unsent = { hash: desired.wholeHash, paths: [...known, ...paths] };
      return { copy: undefined, memory: { ...memory, unsent }, notice: undefined };
    }
  }

  /** False where all entries are in the version of the copy already. */
  async #moveEntries(target: ObjectName): Promise<boolean> {
    const copy = await this.#calls.read(target);
    const operations = copy === undefined ? [] : entriesInVersion(copy);
    if (copy === undefined || operations.length === 0) return false;
    await this.#calls.patch(target, guardedPatch(copy, operations));
    return true;
  }
}

function remember(write: CopyWrite, answer: KubeObject, verdict: AnswerVerdict): ObjectMemory {
  const { memory, desired, consumerGeneration, repeated, now } = write;
  const { uid = '', generation: copyGeneration } = answer.metadata;
  // A copy that was made anew counts its generations anew.
  const sameEdit = memory.applied?.consumerGeneration === consumerGeneration && memory.applied.uid === uid;
  const applied =
    sameEdit || copyGeneration === undefined ? memory.applied : { uid, consumerGeneration, copyGeneration };
  const rest = { ...memory };
  delete rest.accepted;
  return {
    ...rest,
    sent: desired.hash,
    ...(verdict.kind === 'otherwise' && {
      accepted: { hash: desired.hash, fingerprint: verdict.fingerprint },
    }),
    ...(applied !== undefined && { applied }),
    ...(repeated && { contest: corrected(memory.contest ?? NO_CONTEST, now) }),
  };
}

/** What the user should know about the copy as it is now. */
function noticeOf(verdict: AnswerVerdict, { memory, desired }: CopyWrite): Trouble | undefined {
  const left = memory.unsent?.hash === desired.wholeHash ? memory.unsent.paths : [];
  const unsent = describePaths(left);
  if (verdict.kind === 'otherwise' && verdict.repairable) {
    const fields = [...unsent, ...verdict.fields].join(', ');
    return verdict.reason === 'Pruned'
      ? { reason: 'Pruned', message: prunedMessage(fields) }
      : {
          reason: 'Mutated',
          message: `The provider keeps other values than this object has: ${fields}. Ask the provider what it allows there.`,
        };
  }
  if (unsent.length === 0) return undefined;
  return { reason: 'Pruned', message: prunedMessage(unsent.join(', ')) };
}

function prunedMessage(fields: string): string {
  return `The provider does not know these fields and leaves them out: ${fields}. Remove them, or ask the provider to update its API.`;
}

/** Positions in lists do not matter to people here, so equal paths count once. */
function describePaths(paths: readonly JsonPath[]): readonly string[] {
  const MAX = 10;
  const fields = [...new Set(paths.map(toFieldPath))];
  return fields.length > MAX ? [...fields.slice(0, MAX), `${String(fields.length - MAX)} more`] : fields;
}

/** Said when a copy is changed by somebody else again and again. */
export function contestedTrouble(fields: readonly string[]): Trouble {
  const what = fields.length === 0 ? 'the copy is removed' : fields.join(', ');
  return {
    reason: 'Contested',
    message:
      `Somebody on the provider keeps changing what this object says (${what}); it was put right ` +
      `${String(CORRECTIONS)} times within ${String(CONTEST_WINDOW_MS / 60_000)} minutes and is left alone for a while. ` +
      'Ask the provider, or leave those fields out here.',
  };
}
