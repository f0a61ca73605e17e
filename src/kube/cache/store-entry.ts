import type { KubeObject } from '../object.js';
import type { ObjectKey } from './object-store.js';
import type { Tenancy } from './tenancy.js';

/** One reflector's part in a store. */
export interface Source {
  readonly id: string;
  readonly tenancy: Tenancy;
  /** Number of the list that runs or ran last; a view with a lower one was not in it. */
  round: number;
  /** The store's epoch when the running list began. */
  beganIn: number;
  /** The store's epoch when the last complete list began; -1 before the first. */
  completeSince: number;
  /** The store's epoch that began with the source's removal; undefined while it is part of the store. */
  removedIn: number | undefined;
}

/** An object as one source showed it last. */
export interface View {
  readonly source: Source;
  object: KubeObject;
  round: number;
}

/** What the store knows under one key. */
export interface Entry {
  readonly key: ObjectKey;
  /** The view that counts: of the source that was the last to begin showing the key. */
  view: View;
  /** Views of other sources that show it too, the newest last: a workspace on its way to another shard. */
  others: View[];
}

export function newSource(id: string, tenancy: Tenancy): Source {
  return { id, tenancy, round: 0, beganIn: 0, completeSince: -1, removedIn: undefined };
}

export function viewOf(entry: Entry, source: Source): View | undefined {
  return entry.view.source === source ? entry.view : entry.others.find((view) => view.source === source);
}

/** True where both are the same state of the same object, as one server numbers it. Equality only. */
export function sameVersion(left: KubeObject, right: KubeObject): boolean {
  const { uid, resourceVersion } = left.metadata;
  return (
    resourceVersion !== undefined &&
    uid === right.metadata.uid &&
    resourceVersion === right.metadata.resourceVersion
  );
}
