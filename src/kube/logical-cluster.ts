import type { LogicalCluster } from './object.js';

// The names that kcp makes and `root`; kcp's own `system:` clusters are nobody's workspace.
const NAME = /^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/;

/** True for the name of a logical cluster. A workspace path (`root:a:b`), `*` and the like are none. */
export function isLogicalCluster(text: unknown): text is LogicalCluster {
  return typeof text === 'string' && NAME.test(text);
}
