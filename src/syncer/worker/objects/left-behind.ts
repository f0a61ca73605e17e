import type { Gvr, ObjectName } from '../../../kube/object.js';
import { describeName } from '../../engine/sync-context.js';

/** A report holds no more than this. */
const MAX_NAMES = 100;

/** Names the copies that a forced release left on the provider, as far as a list of them stays readable. */
export class LeftBehind {
  readonly #resource: string;
  readonly #names = new Set<string>();

  constructor({ group, resource }: Gvr) {
    this.#resource = group === '' ? resource : `${resource}.${group}`;
  }

  add(copy: ObjectName): void {
    if (this.#names.size < MAX_NAMES) this.#names.add(`${this.#resource} ${describeName(copy)}`);
  }

  /** `databases.example.org namespace/name`, in the order in which they were left. */
  get names(): readonly string[] {
    return [...this.#names];
  }
}
