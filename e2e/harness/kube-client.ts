import type { KubeClient } from '../../src/kube/client.js';
import { createOpenDialler } from '../../src/kube/dialler/dialler.js';
import { loadKubeconfig } from '../../src/kube/kubeconfig.js';
import { createSystemClock } from '../../src/kube/system-clock.js';
import { connect } from '../../src/kube/transport/connect.js';

/**
 * A client for the parts of the bench that would be slow with kubectl. Assertions read with kubectl.
 *
 * @param server another address of the same server, a proxy's for instance
 */
export async function clientFor(kubeconfig: string, server?: string): Promise<KubeClient> {
  const credentials = await loadKubeconfig({ path: kubeconfig });
  return connect(server === undefined ? credentials : { ...credentials, server }, {
    dialler: createOpenDialler(),
    userAgent: 'kcp-kube-bind-bench',
    requestTimeoutMs: 30_000,
    clock: createSystemClock(),
    random: Math.random,
  });
}
