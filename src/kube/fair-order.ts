import { Fifo } from './fifo.js';

interface Group<K> {
  readonly keys: Fifo<K>;
  /** Keys handed out and not yet released. */
  out: number;
  /** Stands in the round: has keys, and fewer than the limit are out. */
  inRound: boolean;
}

/**
 * Order of waiting keys: first come first served within a group, groups in turns. So a group with ten
 * thousand keys delays a group with one key by one key, not by ten thousand.
 */
export class FairOrder<K> {
  readonly #groupOf: (key: K) => string;
  readonly #maxOut: number;
  readonly #groups = new Map<string, Group<K>>();
  readonly #round = new Fifo<string>();

  /** @param maxOut keys of one group that may be out at a time, at least 1 */
  constructor(groupOf: (key: K) => string, maxOut: number) {
    this.#groupOf = groupOf;
    this.#maxOut = Math.max(1, maxOut);
  }

  push(key: K): void {
    const name = this.#groupOf(key);
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { keys: new Fifo(), out: 0, inRound: false };
      this.#groups.set(name, group);
    }
    group.keys.push(key);
    this.#enter(name, group);
  }

  /** The next key, which is out from now on; undefined where none waits or all groups are at their limit. */
  shift(): K | undefined {
    const name = this.#round.shift();
    const group = name === undefined ? undefined : this.#groups.get(name);
    if (name === undefined || group === undefined) return undefined;
    const key = group.keys.shift();
    group.inRound = false;
    group.out += 1;
    this.#enter(name, group);
    return key;
  }

  /** A key that was handed out is back. */
  release(key: K): void {
    const name = this.#groupOf(key);
    const group = this.#groups.get(name);
    if (group === undefined) return;
    group.out -= 1;
    if (group.out === 0 && group.keys.size === 0) this.#groups.delete(name);
    else this.#enter(name, group);
  }

  #enter(name: string, group: Group<K>): void {
    if (group.inRound || group.keys.size === 0 || group.out >= this.#maxOut) return;
    group.inRound = true;
    this.#round.push(name);
  }
}
