import type { Runtimes } from './binding/runtime.js';
import type { EventRecorder } from './events/event-recorder.js';
import type { Reports } from './reports.js';
import type { StateCache } from './state-cache.js';
import type { StepRunner } from './steps.js';
import type { WorkspaceIndex } from './workspace-index.js';

/** What both reconcilers share within one process. */
export interface Shared {
  readonly index: WorkspaceIndex;
  readonly states: StateCache;
  readonly reports: Reports;
  readonly runStep: StepRunner;
  readonly events: EventRecorder;
  readonly runtimes: Runtimes;
}

/** When the key wants to be looked at again, without anything having happened. */
export type RunResult = { readonly requeueAfterMs: number } | undefined;

export interface Reconciler {
  /** One run. Rejects where something could not be asked or written; the next run begins anew. */
  reconcile(key: string): Promise<RunResult>;
}
