import type { KubeObject, WatchEvent } from '../object.js';

/** Events that change objects; bookmarks are the reflector's own business. */
export type ObjectEvent = Exclude<WatchEvent, { readonly type: 'BOOKMARK' }>;

/**
 * Takes what one reflector learns. The order is `begin`, `page`..., `commit`, then `apply`... until the next
 * `begin`. A list that fails half-way has no `commit`: its pages say what is there, and nothing about what
 * is not.
 *
 * A method that throws makes the reflector list again after a back-off.
 */
export interface ReflectorSink {
  /** A list begins; one that had begun before and was not committed has failed. */
  begin(): void;
  /** Objects of the list, in the state of the list's resourceVersion. */
  page(items: readonly KubeObject[]): void;
  /** The list is complete: whatever was in none of its pages is not there. */
  commit(): void;
  apply(event: ObjectEvent): void;
}
