import { runReflector } from '../../src/kube/cache/reflector.js';
import type { KubeClient } from '../../src/kube/client.js';
import type { KubeObject } from '../../src/kube/object.js';
import { createSystemClock } from '../../src/kube/system-clock.js';
import { consumerUid, DATABASES } from './databases.js';
import type { Ledger } from './ledger.js';

/** Looks at every copy of its life, as the provider's own administrator would see it. */
export class CopyWatch {
  /** Copies that were deleted though nobody had asked for it: `namespace/name`. */
  readonly lost: string[] = [];
  /** Two copies of one object at the same time. */
  readonly duplicated: string[] = [];
  readonly #ledgers: readonly Ledger[];
  /** By UID of the copy. */
  readonly #alive = new Map<string, KubeObject>();
  readonly #stop = new AbortController();
  readonly #stopped: Promise<void>;
  #listed = new Set<string>();

  /** @param client of the provider's administrator, past all proxies */
  constructor(client: KubeClient, ledgers: readonly Ledger[]) {
    this.#ledgers = ledgers;
    this.#stopped = runReflector({
      client,
      gvr: DATABASES,
      clock: createSystemClock(),
      random: Math.random,
      signal: this.#stop.signal,
      sink: {
        begin: () => (this.#listed = new Set()),
        page: (items) => {
          for (const item of items) {
            this.#listed.add(item.metadata.uid ?? '');
            this.#saw(item);
          }
        },
        commit: () => {
          for (const [uid, copy] of this.#alive) if (!this.#listed.has(uid)) this.#gone(copy);
        },
        apply: ({ type, object }) => (type === 'DELETED' ? this.#gone(object) : this.#saw(object)),
      },
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#stopped;
  }

  #saw(copy: KubeObject): void {
    const { uid = '', deletionTimestamp } = copy.metadata;
    const of = consumerUid(copy);
    if (of === undefined) return;
    if (deletionTimestamp !== undefined) this.#check(copy);
    const twin = [...this.#alive.values()].find(
      (other) => consumerUid(other) === of && other.metadata.uid !== uid,
    );
    if (twin !== undefined) this.duplicated.push(`${placeOf(copy)} and ${placeOf(twin)}`);
    this.#alive.set(uid, copy);
  }

  #gone(copy: KubeObject): void {
    if (this.#alive.delete(copy.metadata.uid ?? '')) this.#check(copy);
  }

  #check(copy: KubeObject): void {
    const of = consumerUid(copy);
    if (of === undefined || this.#ledgers.some(({ released }) => released.has(of))) return;
    if (!this.lost.includes(placeOf(copy))) this.lost.push(placeOf(copy));
  }
}

function placeOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
