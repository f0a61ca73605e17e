import type { End } from '../../engine/related/related-copy.js';

/** After an object that was seen has gone from view, milliseconds. Who deletes one often makes it anew at once. */
const SEEN_GRACE_MS = 5000;
/**
 * For an object that was never seen, milliseconds. A claim that has just been accepted shows objects one after the
 * other, as kcp gets to label them, and until then answers as if they did not exist.
 */
const UNSEEN_GRACE_MS = 20_000;

/** From when on it may be asked whether an object that is not to be seen is gone. */
export class Absences {
  readonly #graceMs: number;
  readonly #provableAt: Readonly<Record<End, Map<string, number>>> = {
    consumer: new Map(),
    provider: new Map(),
  };

  /** @param graceMs what the operator asks for: no more for what was seen, no less for what was not */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** The object is there. */
  present(key: string, end: End): void {
    this.#provableAt[end].delete(key);
  }

  /** The object was there and is not shown any more. */
  vanished(key: string, end: End, now: number): void {
    this.#provableAt[end].set(key, now + Math.min(this.#graceMs, SEEN_GRACE_MS));
  }

  /** It was asked for and is there, though nothing shows it: later again. */
  refuted(key: string, end: End, now: number): void {
    this.#provableAt[end].set(key, now + this.#patienceMs);
  }

  provableAt(key: string, end: End, now: number): number {
    const known = this.#provableAt[end].get(key);
    if (known !== undefined) return known;
    const at = now + this.#patienceMs;
    this.#provableAt[end].set(key, at);
    return at;
  }

  forget(key: string): void {
    this.present(key, 'consumer');
    this.present(key, 'provider');
  }

  get #patienceMs(): number {
    return Math.max(this.#graceMs, UNSEEN_GRACE_MS);
  }
}
