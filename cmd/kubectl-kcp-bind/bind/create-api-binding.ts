import { GVR } from '../../../src/api/gvr.js';
import type { KubeClient } from '../../../src/kube/client.js';
import { isStatus } from '../../../src/kube/errors.js';
import type { KubeObject } from '../../../src/kube/object.js';
import type { CommandContext } from '../command-context.js';

const ATTEMPTS = 4;
const PAUSE_MS = 800;

/**
 * Creates an APIBinding. A fresh export can answer 403 for a second or two, until all parts of kcp know it,
 * so that answer is asked for a few times before it is believed.
 */
export async function createApiBinding(
  context: Pick<CommandContext, 'effects' | 'signal'>,
  client: KubeClient,
  manifest: KubeObject,
): Promise<KubeObject> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.create(GVR.apiBindings, manifest, { signal: context.signal });
    } catch (error) {
      if (!isStatus(error, 403) || attempt === ATTEMPTS) throw error;
      await context.effects.clock.sleep(PAUSE_MS, context.signal);
    }
  }
}
