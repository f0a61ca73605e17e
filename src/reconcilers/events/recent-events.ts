import type { KubeObject } from '../../kube/object.js';

interface Recent {
  /** Milliseconds since the epoch at which it may be written again. */
  dueAt: number;
  /** Times that it happened since it was last written. */
  pending: number;
  stored: KubeObject | undefined;
}

const MAX_REMEMBERED = 4_096;

/** What was said lately, bounded; the longest unsaid is forgotten first. */
export class RecentEvents {
  readonly #bumpMs: number;
  readonly #events = new Map<string, Recent>();

  constructor(bumpMs: number) {
    this.#bumpMs = bumpMs;
  }

  /** Counts the event; true when it is to be written now. */
  isDue(key: string, now: number): boolean {
    const known = this.#events.get(key);
    const event = known ?? { dueAt: 0, pending: 0, stored: undefined };
    event.pending += 1;
    this.#events.delete(key);
    this.#events.set(key, event);
    if (this.#events.size > MAX_REMEMBERED) {
      const [oldest] = this.#events.keys();
      if (oldest !== undefined) this.#events.delete(oldest);
    }
    if (now < event.dueAt) return false;
    event.dueAt = now + this.#bumpMs;
    return true;
  }

  /** How often it happened since it was last written. */
  take(key: string): number {
    const event = this.#events.get(key);
    const pending = Math.max(1, event?.pending ?? 1);
    if (event !== undefined) event.pending = 0;
    return pending;
  }

  stored(key: string): KubeObject | undefined {
    return this.#events.get(key)?.stored;
  }

  wrote(key: string, object: KubeObject): void {
    const event = this.#events.get(key);
    if (event !== undefined) event.stored = object;
  }

  replaced(before: KubeObject, after: KubeObject): void {
    for (const event of this.#events.values()) if (event.stored === before) event.stored = after;
  }
}
