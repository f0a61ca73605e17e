import type { BindingReason, ConditionState } from '../../api/conditions.js';
import type { Stage } from '../protocol/assignment.js';
import type { BindingReport } from '../protocol/report.js';
import type { SyncStats } from './resource-sync.js';

export interface SyncState {
  readonly stage: Stage;
  readonly paused: boolean;
  readonly drained: boolean;
  /** One for each API that is synced; none before the first. */
  readonly stats: readonly SyncStats[];
}

/** The binding's `Syncing` condition. Pure. */
export function syncingCondition(state: SyncState): ConditionState {
  const { stage, stats } = state;
  const problem = stats.find((each) => each.problem !== undefined)?.problem;
  if (stage === 'leave' || state.drained) {
    return no('Released', 'All objects are let go; what is ours on the provider is removed next.');
  }
  if (stage === 'drain') {
    const left = count(syncFigures(stats).objects);
    if (problem !== undefined) {
      return no('WaitingForProvider', `Not let go yet: ${left}. ${problem.message}`);
    }
    return no('Draining', `Not let go yet: ${left}.`);
  }
  if (stage === 'prepare' || stats.length === 0)
    return no('Pending', 'The API is not served in the workspace yet.');
  if (state.paused) return no('Paused', 'spec.paused is true: nothing is synced until it is false.');
  if (problem !== undefined) return problem;
  if (stats.some((each) => each.synced === false))
    return no('Pending', 'The objects of both sides are being listed.');
  const { failing, objects } = syncFigures(stats);
  if (failing > 0) {
    return no(
      'ObjectsFailing',
      `${String(failing)} of ${count(objects)} could not be synced; their events say why.`,
    );
  }
  const notes = stats.flatMap(({ note }) => note ?? []);
  const message = ['Objects and their status are synced.', ...notes].join(' ');
  return { status: 'True', reason: 'Syncing', message };
}

/** The figures of all APIs together. */
export function syncFigures(stats: readonly SyncStats[]): BindingReport['sync'] {
  let [objects, pending, failing, last] = [0, 0, 0, 0];
  for (const each of stats) {
    objects += each.objects;
    pending += each.pending;
    failing += each.failing;
    last = Math.max(last, each.lastSyncAt ?? 0);
  }
  const lastSyncTime = last === 0 ? undefined : `${new Date(last).toISOString().slice(0, 19)}Z`;
  return { objects, pending, failing, ...(lastSyncTime !== undefined && { lastSyncTime }) };
}

function count(objects: number): string {
  return objects === 1 ? '1 object' : `${String(objects)} objects`;
}

function no(reason: BindingReason<'Syncing'>, message: string): ConditionState {
  return { status: 'False', reason, message };
}
