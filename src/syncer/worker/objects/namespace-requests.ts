import type { Clock } from '../../../kube/clock.js';

/** A namespace that was asked for and is not there yet is asked for again after this long, in milliseconds. */
const REPEAT_MS = 60_000;

interface Asked {
  /** When it was asked for last, and first since it was not there. */
  readonly at: number;
  readonly since: number;
  readonly answer: Promise<void>;
}

/** Asks the provider for namespaces, each once however many objects wait for it. */
export class NamespaceRequests {
  readonly #clock: Clock;
  readonly #ensure: (consumerNamespace: string) => Promise<void>;
  readonly #asked = new Map<string, Asked>();

  constructor(clock: Clock, ensure: (consumerNamespace: string) => Promise<void>) {
    this.#clock = clock;
    this.#ensure = ensure;
  }

  /**
   * Resolves when the provider has taken the request; rejects, for all that wait, as the request does.
   *
   * @returns milliseconds for which the namespace has been waited for
   */
  async ask(consumerNamespace: string): Promise<number> {
    const now = this.#clock.now();
    const known = this.#asked.get(consumerNamespace);
    if (known !== undefined && now - known.at < REPEAT_MS) {
      await known.answer;
      return now - known.since;
    }
    const answer = this.#ensure(consumerNamespace);
    const since = known?.since ?? now;
    this.#asked.set(consumerNamespace, { at: now, since, answer });
    // A failed one may be repeated at once: each object that waits has its own back-off.
    answer.catch(() => this.#asked.delete(consumerNamespace));
    await answer;
    return now - since;
  }

  /** The namespace is there, or is gone again. */
  forget(consumerNamespace: string): void {
    this.#asked.delete(consumerNamespace);
  }
}
