import type { BindingReason, ConditionState } from '../../../api/conditions.js';
import type { MappingRule } from '../../engine/key-mapping.js';
import type { ObjectRecords } from './object-records.js';
import type { ObjectTrouble } from './object-failure.js';
import type { GateProblem } from './side-gate.js';

/**
 * The `Syncing` condition that the troubles of one API amount to; undefined where there are none. Pure.
 *
 * @param rule where the copies are
 */
export function syncProblem(
  consumer: GateProblem | undefined,
  provider: GateProblem | undefined,
  records: Pick<ObjectRecords<string>, 'exampleTrouble' | 'figures'>,
  rule?: Pick<MappingRule, 'scope' | 'isolation'>,
): ConditionState | undefined {
  if (provider !== undefined) {
    const advice = provider.reason === 'notServed' && isNamespaceForced(rule) ? ` ${NAMESPACED_ADVICE}` : '';
    return no(providerReason(provider), `${providerMessage(provider)}${advice}`);
  }
  if (consumer !== undefined) {
    return no(
      'ConsumerUnreachable',
      `The workspace's API cannot be read through its export: ${consumer.message}. Nothing is deleted; it is tried again.`,
    );
  }
  const example = records.exampleTrouble();
  if (example === undefined) return undefined;
  const { trouble, notice } = example;
  const { failing } = records.figures();
  if (notice) return no(objectReason(trouble.reason), trouble.message);
  const count = failing === 1 ? '1 object' : `${String(failing)} objects`;
  return no(objectReason(trouble.reason), `${count} cannot be synced, for example: ${trouble.message}`);
}

/** A backend offers an API as cluster-scoped also where it is so on the provider: it cannot be told from the offer. */
const NAMESPACED_ADVICE =
  "The provider's backend has isolation Namespaced, so copies belong into a namespace: if this API is cluster-scoped on the provider, ask for it with another isolation.";

function isNamespaceForced(rule: Pick<MappingRule, 'scope' | 'isolation'> | undefined): boolean {
  return rule?.scope === 'Cluster' && rule.isolation === 'Namespaced';
}

function no(reason: BindingReason<'Syncing'>, message: string): ConditionState {
  return { status: 'False', reason, message };
}

function providerReason({ reason }: GateProblem): BindingReason<'Syncing'> {
  return reason === 'forbidden' || reason === 'unauthorized' ? 'ProviderForbidden' : 'ProviderUnreachable';
}

function providerMessage({ reason, message }: GateProblem): string {
  switch (reason) {
    case 'forbidden':
      return `The provider forbids this account to use the API: ${message}. Nothing is deleted; it is tried again. Ask the provider to restore the account's rights.`;
    case 'unauthorized':
      return `The provider does not accept the credentials: ${message}. Log in again.`;
    case 'notServed':
      return `The provider does not serve the API: ${message}. Nothing is deleted; it is tried again.`;
    case 'unreachable':
      return `The provider does not answer: ${message}. Nothing is deleted; it is tried again.`;
  }
}

function objectReason(reason: ObjectTrouble): BindingReason<'Syncing'> {
  switch (reason) {
    case 'Conflict':
    case 'Contested':
    case 'Pruned':
    case 'Mutated':
      return reason;
    case 'ProviderRefused':
    case 'ProviderForbidden':
    case 'ProviderNamespaceMissing':
    case 'WorkspaceRefused':
    case 'WorkspaceForbidden':
      return 'ObjectsFailing';
  }
}
