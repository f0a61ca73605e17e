import type { Clock } from '../../../kube/clock.js';

/** A namespace that was asked for and is not there yet is asked for again after this long, in milliseconds. */
const REPEAT_MS = 60_000;

/** Asks the provider for namespaces, each once however many objects wait for it. */
export class NamespaceRequests {
  readonly #clock: Clock;
  readonly #ensure: (consumerNamespace: string) => Promise<void>;
  readonly #asked = new Map<string, { readonly at: number; readonly answer: Promise<void> }>();

  constructor(clock: Clock, ensure: (consumerNamespace: string) => Promise<void>) {
    this.#clock = clock;
    this.#ensure = ensure;
  }

  /** Resolves when the provider has taken the request; rejects, for all that wait, as the request does. */
  ask(consumerNamespace: string): Promise<void> {
    const now = this.#clock.now();
    const known = this.#asked.get(consumerNamespace);
    if (known !== undefined && now - known.at < REPEAT_MS) return known.answer;
    const answer = this.#ensure(consumerNamespace);
    this.#asked.set(consumerNamespace, { at: now, answer });
    // A failed one may be repeated at once: each object that waits has its own back-off.
    answer.catch(() => this.#asked.delete(consumerNamespace));
    return answer;
  }

  /** The namespace is there, or is gone again. */
  forget(consumerNamespace: string): void {
    this.#asked.delete(consumerNamespace);
  }
}
