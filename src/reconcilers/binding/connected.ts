import type { ConditionState } from '../../api/conditions.js';
import { no, unknown } from '../conditions.js';
import { isOtherAccount } from './assignment.js';
import type { BindingObservation } from './observation.js';

/** Condition `Connected`: are there credentials, and does the provider take them. */
export function connectedCondition(observed: BindingObservation): ConditionState {
  const { connection, latest } = observed;
  const name = observed.spec.connection;
  if (connection.kind === 'missing') {
    return no('ConnectionNotFound', `KubeBindConnection ${name} does not exist; create it.`);
  }
  if (connection.account === undefined) {
    return no(
      'ConnectionNotReady',
      `KubeBindConnection ${name} has no credentials yet; its conditions say what to do.`,
    );
  }
  if (isOtherAccount(observed, connection.account)) {
    return no(
      'ProviderChanged',
      `KubeBindConnection ${name} leads to another contract namespace than the one that holds this binding's copies; nothing is written. Restore the former credentials, or delete this binding and create it again.`,
    );
  }
  const reported = latest?.conditions.Connected;
  if (reported?.status === 'False') return reported;
  if (connection.deleting) {
    return no(
      'ConnectionDeleting',
      `KubeBindConnection ${name} is being deleted and waits for this binding; delete the binding too.`,
    );
  }
  return reported ?? unknown('ProviderUnreachable', 'The provider has not answered yet.');
}
