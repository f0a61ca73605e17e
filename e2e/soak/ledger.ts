/** One object as its user wants it. */
export interface Wanted {
  readonly uid: string;
  sizeGiB: number;
}

/** What one tenant's user has asked for: the truth that everything else is compared with. */
export class Ledger {
  /** By name. */
  readonly wanted = new Map<string, Wanted>();
  /** UIDs of all objects that there ever were. */
  readonly known = new Set<string>();
  /** UIDs whose deletion was asked for, of the object itself or of the binding. */
  readonly released = new Set<string>();

  created(name: string, uid: string, sizeGiB: number): void {
    this.known.add(uid);
    this.wanted.set(name, { uid, sizeGiB });
  }

  /** Say so before the request: from then on the copy may go. */
  release(name: string): void {
    const wanted = this.wanted.get(name);
    if (wanted !== undefined) this.released.add(wanted.uid);
    this.wanted.delete(name);
  }

  releaseAll(): void {
    for (const name of [...this.wanted.keys()]) this.release(name);
  }
}
