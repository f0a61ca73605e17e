import type { ObjectStore, StoreChange } from '../../../kube/cache/object-store.js';
import type { KubeObject, ObjectName } from '../../../kube/object.js';
import type { ClaimReference } from '../../engine/related/claim-selector.js';
import { MAX_REFERENCES, referencedObjects } from '../../engine/related/referenced-objects.js';
import type { ReferencedObject } from '../../engine/related/referenced-objects.js';

/** An object of the consumer that refers to others. */
export interface Referrer {
  /** `resource.group` of its API. */
  readonly api: string;
  readonly object: KubeObject;
  readonly referenced: readonly ReferencedObject[];
  /** There are more of them, which are not followed. */
  readonly cut: boolean;
}

export interface ReferrersOptions {
  readonly references: readonly ClaimReference[];
  /** What is referred to by more or by fewer objects now. */
  readonly onReferenced: (name: ObjectName) => void;
  readonly onReferrer: (referrer: Referrer) => void;
}

interface Attached {
  readonly store: ObjectStore;
  readonly detach: () => void;
}

/**
 * Counts which objects are referred to, and by how many others, so that what two objects share stays until the last
 * one lets go. An object that goes out of view without having been seen in deletion keeps what it refers to.
 */
export class Referrers {
  readonly #options: ReferrersOptions;
  readonly #apis: ReadonlyMap<string, readonly ClaimReference[]>;
  readonly #attached = new Map<string, Attached>();
  readonly #referrers = new Map<string, Referrer>();
  /** Objects that refer to it, by address. */
  readonly #counts = new Map<string, number>();

  constructor(options: ReferrersOptions) {
    this.#options = options;
    const apis = new Map<string, ClaimReference[]>();
    for (const reference of options.references) {
      const api = `${reference.resource}.${reference.group}`;
      apis.set(api, [...(apis.get(api) ?? []), reference]);
    }
    this.#apis = apis;
  }

  /**
   * Reads the APIs that are referred from; one whose store is another one than before is read anew. Idempotent.
   *
   * @returns true where something is read that was not before
   */
  attach(originals: ReadonlyMap<string, ObjectStore>): boolean {
    let changed = false;
    for (const api of this.#apis.keys()) {
      const store = originals.get(api);
      if (store === undefined || this.#attached.get(api)?.store === store) continue;
      changed = true;
      this.#attached.get(api)?.detach();
      this.#attached.set(api, { store, detach: store.subscribe((change) => this.#onChange(api, change)) });
      for (const object of store.all()) this.#set(api, object);
    }
    return changed;
  }

  /** All that refers to anything has been listed once. */
  get known(): boolean {
    return [...this.#apis.keys()].every((api) => this.#attached.get(api)?.store.synced === true);
  }

  /** APIs that are referred from but are not part of the binding: nothing is selected by them. */
  get unknownApis(): readonly string[] {
    return [...this.#apis.keys()].filter((api) => !this.#attached.has(api));
  }

  refersTo({ namespace, name }: ObjectName): boolean {
    return this.#counts.has(addressOf({ namespace, name })) || this.#counts.has(addressOf({ name }));
  }

  all(): Iterable<Referrer> {
    return this.#referrers.values();
  }

  /** Resolves when everything that is attached has been listed; never rejects. */
  async whenKnown(signal: AbortSignal): Promise<void> {
    await Promise.allSettled([...this.#attached.values()].map(({ store }) => store.whenSynced(signal)));
  }

  /** Idempotent. */
  close(): void {
    for (const { detach } of this.#attached.values()) detach();
    this.#attached.clear();
  }

  #onChange(api: string, change: StoreChange): void {
    if (change.type === 'set') this.#set(api, change.object);
    else if (change.previous.metadata.deletionTimestamp !== undefined)
      this.#replace(api, change.previous, []);
  }

  #set(api: string, object: KubeObject): void {
    const references = this.#apis.get(api) ?? [];
    const found = references.map((reference) => referencedObjects(object, reference));
    const cut = found.some((each) => each.length > MAX_REFERENCES);
    this.#replace(
      api,
      object,
      found.flatMap((each) => each.slice(0, MAX_REFERENCES)),
      cut,
    );
  }

  #replace(api: string, object: KubeObject, referenced: readonly ReferencedObject[], cut = false): void {
    const key = `${api} ${addressOf(object.metadata)}`;
    const before = this.#referrers.get(key)?.referenced ?? [];
    const old = distinct(before);
    const now = distinct(referenced);
    if (referenced.length === 0) this.#referrers.delete(key);
    else {
      const referrer = { api, object, referenced, cut };
      this.#referrers.set(key, referrer);
      this.#options.onReferrer(referrer);
    }
    for (const [address, name] of now) if (!old.has(address)) this.#count(address, name, 1);
    for (const [address, name] of old) if (!now.has(address)) this.#count(address, name, -1);
  }

  #count(address: string, name: ObjectName, by: 1 | -1): void {
    const count = (this.#counts.get(address) ?? 0) + by;
    if (count > 0) this.#counts.set(address, count);
    else this.#counts.delete(address);
    this.#options.onReferenced(name);
  }
}

function addressOf({ namespace, name }: ObjectName): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function distinct(referenced: readonly ReferencedObject[]): ReadonlyMap<string, ObjectName> {
  return new Map(referenced.map((each) => [addressOf(each), each]));
}
