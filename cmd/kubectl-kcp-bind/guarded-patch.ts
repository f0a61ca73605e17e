import type { Gvr } from '../../src/api/gvr.js';
import type { KubeClient } from '../../src/kube/client.js';
import { isStatus } from '../../src/kube/errors.js';
import type { JsonObject } from '../../src/kube/json-value.js';
import type { KubeObject } from '../../src/kube/object.js';

const ATTEMPTS = 5;

/**
 * Changes the spec of an object that controllers write at the same time: a merge patch that holds only for
 * the version that `change` has seen, worked out anew when another one was stored meanwhile.
 *
 * @param change what to set in `spec`; undefined where nothing differs, and nothing is written
 */
export async function patchSpec(
  client: KubeClient,
  target: { readonly gvr: Gvr; readonly object: KubeObject },
  change: (current: KubeObject) => JsonObject | undefined,
  signal: AbortSignal,
): Promise<KubeObject> {
  const { gvr } = target;
  const { name } = target.object.metadata;
  let current = target.object;
  for (let attempt = 1; ; attempt += 1) {
    const spec = change(current);
    if (spec === undefined) return current;
    const { resourceVersion } = current.metadata;
    const metadata = resourceVersion === undefined ? {} : { resourceVersion };
    try {
      return await client.patch(gvr, { name }, 'merge', { metadata, spec }, { signal });
    } catch (error) {
      if (!isStatus(error, 409) || attempt === ATTEMPTS) throw error;
      current = await client.get(gvr, { name }, { signal });
    }
  }
}
