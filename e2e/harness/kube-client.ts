import type { KubeClient } from '../../src/kube/client.js';
import { createOpenDialler } from '../../src/kube/dialler/dialler.js';
import { loadKubeconfig } from '../../src/kube/kubeconfig.js';
import { createSystemClock } from '../../src/kube/system-clock.js';
import { connect } from '../../src/kube/transport/connect.js';

/** A client for the parts of the bench that would be slow with kubectl. Assertions read with kubectl. */
export async function clientFor(kubeconfig: string): Promise<KubeClient> {
  return connect(await loadKubeconfig({ path: kubeconfig }), {
    dialler: createOpenDialler(),
    userAgent: 'kcp-kube-bind-bench',
    requestTimeoutMs: 30_000,
    clock: createSystemClock(),
    random: Math.random,
  });
}
