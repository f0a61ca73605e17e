import { BINDING_UID_LABEL, KUBE_BIND } from '../../../api/markers.js';
import { parseKey } from '../../../kube/cache/object-key.js';
import type { ObjectKeyText } from '../../../kube/cache/object-key.js';
import type { Clock } from '../../../kube/clock.js';
import type { KubeObject } from '../../../kube/object.js';
import { member } from '../../engine/field-access.js';
import { selectsByItself } from '../../engine/related/claim-selector.js';
import type { ClaimSelector } from '../../engine/related/claim-selector.js';
import type { Selected } from '../../engine/related/decide-related.js';
import type { RelatedKind } from '../../engine/related/related-kinds.js';
import { Referrers } from './referrers.js';
import type { ReferrersOptions } from './referrers.js';

export interface SelectionOptions extends Omit<ReferrersOptions, 'references'> {
  readonly selectors: readonly ClaimSelector[];
  readonly clock: Clock;
  /** Milliseconds that have to pass before what was never seen to be selected counts as not selected. */
  readonly graceMs: number;
}

/** Which objects of one resource the accepted claims select. */
export class Selection {
  readonly #options: SelectionOptions;
  readonly referrers: Referrers;
  /** Keys that were selected at some time in this process. */
  readonly #selected = new Set<string>();
  readonly #doubtedSince = new Map<string, number>();

  constructor(options: SelectionOptions) {
    this.#options = options;
    const references = options.selectors.flatMap((selector) => selector.references);
    this.referrers = new Referrers({ ...options, references });
  }

  of(key: ObjectKeyText, object: KubeObject): Selected {
    const { selectors } = this.#options;
    const name = parseKey(key);
    const { labels } = object.metadata;
    if (
      selectors.some((selector) => selectsByItself(selector, name, labels)) ||
      this.referrers.refersTo(name)
    ) {
      this.#selected.add(key);
      this.#doubtedSince.delete(key);
      return 'yes';
    }
    // Labels and names are facts; who refers to it may only be out of view.
    if (this.#selected.has(key) || !this.#hasReferences) return 'no';
    return 'uncertain';
  }

  /** Milliseconds since the epoch; infinite as long as not everything that may refer to it is known. */
  unselectableAt(key: ObjectKeyText): number {
    const { clock, graceMs } = this.#options;
    if (!this.referrers.known) return Number.POSITIVE_INFINITY;
    const since = this.#doubtedSince.get(key) ?? clock.now();
    this.#doubtedSince.set(key, since);
    return since + graceMs;
  }

  /** Neither end has anything under this key any more. */
  forget(key: ObjectKeyText): void {
    this.#selected.delete(key);
    this.#doubtedSince.delete(key);
  }

  /**
   * What is kept of an object in memory: only name and marks of one that no claim can select.
   */
  kept(object: KubeObject, kind: RelatedKind): KubeObject {
    if (this.#mayMatter(object)) return object;
    return Object.fromEntries(
      Object.entries(object).filter(([key]) => key === 'type' || !kind.fields.includes(key)),
    ) as KubeObject;
  }

  get #hasReferences(): boolean {
    return this.#options.selectors.some(({ references }) => references.length > 0);
  }

  #mayMatter({ metadata }: KubeObject): boolean {
    const { name, labels } = metadata;
    if (this.#hasReferences) return true;
    if ([BINDING_UID_LABEL, KUBE_BIND.owner].some((mark) => member(labels, mark) !== undefined)) return true;
    return this.#options.selectors.some(
      (selector) =>
        selectsByItself(selector, { name }, labels) || selector.names.some((each) => each.name === name),
    );
  }
}
