import type { Clock } from '../kube/clock.js';

/** Runs work with a signal that ends at a deadline, or with its parent. */
export async function withDeadline<T>(
  clock: Clock,
  limits: { readonly ms: number; readonly parent: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const cancel = clock.after(limits.ms, () => controller.abort(new Error('the deadline has passed')));
  try {
    return await work(AbortSignal.any([controller.signal, limits.parent]));
  } finally {
    cancel();
  }
}
