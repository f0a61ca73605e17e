import { CONTRACT_NAMESPACE_UID_ANNOTATION } from '../../api/markers.js';
import type { ObjectStore } from '../../kube/cache/object-store.js';
import { poolKey } from '../keys.js';
import type { Reports } from '../reports.js';
import { ownerOf } from './owner.js';
import type { BindingRef } from './owner.js';
import type { Runtimes } from './runtime.js';

/**
 * Consumer namespaces in which other bindings of the same contract namespace have copies. Deleting an
 * APIServiceNamespace deletes the namespace and all in it, so whoever has not told yet makes this undefined.
 * Which bindings there are is known from the generated exports: they outlive every process.
 *
 * @param contractUid of the binding that leaves; undefined: nobody can have copies beside it
 */
export function namespacesOfPeers(
  ref: BindingRef,
  contractUid: string | undefined,
  sources: { readonly exports: ObjectStore; readonly reports: Reports; readonly runtimes: Runtimes },
): readonly string[] | undefined {
  if (!sources.exports.synced) return undefined;
  const used = new Set<string>();
  for (const generated of sources.exports.all()) {
    const uid = generated.metadata.annotations?.[CONTRACT_NAMESPACE_UID_ANNOTATION];
    if (uid === undefined || uid !== contractUid) continue;
    const peer = ownerOf(generated);
    if (peer === undefined || (peer.cluster === ref.cluster && peer.uid === ref.uid)) continue;
    const key = poolKey(peer.cluster, peer.uid);
    const namespaces = sources.reports.namespaces(key);
    if (namespaces !== undefined) for (const name of namespaces) used.add(name);
    else if (!hasNoObjects(key, sources.runtimes)) return undefined;
  }
  return [...used].sort();
}

/** It never came as far as being bound, as far as can be seen: nothing of it is synced. */
function hasNoObjects(key: string, runtimes: Runtimes): boolean {
  const runtime = runtimes.get(key);
  return runtime?.assigned?.stage === 'prepare' && !runtime.bound;
}
