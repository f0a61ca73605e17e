import type { ReflectorEvent } from '../../src/kube/cache/reflector.js';
import { KubeError } from '../../src/kube/errors.js';

/** A watch that ends is opened again all the time; so many failures in a row are more than that. */
const FAILURES = 3;

/** Whether a server that is watched answers, learnt from one of the watches: nobody asks for it. */
export class Reachability {
  #problem: string | undefined;

  /** What keeps it from answering, in words; undefined: it answers, as far as is known. */
  get problem(): string | undefined {
    return this.#problem;
  }

  note(event: ReflectorEvent): void {
    if (event.type === 'listed' || event.type === 'recovered') this.#problem = undefined;
    if (event.type !== 'error' || event.phase === 'sink' || event.failures < FAILURES) return;
    // Other errors are not about the server, and may hold anything.
    this.#problem = event.error instanceof KubeError ? event.error.message : 'it cannot be asked';
  }
}
