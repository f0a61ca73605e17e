import type { ObjectKeyText } from '../../../kube/cache/object-key.js';
import type { Clock } from '../../../kube/clock.js';
import type { KubeObject } from '../../../kube/object.js';
import { ObjectFailure } from '../objects/object-failure.js';
import type { Trouble } from '../objects/object-failure.js';
import type { PassOutcome } from '../objects/pass-outcome.js';
import type { ObjectRecord } from '../objects/object-records.js';
import type { ObjectTeller } from '../objects/object-teller.js';
import { GateClosedError } from '../objects/side-gate.js';
import type { RelatedPass } from './related-pass.js';

export interface RelatedWorkOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly pass: Pick<RelatedPass, 'run'>;
  readonly teller: ObjectTeller;
  /** The workspace's object under a key, for events. */
  readonly cached: (key: ObjectKeyText) => KubeObject | undefined;
}

/** Several objects that wait for the same server do not come back in the same moment, milliseconds. */
const GATE_JITTER_MS = 500;

/** Works on one key and keeps the key's record. */
export class RelatedWork {
  readonly #options: RelatedWorkOptions;

  constructor(options: RelatedWorkOptions) {
    this.#options = options;
  }

  /** Rejects where the key has to come back after its own back-off. */
  async run(key: ObjectKeyText, record: ObjectRecord): Promise<PassOutcome> {
    const { clock, random, pass } = this.#options;
    const held = record.heldUntil - clock.now();
    if (held > 0) return { kind: 'waiting', retryInMs: held };
    record.released = false;
    try {
      const outcome = await pass.run(key, record);
      record.pending = outcome.kind === 'waiting';
      const trouble = outcome.kind === 'waiting' ? outcome.trouble : undefined;
      if (trouble !== undefined) this.#fails(key, record, trouble);
      else {
        // A trouble that comes back later is worth another event.
        if (record.failing !== undefined) record.told = undefined;
        record.failing = undefined;
      }
      return outcome;
    } catch (error) {
      record.pending = true;
      if (error instanceof GateClosedError)
        return { kind: 'waiting', retryInMs: error.retryInMs + random() * GATE_JITTER_MS };
      if (error instanceof ObjectFailure) this.#fails(key, record, error.trouble);
      throw error;
    }
  }

  #fails(key: ObjectKeyText, record: ObjectRecord, trouble: Trouble): void {
    record.failing = trouble;
    const object = this.#options.cached(key);
    if (object !== undefined) this.#options.teller.tell(record, object, 'Warning', trouble);
  }
}
