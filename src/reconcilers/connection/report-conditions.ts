import type { ConditionState } from '../../api/conditions.js';
import type { BindingReport } from '../../syncer/protocol/report.js';
import { no, unknown, yes } from '../conditions.js';

/** A binding of the connection, as far as the connection's own conditions depend on it. */
export interface BindingView {
  readonly name: string;
  readonly uid: string;
  readonly deleting: boolean;
  /** The one that beats for the connection. */
  readonly beats: boolean;
  readonly report: BindingReport | undefined;
}

const NOT_USED = 'No binding uses this connection yet. Create a KubeBindBinding to use it.';

/** What the workers of the connection's bindings know about its credentials; the worst news first. */
export function credentialsCondition(bindings: readonly BindingView[]): ConditionState {
  const states = bindings.flatMap(({ report }) => report?.conditions.Connected ?? []);
  const by = (reason: string): ConditionState | undefined => states.find((state) => state.reason === reason);
  const changed = by('ProviderChanged');
  if (changed) return no('ProviderChanged', changed.message);
  const unauthorized = by('Unauthorized');
  if (unauthorized) return no('Unauthorized', unauthorized.message);
  if (states.some(({ status, reason }) => status === 'True' || reason === 'ForeignKonnector'))
    return yes('Accepted');
  const unreachable = by('ProviderUnreachable');
  if (unreachable) return unknown('ProviderUnreachable', unreachable.message);
  return unknown('NotUsedYet', bindings.length === 0 ? NOT_USED : 'No binding has reached the provider yet.');
}

/** Heartbeat of the connection: said by the worker of its oldest live binding. */
export function heartbeatCondition(bindings: readonly BindingView[]): ConditionState {
  const foreign = bindings.find(({ report }) => report?.conditions.Connected?.reason === 'ForeignKonnector');
  if (foreign?.report?.conditions.Connected) {
    return no('ForeignKonnector', foreign.report.conditions.Connected.message);
  }
  const beat = bindings.find(({ beats }) => beats)?.report?.heartbeat;
  if (beat === undefined) {
    return unknown('NotUsedYet', bindings.length === 0 ? NOT_USED : 'No binding has sent a heartbeat yet.');
  }
  if (beat.status === 'True') return yes('Beating', beat.message);
  return beat.reason === 'ForeignKonnector'
    ? no('ForeignKonnector', beat.message)
    : { status: beat.status, reason: 'HeartbeatFailed', message: beat.message };
}
