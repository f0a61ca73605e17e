import type { SyncerPool } from '../syncer/protocol/pool.js';
import type { BindingReport } from '../syncer/protocol/report.js';

/** Reasons of `Syncing` with which a worker may not have seen all copies yet. */
const UNSETTLED: readonly string[] = [
  'Pending',
  'WorkerFailed',
  'ProviderForbidden',
  'ProviderUnreachable',
  'ConsumerUnreachable',
];

/**
 * Reports of the pool, remembered over a change of the assignment: while the worker has not answered to a
 * renewed token, what it said before is still the best that is known.
 */
export class Reports {
  readonly #pool: SyncerPool;
  readonly #last = new Map<string, BindingReport>();
  readonly #namespaces = new Map<string, readonly string[]>();

  constructor(pool: SyncerPool) {
    this.#pool = pool;
  }

  /** About the newest revision of the assignment; what decides "drained" and "left". */
  fresh(key: string): BindingReport | undefined {
    return this.#pool.report(key);
  }

  /** About any revision; what conditions are made from. */
  latest(key: string): BindingReport | undefined {
    const fresh = this.#pool.report(key);
    if (fresh === undefined) return this.#last.get(key);
    const before = this.#last.get(key);
    // A worker that was just started knows nothing of what the one before it had read.
    const merged = before === undefined ? fresh : { ...keep(before), ...fresh };
    this.#last.set(key, merged);
    const reason = fresh.conditions.Syncing?.reason;
    if (reason !== undefined && !UNSETTLED.includes(reason)) this.#namespaces.set(key, fresh.namespaces);
    return merged;
  }

  /** Namespaces with copies, from the last report that knew all of them. Undefined: none has, so far. */
  namespaces(key: string): readonly string[] | undefined {
    this.latest(key);
    return this.#namespaces.get(key);
  }

  forget(key: string): void {
    this.#last.delete(key);
    this.#namespaces.delete(key);
  }
}

/** What was read from the provider and stays true until something else is read. */
function keep({ contractNamespaceUid, provider, schemas, claims }: BindingReport): Partial<BindingReport> {
  return {
    ...(contractNamespaceUid === undefined ? {} : { contractNamespaceUid }),
    ...(provider === undefined ? {} : { provider }),
    ...(schemas === undefined ? {} : { schemas }),
    ...(claims === undefined ? {} : { claims }),
  };
}
