import type { KubeClient } from '../../kube/client.js';
import type { Clock } from '../../kube/clock.js';

export interface SwappableClient extends KubeClient {
  /** From now on everything goes through `next`; what runs through the old one has `graceMs` to finish. */
  swap(next: KubeClient): void;
}

/**
 * A client whose credentials can change while others hold it. Watches end with the old connections and are opened
 * again by whoever follows them, from where they were.
 */
export function createSwappableClient(first: KubeClient, clock: Clock, graceMs: number): SwappableClient {
  let current = first;
  const retiring = new Map<KubeClient, () => void>();

  const retire = async (client: KubeClient): Promise<void> => {
    retiring.get(client)?.();
    retiring.delete(client);
    await client.close();
  };

  const at = (select: () => KubeClient): KubeClient => ({
    get baseUrl() {
      return select().baseUrl;
    },
    get: (...args) => select().get(...args),
    list: (...args) => select().list(...args),
    watch: (...args) => select().watch(...args),
    create: (...args) => select().create(...args),
    replace: (...args) => select().replace(...args),
    patch: (...args) => select().patch(...args),
    delete: (...args) => select().delete(...args),
    raw: (...args) => select().raw(...args),
    at: (path) => at(() => select().at(path)),
    close: async () => {
      await Promise.all([current, ...retiring.keys()].map(retire));
    },
  });

  return Object.assign(
    at(() => current),
    {
      swap(next: KubeClient): void {
        const old = current;
        current = next;
        retiring.set(
          old,
          clock.after(graceMs, () => void retire(old)),
        );
      },
    },
  );
}
