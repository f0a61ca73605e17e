import type { BindingAssignment } from '../protocol/assignment.js';
import type { BindingReport } from '../protocol/report.js';
import type { PlacedBinding, Standing } from './placement.js';
import type { SupervisedWorker } from './supervised-worker.js';

export type AssignmentContent = Omit<BindingAssignment, 'revision'>;

/** Where a binding's work goes on now. */
interface LiveBinding {
  readonly worker: SupervisedWorker;
  /** Newest revision that was posted. */
  revision: number;
  releasing: boolean;
  /** Milliseconds since the epoch. */
  readonly since: number;
  cancelDeadline: () => void;
  /** Of the last report, for those that say `sameSchemas`. */
  schemas: BindingReport['schemas'];
}

/** What the pool knows about one binding. The pool drives `live` towards `content` and `worker`. */
export interface PoolEntry {
  readonly key: string;
  /** Undefined: work on the binding shall end. */
  content: AssignmentContent | undefined;
  revision: number;
  /** Number of the worker where it shall be; undefined: not placed yet. */
  worker: number | undefined;
  live: LiveBinding | undefined;
  standing: Standing;
  /** Workers that died with this binding in a row. */
  failures: number;
  /** Milliseconds since the epoch before which it gets no worker. */
  notBefore: number;
  cancelWait: () => void;
  /** The last report, about whatever revision. */
  report: BindingReport | undefined;
  /** Message of `WorkerFailed` from a worker's death until the next one reports. */
  failure: string | undefined;
  /** Called when nothing works on the binding any more. */
  readonly waiters: (() => void)[];
}

export function newEntry(key: string): PoolEntry {
  return {
    key,
    content: undefined,
    revision: 0,
    worker: undefined,
    live: undefined,
    standing: 'good',
    failures: 0,
    notBefore: 0,
    cancelWait: () => undefined,
    report: undefined,
    failure: undefined,
    waiters: [],
  };
}

/** The bindings that need a place, in the order in which they came. */
export function placedBindings(entries: Iterable<PoolEntry>): PlacedBinding[] {
  const placed: PlacedBinding[] = [];
  for (const { key, content, standing, worker } of entries) {
    if (content === undefined) continue;
    const { cluster, provider } = content;
    placed.push({ key, cluster, server: provider.credentials.server, standing, worker });
  }
  return placed;
}

/**
 * The report about the newest revision, or what stands for it while there is no worker: the last one with
 * `Syncing=False/WorkerFailed`. Progress (`drained`, `left`) of an older revision never counts for a newer one.
 */
export function currentReport(entry: PoolEntry): BindingReport | undefined {
  const { key, revision, report, failure } = entry;
  const current = report?.revision === revision;
  if (failure === undefined) return current ? report : undefined;
  const Syncing = { status: 'False', reason: 'WorkerFailed', message: failure } as const;
  const sync = report?.sync ?? { objects: 0, pending: 0, failing: 0 };
  const kept = report ?? { conditions: {}, remaining: [], namespaces: [], drained: false, left: false };
  return {
    ...kept,
    key,
    revision,
    sync,
    conditions: { ...kept.conditions, Syncing },
    drained: current && kept.drained,
    left: current && kept.left,
  };
}
