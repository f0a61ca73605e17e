import type { Connection } from '../typed-objects.js';
import type { BackendTarget } from './backend-checks.js';

/** At most so many providers are asked. */
const MAX_TARGETS = 10;

/**
 * The providers to look at: the one that the user names, else those of the workspace's connections.
 *
 * @param url as the user gave it, without trailing slash
 * @param ca PEM of `--ca-file`
 */
export function backendTargets(
  connections: readonly Connection[],
  url: string | undefined,
  ca: string | undefined,
): BackendTarget[] {
  const known = connections.flatMap(({ metadata, spec, status }) => {
    if (spec.backend === undefined) return [];
    const reachable = status?.conditions?.find(({ type }) => type === 'BackendReachable');
    const unreachable =
      reachable?.status === 'False' ? `${reachable.reason}: ${reachable.message}` : undefined;
    return [
      { url: spec.backend.url, ca: spec.backend.caBundle, connection: { name: metadata.name, unreachable } },
    ];
  });
  if (url === undefined) return known.slice(0, MAX_TARGETS);
  const same = known.find((target) => target.url.replace(/\/+$/, '') === url);
  return [same === undefined ? { url, ca } : { ...same, ca: ca ?? same.ca }];
}
