import type { ExportedClaim } from '../../../backend/provider/provider-export.js';
import type { ObjectStore } from '../../../kube/cache/object-store.js';
import { parseClaimSelector, selectsNothing } from '../../engine/related/claim-selector.js';
import type { ClaimSelector } from '../../engine/related/claim-selector.js';
import type { Isolation } from '../../engine/key-mapping.js';
import { RELATED_KINDS } from '../../engine/related/related-kinds.js';
import type { RelatedKind } from '../../engine/related/related-kinds.js';
import type { AcceptedClaim } from '../../protocol/assignment.js';
import type { SyncPolicy, SyncStats } from '../resource-sync.js';
import type { RelatedResourceSync } from './related-sync.js';

/** One claimed resource of a binding. */
export interface RelatedTarget {
  readonly kind: RelatedKind;
  readonly selectors: readonly ClaimSelector[];
  readonly accepted: boolean;
  readonly isolation: Isolation;
}

/**
 * What there is to do about related resources: each that the export claims or that consent was given to. What an
 * export claims beyond that moves nothing. Pure.
 *
 * @param found undefined where the provider cannot be asked
 */
export function relatedTargets(
  found: { readonly permissionClaims: readonly ExportedClaim[]; readonly isolation: Isolation } | undefined,
  accepted: readonly AcceptedClaim[],
): readonly RelatedTarget[] {
  const targets: RelatedTarget[] = [];
  for (const kind of RELATED_KINDS) {
    const { group, resource } = kind.gvr;
    const same = (claim: AcceptedClaim): boolean => claim.group === group && claim.resource === resource;
    const selectors = (found?.permissionClaims ?? [])
      .filter(same)
      .map(({ selector }) => parseClaimSelector(selector));
    const agreed = accepted.some(same);
    if (selectors.length === 0 && !agreed) continue;
    // A claim that selects nothing moves nothing: the workspace is not even read for it.
    const moves = found === undefined || !selectors.every(selectsNothing);
    targets.push({ kind, selectors, accepted: agreed && moves, isolation: found?.isolation ?? 'Prefixed' });
  }
  return targets;
}

export type OpenRelated = (
  target: RelatedTarget,
  policy: SyncPolicy,
  knownCopies: readonly string[],
) => RelatedResourceSync;

interface Open {
  readonly shape: string;
  readonly sync: RelatedResourceSync;
}

/** The claimed resources of one binding, each synced by itself. */
export class RelatedSyncs {
  readonly #open: OpenRelated;
  readonly #syncs = new Map<string, Open>();
  #draining = false;
  /** Ends when every sync that was replaced has stopped. */
  #closing: Promise<unknown> = Promise.resolve();

  constructor(open: OpenRelated) {
    this.#open = open;
  }

  /**
   * Brings what runs in line with claims and consent. A claim whose consent was given or withdrawn is opened anew; one
   * that is not among the targets any more goes on as it is.
   */
  async reconcile(
    targets: readonly RelatedTarget[],
    policy: SyncPolicy,
    originals: ReadonlyMap<string, ObjectStore>,
  ): Promise<void> {
    for (const { sync } of this.#syncs.values()) sync.update(policy);
    for (const target of targets) {
      const key = target.kind.gvr.resource;
      const shape = shapeOf(target);
      const current = this.#syncs.get(key);
      if (current?.shape === shape) continue;
      const known = current?.sync.copiesInWorkspace() ?? [];
      this.#syncs.delete(key);
      await current?.sync.close();
      const sync = this.#open(target, policy, known);
      this.#syncs.set(key, { shape, sync });
      sync.start();
      if (this.#draining) sync.drain();
    }
    for (const { sync } of this.#syncs.values()) sync.attach(originals);
  }

  drain(): void {
    this.#draining = true;
    for (const { sync } of this.#syncs.values()) sync.drain();
  }

  stats(): readonly SyncStats[] {
    return [...this.#syncs.values()].map(({ sync }) => sync.stats());
  }

  /** Stops all at once; idempotent. New ones may be opened afterwards. */
  async close(): Promise<void> {
    const open = [...this.#syncs.values()];
    this.#syncs.clear();
    this.#draining = false;
    const closing = Promise.all([this.#closing, ...open.map(({ sync }) => sync.close())]);
    this.#closing = closing;
    await closing;
  }
}

function shapeOf({ selectors, accepted, isolation }: RelatedTarget): string {
  const plain = selectors.map((selector) => ({
    ...selector,
    labels: selector.labels?.map((each) => ({ ...each, values: [...each.values] })),
  }));
  return JSON.stringify({ plain, accepted, isolation });
}
