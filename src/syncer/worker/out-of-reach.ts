import type { BindingAssignment } from '../protocol/assignment.js';
import type { SyncStats } from './resource-sync.js';

/** Reasons of an API's trouble with which nothing can be learnt or done about copies. */
const OUT_OF_REACH: readonly string[] = ['ProviderForbidden', 'ProviderUnreachable'];

/**
 * True where the user lets go by force, and the provider does not serve, or forbids, the objects of an API, whatever else
 * it answers. Pure.
 */
export function mustAbandon(
  { stage, force }: Pick<BindingAssignment, 'stage' | 'force'>,
  stats: readonly SyncStats[] = [],
): boolean {
  if (stage !== 'drain' || !force) return false;
  return stats.some(({ problem }) => problem !== undefined && OUT_OF_REACH.includes(problem.reason));
}
