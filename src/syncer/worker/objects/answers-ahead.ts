import type { Clock } from '../../../kube/clock.js';
import type { StoreChange } from '../../../kube/cache/object-store.js';
import type { KubeObject } from '../../../kube/object.js';

/** Longer than any watch lags behind a write while it is healthy, in milliseconds. */
const MAX_AHEAD_MS = 10_000;

interface Ahead {
  /** Undefined: the object with that uid is gone. */
  readonly object: KubeObject | undefined;
  readonly uid: string | undefined;
  /** Ends the waiting for the watch. */
  readonly cancel: () => void;
}

/**
 * Answers to our own requests that the watch has not shown yet. Without them the next look at the cache would
 * find the state before a write, and the same write would be made again. Versions are opaque: an answer is
 * caught up with when the watch shows that very version, or (a list jumped over it) after ten seconds.
 *
 * Keys are those of the consumer's objects, for answers of both sides.
 */
export class AnswersAhead {
  readonly #clock: Clock;
  readonly #onOld: (key: string) => void;
  readonly #ahead = new Map<string, Ahead>();
  /** Versions that the watch showed while a write for a key was under way. */
  readonly #shown = new Map<string, Set<string>>();

  /** @param onOld the watch did not show what was answered: what the cache has counts again */
  constructor(clock: Clock, onOld: (key: string) => void) {
    this.#clock = clock;
    this.#onOld = onOld;
  }

  /** What is known about a key: the answer where it is ahead, else what the cache has. */
  current(key: string, cached: KubeObject | undefined): KubeObject | undefined {
    const ahead = this.#ahead.get(key);
    if (ahead === undefined) return cached;
    if (!isOvertaken(ahead, cached)) return ahead.object;
    this.forget(key);
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
      if (shown.has(endOf(answer))) this.forget(key);
      else if (isEnded(answer)) this.#set(key, answer.metadata.uid, undefined);
      else if (shown.has(versionOf(answer)) || sameVersion(answer, cached())) this.forget(key);
      else this.#set(key, answer.metadata.uid, answer);
      return answer;
    } finally {
      this.#shown.delete(key);
    }
  }

  /** A read said that the object is not there, while the cache may still have it. */
  gone(key: string, cached: KubeObject | undefined): void {
    if (cached !== undefined) this.#set(key, cached.metadata.uid, undefined);
  }

  /** To be called for each change of the cache, before anybody looks. */
  observe(key: string, change: StoreChange): void {
    const object = change.type === 'set' ? change.object : change.previous;
    this.#shown.get(key)?.add(change.type === 'set' ? versionOf(object) : endOf(object));
    const ahead = this.#ahead.get(key);
    if (ahead === undefined) return;
    const caughtUp = change.type === 'set' ? isOvertaken(ahead, object) : ahead.uid === object.metadata.uid;
    if (caughtUp) this.forget(key);
  }

  /** The answer turned out to be old. */
  forget(key: string): void {
    this.#ahead.get(key)?.cancel();
    this.#ahead.delete(key);
  }

  /** Forgets all; idempotent. */
  close(): void {
    for (const key of [...this.#ahead.keys()]) this.forget(key);
  }

  #set(key: string, uid: string | undefined, object: KubeObject | undefined): void {
    this.forget(key);
    const cancel = this.#clock.after(MAX_AHEAD_MS, () => {
      this.#ahead.delete(key);
      this.#onOld(key);
    });
    this.#ahead.set(key, { object, uid, cancel });
  }
}

/**
 * A server answers the write that takes the last finalizer off a terminating object with an object that is no
 * more, under the resourceVersion from before [measured].
 */
function isEnded({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
}

/** The cache has what was answered; or, after a disappearance, another object of that name. */
function isOvertaken(ahead: Ahead, cached: KubeObject | undefined): boolean {
  if (ahead.object === undefined) return cached === undefined || cached.metadata.uid !== ahead.uid;
  return cached !== undefined && sameVersion(ahead.object, cached);
}

/** Stands for the end of an object among its versions. */
function endOf(object: KubeObject): string {
  return `${object.metadata.uid ?? ''}@end`;
}

function versionOf(object: KubeObject): string {
  return `${object.metadata.uid ?? ''}@${object.metadata.resourceVersion ?? ''}`;
}

function sameVersion(a: KubeObject, b: KubeObject | undefined): boolean {
  return b !== undefined && versionOf(a) === versionOf(b);
}
