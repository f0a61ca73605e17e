import type { ObjectKeyText } from '../../../kube/cache/object-key.js';
import { parseKey } from '../../../kube/cache/object-key.js';
import type { Clock } from '../../../kube/clock.js';
import type { KubeObject, ObjectName } from '../../../kube/object.js';
import { decideAbsence } from '../../engine/decide-absence.js';
import { placeOfCopy } from '../../engine/decide-up.js';
import type { SyncContext } from '../../engine/sync-context.js';
import type { AnswersAhead } from './answers-ahead.js';
import type { ConsumerCalls } from './consumer-calls.js';
import type { PassOutcome } from './pass-outcome.js';
import type { ObjectRecord } from './object-records.js';
import type { ProviderCalls } from './provider-calls.js';

export interface AbsencePassOptions {
  readonly clock: Clock;
  readonly graceMs: number;
  readonly context: () => SyncContext;
  /** What the consumer's cache does not show counts only when it has completed a list. */
  readonly consumerSynced: () => boolean;
  readonly consumer: Pick<ConsumerCalls, 'isGone'>;
  readonly provider: {
    readonly calls: Pick<ProviderCalls, 'delete' | 'patch'>;
    readonly ahead: AnswersAhead;
    readonly cached: (target: ObjectName) => KubeObject | undefined;
  };
}

/** Looks after a copy whose consumer object is not to be seen. */
export class AbsencePass {
  readonly #options: AbsencePassOptions;

  constructor(options: AbsencePassOptions) {
    this.#options = options;
  }

  async run(key: ObjectKeyText, record: ObjectRecord): Promise<PassOutcome> {
    const { clock, graceMs, context, consumerSynced, consumer, provider } = this.#options;
    const { name, namespace } = parseKey(key);
    const consumerName: ObjectName = namespace === undefined ? { name } : { namespace, name };
    const { target } = placeOfCopy(consumerName, context());
    if (!consumerSynced()) return { kind: 'waiting' };
    record.missingSince ??= clock.now();
    const copy = provider.ahead.current(key, provider.cached(target));
    const input = { copy, context: context(), since: record.missingSince, graceMs };
    let decision = decideAbsence({ ...input, now: clock.now(), proof: 'none' });
    if (decision.kind === 'prove') {
      if (!(await consumer.isGone(consumerName))) {
        // It is there after all; a later list has to show it, or the proof is asked for again.
        record.missingSince = clock.now();
        return { kind: 'waiting', retryInMs: graceMs };
      }
      decision = decideAbsence({ ...input, now: clock.now(), proof: 'gone' });
    }
    switch (decision.kind) {
      case 'none':
        return { kind: 'settled' };
      case 'paused':
      case 'waitGone':
      case 'prove':
        return { kind: 'waiting' };
      case 'wait':
        return { kind: 'waiting', retryInMs: decision.retryInMs };
      case 'deleteCopy':
        await this.#delete(key, target, decision.uid);
        return { kind: 'waiting' };
      case 'orphanCopy': {
        const { patch } = decision;
        await this.#track(key, target, () => provider.calls.patch(target, patch));
        return { kind: 'settled' };
      }
    }
  }

  async #delete(key: ObjectKeyText, target: ObjectName, uid: string): Promise<void> {
    const { calls, ahead, cached } = this.#options.provider;
    const answer = await this.#track(key, target, () => calls.delete(target, uid));
    if (answer === undefined) ahead.gone(key, cached(target));
  }

  #track<T extends KubeObject | undefined>(
    key: ObjectKeyText,
    target: ObjectName,
    write: () => Promise<T>,
  ): Promise<T> {
    const { ahead, cached } = this.#options.provider;
    return ahead.track(key, () => cached(target), write);
  }
}
