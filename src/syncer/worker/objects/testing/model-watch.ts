import type { WatchOptions } from '../../../../kube/client.js';
import type { KubeObject, WatchEvent } from '../../../../kube/object.js';
import { selected } from './model-object.js';

type ObjectEvent = Exclude<WatchEvent, { readonly type: 'BOOKMARK' }>;

/** All that has happened to a resource, and those who watch it. */
export class ModelWatch {
  readonly #history: ObjectEvent[] = [];
  readonly #watchers = new Set<() => void>();
  #muted = false;
  #refusal: Error | undefined;

  record(event: ObjectEvent): void {
    this.#history.push(event);
    if (!this.#muted) this.#wake();
  }

  mute(): void {
    this.#muted = true;
  }

  unmute(): void {
    this.#muted = false;
    this.#wake();
  }

  /** Every watch ends, and is answered, with this error until it is undefined. */
  refuse(error: Error | undefined): void {
    this.#refusal = error;
    this.#wake();
  }

  /** Events after the version, as a server shows them to this selection. */
  async *follow(options: WatchOptions, present: readonly KubeObject[]): AsyncGenerator<WatchEvent> {
    const { signal, resourceVersion, namespace, labelSelector } = options;
    const since = Number(resourceVersion);
    let next = this.#history.findIndex(({ object }) => versionOf(object) > since);
    if (next < 0) next = this.#history.length;
    this.#throwRefusal();
    options.onOpen?.();
    const shown = new Set(present.filter((object) => versionOf(object) <= since).map(uidOf));
    while (!signal.aborted) {
      this.#throwRefusal();
      while (!this.#muted && next < this.#history.length) {
        const event = this.#history[next++];
        if (event === undefined) continue;
        const fits = event.type !== 'DELETED' && selected(event.object, namespace, labelSelector);
        const visible = event.type === 'DELETED' || fits || shown.has(uidOf(event.object));
        if (fits) shown.add(uidOf(event.object));
        else shown.delete(uidOf(event.object));
        if (visible) yield structuredClone(fits ? event : { type: 'DELETED', object: event.object });
      }
      await this.#change(signal);
    }
  }

  #throwRefusal(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#watchers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#watchers.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) wake();
    });
  }

  #wake(): void {
    for (const wake of [...this.#watchers]) wake();
  }
}

function versionOf(object: KubeObject): number {
  return Number(object.metadata.resourceVersion);
}

function uidOf(object: KubeObject): string {
  return object.metadata.uid ?? '';
}
