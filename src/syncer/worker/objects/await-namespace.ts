import type { MappingRule } from '../../engine/key-mapping.js';
import type { PassOutcome } from './pass-outcome.js';
import { namespaceFailure, noNamespaceTrouble } from './object-trouble.js';

/** A provider that has given no namespace after this long is not just slow. */
const NAMESPACE_PATIENCE_MS = 20_000;
/** What events should wake is looked at this often anyway. */
const SAFETY_MS = 60_000;

/**
 * Asks the provider for a namespace. That it is not there yet is no trouble for a while.
 *
 * @param ensure gives the milliseconds for which the namespace has been waited for
 */
export async function awaitNamespace(
  consumerNamespace: string,
  rule: MappingRule,
  ensure: (consumerNamespace: string) => Promise<number>,
): Promise<PassOutcome> {
  let waitedMs: number;
  try {
    waitedMs = await ensure(consumerNamespace);
  } catch (error) {
    throw namespaceFailure(error, consumerNamespace);
  }
  const left = NAMESPACE_PATIENCE_MS - waitedMs;
  if (left > 0) return { kind: 'waiting', retryInMs: left };
  return { kind: 'waiting', retryInMs: SAFETY_MS, trouble: noNamespaceTrouble(rule, consumerNamespace) };
}
