import { GVR } from '../../api/gvr.js';
import type { KubeClient } from '../../kube/client.js';
import type { Clock } from '../../kube/clock.js';
import { ApiError, isObjectNotFound } from '../../kube/errors.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { JsonObject } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
import { at, textAt } from '../views.js';

/** Times of leader election, in milliseconds; the same meaning and defaults as client-go's. */
export interface LeaseTimes {
  /** How long others wait for a silent holder. */
  readonly durationMs: number;
  /** How long the holder goes on without a renewal that worked; below `durationMs`. */
  readonly renewDeadlineMs: number;
  /** Time between two tries. */
  readonly retryMs: number;
}

export interface LeaseOptions {
  /** Not fenced: the Lease is what the fence asks. */
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Tells this process from all others, its own former runs included. */
  readonly identity: string;
  readonly times: LeaseTimes;
  readonly clock: Clock;
  /**
   * Milliseconds of a clock that nobody sets, from any start (`performance.now`): a wall clock that is put back
   * would make a lease look fresh. The one that has moved further counts.
   */
  readonly monotonic: () => number;
  /** Told for how many milliseconds from now the Lease counts as held, whenever that changes; 0: not at all. */
  readonly onHeld?: (leftMs: number) => void;
}

/** What is seen of the Lease; when it was first seen so counts, not what its holder wrote about time. */
interface Seen {
  readonly record: string;
  readonly since: Moment;
}

interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

/**
 * One Lease of coordination.k8s.io. Clocks of two machines are never compared: a holder counts as silent when
 * its record has not changed for as long as it said it would last, by the watcher's own clock.
 */
export class Lease {
  readonly #options: LeaseOptions;
  #seen: Seen | undefined;
  #renewedAt: Moment | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /**
   * True while this process may act as the holder: it renewed within the renew deadline. That ends before
   * anybody else may take the Lease, also when this process was stopped for a while and wakes up.
   */
  isHeld(): boolean {
    const { times } = this.#options;
    return this.#renewedAt !== undefined && this.#since(this.#renewedAt) < times.renewDeadlineMs;
  }

  /** One try to take or renew it. False: somebody else holds it, or was faster. Rejects on trouble with the API. */
  async tryHold(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, name } = this.#options;
    // Counted from before the request: it may take long, and others count from when the server wrote it.
    const startedAt = this.#now();
    const request = { signal, timeoutMs: Math.max(1, this.#options.times.renewDeadlineMs / 2) };
    try {
      const now = await this.#read(request);
      const written =
        now === undefined
          ? await client.create(GVR.leases, this.#object(undefined), request)
          : await this.#replace(now, request);
      if (written === undefined) {
        this.#holdSince(undefined);
        return false;
      }
      this.#note(written);
      this.#holdSince(startedAt);
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) {
        // Somebody wrote in between; the next try sees who.
        return false;
      }
      if (error instanceof Error) error.message = `lease ${namespace}/${name}: ${error.message}`;
      throw error;
    }
  }

  /** Gives it back, so that another replica need not wait. Best effort; afterwards it is not held. */
  async release(): Promise<void> {
    const held = this.isHeld();
    this.#holdSince(undefined);
    if (!held) return;
    const { client, clock } = this.#options;
    const request = { timeoutMs: this.#options.times.retryMs };
    try {
      const now = await this.#read(request);
      if (now === undefined || holderOf(now) !== this.#options.identity) return;
      const time = microTime(clock.now());
      const spec = {
        ...specOf(now),
        holderIdentity: '',
        leaseDurationSeconds: 1,
        renewTime: time,
        acquireTime: time,
      };
      await client.replace(GVR.leases, { ...now, spec }, request);
    } catch {
      // It runs out by itself.
    }
  }

  #holdSince(moment: Moment | undefined): void {
    const { onHeld, times } = this.#options;
    this.#renewedAt = moment;
    onHeld?.(moment === undefined ? 0 : Math.max(0, times.renewDeadlineMs - this.#since(moment)));
  }

  async #read(request: {
    readonly signal?: AbortSignal;
    readonly timeoutMs: number;
  }): Promise<KubeObject | undefined> {
    const { client, namespace, name } = this.#options;
    try {
      const lease = await client.get(GVR.leases, { namespace, name }, request);
      this.#note(lease);
      return lease;
    } catch (error) {
      if (isObjectNotFound(error)) return undefined;
      throw error;
    }
  }

  async #replace(
    now: KubeObject,
    request: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<KubeObject | undefined> {
    const { client, identity, times } = this.#options;
    const holder = holderOf(now);
    if (holder !== identity && holder !== '') {
      const seconds = at(now, 'spec', 'leaseDurationSeconds');
      const lasts = typeof seconds === 'number' ? seconds * 1000 : times.durationMs;
      if (this.#seen === undefined || this.#waited(this.#seen.since) < lasts) return undefined;
    }
    return client.replace(GVR.leases, this.#object(now), request);
  }

  #note(lease: KubeObject): void {
    const record = JSON.stringify(lease['spec'] ?? {});
    if (this.#seen?.record !== record) this.#seen = { record, since: this.#now() };
  }

  #now(): Moment {
    return { wall: this.#options.clock.now(), monotonic: this.#options.monotonic() };
  }

  /** Milliseconds that have passed at most. */
  #since(moment: Moment): number {
    const now = this.#now();
    return Math.max(now.wall - moment.wall, now.monotonic - moment.monotonic);
  }

  /** Milliseconds that have passed at least. */
  #waited(moment: Moment): number {
    const now = this.#now();
    return Math.min(now.wall - moment.wall, now.monotonic - moment.monotonic);
  }

  #object(now: KubeObject | undefined): KubeObject {
    const { namespace, name, identity, times, clock } = this.#options;
    const time = microTime(clock.now());
    const mine = now !== undefined && holderOf(now) === identity;
    const transitions = at(now, 'spec', 'leaseTransitions');
    const count = typeof transitions === 'number' ? transitions : 0;
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: now?.metadata ?? { name, namespace },
      spec: {
        ...specOf(now),
        holderIdentity: identity,
        leaseDurationSeconds: Math.max(1, Math.ceil(times.durationMs / 1000)),
        acquireTime: mine ? (textAt(now, 'spec', 'acquireTime') ?? time) : time,
        renewTime: time,
        leaseTransitions: now === undefined || mine ? count : count + 1,
      },
    };
  }
}

function holderOf(lease: KubeObject): string {
  return textAt(lease, 'spec', 'holderIdentity') ?? '';
}

function specOf(lease: KubeObject | undefined): JsonObject {
  const spec = lease?.['spec'];
  return isJsonObject(spec) ? spec : {};
}

/** MicroTime of the Kubernetes API: six digits, which other writers of Leases insist on. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.(\d{3})Z$/, '.$1000Z');
}
