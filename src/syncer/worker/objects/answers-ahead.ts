import type { Clock } from '../../../kube/clock.js';
import type { StoreChange } from '../../../kube/cache/object-store.js';
import type { KubeObject } from '../../../kube/object.js';

/** Longer than any watch lags behind a write while it is healthy, in milliseconds. */
const MAX_AHEAD_MS = 10_000;

interface Ahead {
  /** Undefined: the object with that uid is gone. */
  readonly object: KubeObject | undefined;
  readonly uid: string | undefined;
  readonly until: number;
}

/**
 * Answers to our own requests that the watch has not shown yet. Without them the next look at the cache would
 * find the state before a write, and the same write would be made again. Versions are opaque: an answer is
 * caught up with when the watch shows that very version, or (a list jumped over it) after ten seconds.
 */
export class AnswersAhead {
  readonly #clock: Clock;
  readonly #ahead = new Map<string, Ahead>();
  /** Versions that the watch showed while a write for a key was under way. */
  readonly #shown = new Map<string, Set<string>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What is known about a key: the answer where it is ahead, else what the cache has. */
  current(key: string, cached: KubeObject | undefined): KubeObject | undefined {
    const ahead = this.#ahead.get(key);
    if (ahead === undefined) return cached;
    if (ahead.until > this.#clock.now() && !isOvertaken(ahead, cached)) return ahead.object;
    this.#ahead.delete(key);
    return cached;
  }

  /** Makes a write whose answer counts until the watch has caught up. Writes of one key never overlap. */
  async track<T extends KubeObject | undefined>(
    key: string,
    cached: () => KubeObject | undefined,
    write: () => Promise<T>,
  ): Promise<T> {
    const shown = new Set<string>();
    this.#shown.set(key, shown);
    try {
      const answer = await write();
      if (answer === undefined) return answer;
      const { uid } = answer.metadata;
      if (shown.has(versionOf(answer)) || sameVersion(answer, cached())) this.#ahead.delete(key);
      else this.#ahead.set(key, { object: answer, uid, until: this.#clock.now() + MAX_AHEAD_MS });
      return answer;
    } finally {
      this.#shown.delete(key);
    }
  }

  /** A read said that the object is not there, while the cache may still have it. */
  gone(key: string, cached: KubeObject | undefined): void {
    if (cached === undefined) return;
    const { uid } = cached.metadata;
    this.#ahead.set(key, { object: undefined, uid, until: this.#clock.now() + MAX_AHEAD_MS });
  }

  /** To be called for each change of the cache, before anybody looks. */
  observe(key: string, change: StoreChange): void {
    const object = change.type === 'set' ? change.object : change.previous;
    this.#shown.get(key)?.add(versionOf(object));
    const ahead = this.#ahead.get(key);
    if (ahead === undefined) return;
    const caughtUp = change.type === 'set' ? isOvertaken(ahead, object) : ahead.uid === object.metadata.uid;
    if (caughtUp) this.#ahead.delete(key);
  }

  /** The answer turned out to be old. */
  forget(key: string): void {
    this.#ahead.delete(key);
  }
}

/** The cache has what was answered; or, after a disappearance, another object of that name. */
function isOvertaken(ahead: Ahead, cached: KubeObject | undefined): boolean {
  if (ahead.object === undefined) return cached === undefined || cached.metadata.uid !== ahead.uid;
  return cached !== undefined && sameVersion(ahead.object, cached);
}

function versionOf(object: KubeObject): string {
  return `${object.metadata.uid ?? ''}@${object.metadata.resourceVersion ?? ''}`;
}

function sameVersion(a: KubeObject, b: KubeObject | undefined): boolean {
  return b !== undefined && versionOf(a) === versionOf(b);
}
