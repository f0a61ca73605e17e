import type { Clock } from '../../kube/clock.js';
import type { ApiBindingView } from './observation.js';

const KEEP_MS = 10_000;

/** APIBindings that were found by asking, for a short while. Nothing but "found" is kept. */
export class SeenApiBindings {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #seen = new Map<string, { readonly view: ApiBindingView; readonly at: number }>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  async get(key: string, look: () => Promise<ApiBindingView>): Promise<ApiBindingView> {
    const known = this.#seen.get(key);
    if (known !== undefined && this.#clock.now() - known.at < KEEP_MS) return known.view;
    const view = await look();
    if (view.kind === 'found') this.#seen.set(key, { view, at: this.#clock.now() });
    else this.#seen.delete(key);
    return view;
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }
}
