import type { ObjectStore } from '../../../kube/cache/object-store.js';
import type { KubeObject } from '../../../kube/object.js';
import type { CopyMarks } from '../../engine/desired-copy.js';
import { isCopyOfBinding } from '../../engine/ownership.js';
import type { End } from '../../engine/related/related-copy.js';
import { describeName } from '../../engine/sync-context.js';

/** What a cache shows of one end. */
type Seen = Pick<ObjectStore, 'synced' | 'all'>;

export interface OwnCopiesOptions {
  readonly ends: { readonly consumers: Seen | undefined; readonly copies: Seen };
  readonly marks: CopyMarks;
  /** Without consent the workspace is not read, and nothing in it can be let go. */
  readonly accepted: boolean;
  /** The provider's namespace belongs to one of the consumer. */
  readonly isMapped: (copy: KubeObject) => boolean;
}

/** The copies of one resource that this binding made, as far as the caches show them. */
export class OwnCopies {
  readonly #options: OwnCopiesOptions;

  constructor(options: OwnCopiesOptions) {
    this.#options = options;
  }

  /** In words. */
  names(end: End): string[] {
    const where = end === 'consumer' ? 'in the workspace' : 'on the provider';
    return [...this.#at(end)].map(({ metadata }) => `${describeName(metadata)} ${where}`);
  }

  /** True while a copy is there that can be let go, or may be there. */
  isLeft(end: End): boolean {
    const { ends, accepted, isMapped } = this.#options;
    if (end === 'consumer') return accepted && (ends.consumers?.synced !== true || !isEmpty(this.#at(end)));
    if (!ends.copies.synced) return true;
    // What lies in a namespace that is mapped no more is out of reach, and goes with the namespace.
    for (const copy of this.#at(end)) if (isMapped(copy)) return true;
    return false;
  }

  *#at(end: End): Iterable<KubeObject> {
    const { ends, marks } = this.#options;
    const all = end === 'consumer' ? ends.consumers?.all() : ends.copies.all();
    for (const object of all ?? []) if (isCopyOfBinding(object, marks)) yield object;
  }
}

function isEmpty(objects: Iterable<unknown>): boolean {
  for (const _ of objects) return false;
  return true;
}
