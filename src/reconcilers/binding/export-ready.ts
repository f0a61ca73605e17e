import type { ConditionState } from '../../api/conditions.js';
import { untrustedText } from '../../api/untrusted-text.js';
import { no, unknown } from '../conditions.js';
import type { BindingObservation } from './observation.js';

const MAX_NAMES = 20;

/** Condition `ExportReady`: what the worker found, in terms of what the connection offers. */
export function exportReadyCondition(observed: BindingObservation): ConditionState {
  const reported = observed.latest?.conditions.ExportReady;
  if (reported === undefined) return unknown('Pending', "The provider's export is being asked for.");
  return (reported.reason === 'ExportNotFound' ? templateNotFound(observed) : undefined) ?? reported;
}

/**
 * A template that no login has shown. The worker asks all the same, since the contract may hold an export of
 * that name; an export that was there before and was taken away is another matter.
 */
function templateNotFound(observed: BindingObservation): ConditionState | undefined {
  const { connection, generated, spec } = observed;
  if (spec.template === undefined || generated !== undefined || connection.kind === 'missing')
    return undefined;
  const { account, name } = connection;
  if (account?.source !== 'handshake') return undefined;
  const offered = account.offers.map(({ template }) => template);
  if (offered.includes(spec.template)) return undefined;
  const list = offered.length === 0 ? 'nothing' : offered.slice(0, MAX_NAMES).join(', ');
  return no(
    'TemplateNotFound',
    `KubeBindConnection ${name} offers no template ${spec.template}; it offers: ${untrustedText(list, 1000)}. ` +
      `Delete this binding and create one with an offered template. If the provider has added it since the last login, log in again: kubectl kcp bind login ${name}.`,
  );
}
