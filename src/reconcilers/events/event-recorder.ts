import { createHash } from 'node:crypto';
import { untrustedText } from '../../api/untrusted-text.js';
import { GROUP } from '../../api/group.js';
import { GVR } from '../../api/gvr.js';
import type { Clock } from '../../kube/clock.js';
import { ApiError, isObjectNotFound } from '../../kube/errors.js';
import type { KubeObject, LogicalCluster } from '../../kube/object.js';
import type { WorkspaceClient } from '../../vw-client/virtual-workspace.js';
import { timestamp } from '../conditions.js';
import type { ReconcilerMetrics } from '../metrics.js';
import { ClusterBudgets } from './cluster-budgets.js';
import { RecentEvents } from './recent-events.js';

/** What an Event is about. */
export interface EventTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
}

export interface EventText {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface EventRecorder {
  /** Notes an event; writing happens in the background, and never fails the caller. */
  record(cluster: LogicalCluster, target: EventTarget, event: EventText): void;
  /** Ends the writing; what is not written is dropped. */
  close(): Promise<void>;
}

export interface EventRecorderOptions {
  readonly workspace: (cluster: LogicalCluster) => WorkspaceClient;
  /** The workspace has accepted the events claim. */
  readonly isAllowed: (cluster: LogicalCluster) => boolean;
  readonly clock: Clock;
  readonly metrics: ReconcilerMetrics;
  readonly instance: string;
}

/** Events waiting to be written; more than that means that kcp is slow, and old news is no news. */
const MAX_WAITING = 2_000;
const MAX_OPEN = 4;
/** An event that goes on happening is counted up at most that often. */
const BUMP_MS = 60_000;

interface Job {
  readonly cluster: LogicalCluster;
  readonly target: EventTarget;
  readonly event: EventText;
  readonly key: string;
}

/**
 * Kubernetes Events (core v1: kcp serves no others under the claim) on users' objects. The same event on the
 * same object is one Event with a count.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new Recorder(options);
}

class Recorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #recent: RecentEvents;
  readonly #budgets: ClusterBudgets;
  readonly #waiting: Job[] = [];
  readonly #abort = new AbortController();
  readonly #open = new Set<Promise<void>>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#recent = new RecentEvents(BUMP_MS);
    this.#budgets = new ClusterBudgets(options.clock);
  }

  record(cluster: LogicalCluster, target: EventTarget, event: EventText): void {
    const { metrics, clock } = this.#options;
    if (this.#abort.signal.aborted) return;
    if (!this.#options.isAllowed(cluster)) {
      metrics.eventDropped('claim');
      return;
    }
    const key = eventKey(cluster, target, event);
    if (!this.#recent.isDue(key, clock.now())) return;
    if (this.#waiting.length >= MAX_WAITING || !this.#budgets.take(cluster)) {
      metrics.eventDropped('limit');
      return;
    }
    this.#waiting.push({ cluster, target, event, key });
    this.#next();
  }

  async close(): Promise<void> {
    this.#abort.abort();
    this.#waiting.length = 0;
    await Promise.all(this.#open);
  }

  #next(): void {
    while (this.#open.size < MAX_OPEN) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      const writing = this.#write(job)
        .catch(() => this.#options.metrics.eventDropped('error'))
        .finally(() => {
          this.#open.delete(writing);
          this.#next();
        });
      this.#open.add(writing);
    }
  }

  async #write(job: Job): Promise<void> {
    const workspace = this.#options.workspace(job.cluster);
    const count = this.#recent.take(job.key);
    const object = eventObject(job, this.#options, count);
    const { name, namespace } = object.metadata;
    const known = this.#recent.stored(job.key);
    const signal = this.#abort.signal;
    if (known !== undefined && (await this.#bump(workspace, known, { namespace, name }, count))) return;
    try {
      this.#recent.wrote(job.key, await workspace.create(GVR.events, object, { signal }));
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
      const there = await workspace.get(GVR.events, { namespace, name }, { signal });
      await this.#bump(workspace, there, { namespace, name }, count);
      this.#recent.wrote(job.key, there);
    }
  }

  /** False when the Event has expired meanwhile. */
  async #bump(
    workspace: WorkspaceClient,
    stored: KubeObject,
    target: { readonly namespace: string | undefined; readonly name: string },
    count: number,
  ): Promise<boolean> {
    const { uid } = stored.metadata;
    if (uid === undefined) return false;
    const before = typeof stored['count'] === 'number' ? stored['count'] : 1;
    const patch = { count: before + count, lastTimestamp: timestamp(this.#options.clock.now()) };
    try {
      const after = await workspace.mergePatch(GVR.events, target, { uid }, patch, {
        signal: this.#abort.signal,
      });
      this.#recent.replaced(stored, after);
      return true;
    } catch (error) {
      if (isObjectNotFound(error) || (error instanceof ApiError && error.status === 409)) return false;
      throw error;
    }
  }
}

function eventKey(cluster: LogicalCluster, target: EventTarget, event: EventText): string {
  const text = [cluster, target.uid, target.kind, event.type, event.reason, event.message].join('\u0000');
  return createHash('sha256').update(text).digest('hex');
}

/** The name follows from what the event says, so that a restart counts on instead of starting anew. */
function eventObject(job: Job, options: EventRecorderOptions, count: number): KubeObject {
  const { target, event, key } = job;
  const now = timestamp(options.clock.now());
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${target.name.slice(0, 200)}.${key.slice(0, 16)}`,
      // Events of cluster-scoped objects live in `default`; others next to their object (the server checks).
      namespace: target.namespace ?? 'default',
    },
    involvedObject: {
      apiVersion: target.apiVersion,
      kind: target.kind,
      name: target.name,
      uid: target.uid,
      ...(target.namespace === undefined ? {} : { namespace: target.namespace }),
    },
    type: event.type,
    reason: untrustedText(event.reason, 128),
    message: untrustedText(event.message, 1024),
    source: { component: GROUP },
    reportingComponent: GROUP,
    reportingInstance: options.instance,
    firstTimestamp: now,
    lastTimestamp: now,
    count,
  };
}
