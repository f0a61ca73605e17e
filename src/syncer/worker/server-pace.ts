import type { Clock } from '../../kube/clock.js';
import { createTokenBucket, type TokenBucket } from '../../kube/transport/token-bucket.js';

/** Buckets by server, each as long as somebody uses it. */
export interface ServerPace {
  /** The bucket of the URL's scheme, host and port, shared with everybody who has it now. */
  acquire(server: string): { readonly bucket: TokenBucket; release(): void };
}

/** Requests to one server pass at `qps` a second, in bursts of twice as many. */
export function createServerPace(clock: Clock, qps: number): ServerPace {
  const shared = new Map<string, { readonly bucket: TokenBucket; users: number }>();
  return {
    acquire(server) {
      const origin = URL.canParse(server) ? new URL(server).origin : server;
      const entry = shared.get(origin) ?? {
        bucket: createTokenBucket(clock, qps, Math.ceil(2 * qps)),
        users: 0,
      };
      shared.set(origin, entry);
      entry.users += 1;
      let held = true;
      return {
        bucket: entry.bucket,
        release() {
          if (!held) return;
          held = false;
          entry.users -= 1;
          if (entry.users === 0) shared.delete(origin);
        },
      };
    },
  };
}
