import type { BackoffOptions } from '../backoff.js';
import type { KubeClient } from '../client.js';
import type { Clock } from '../clock.js';
import { ApiError, isStatus } from '../errors.js';
import type { Gvr } from '../object.js';
import { guardedWatch } from './guarded-watch.js';
import { listPages } from './list-pages.js';
import { INITIAL_STATE, isNotServed, planNext, SinkError } from './reflector-plan.js';
import type { ReflectorOutcome, ReflectorState, RelistCause } from './reflector-plan.js';
import type { ReflectorSink } from './reflector-sink.js';
import { Wake } from './wake.js';

export interface ReflectorLimits {
  /** Objects in a page of a list. Default 500; more after a list that expired half-way. */
  readonly pageSize: number;
  /** Default 2000. */
  readonly maxPages: number;
  /** Milliseconds for one page. Default 60 s. */
  readonly listTimeoutMs: number;
  /** Range of the watch timeout that the server is asked for, in milliseconds. Default 5 to 10 minutes. */
  readonly watchMinMs: number;
  readonly watchMaxMs: number;
  /** Milliseconds without event or bookmark after which a watch counts as dead. Default 110 s. */
  readonly silenceMs: number;
  /** A watch that lasted this long ends a series of failures. Default 5 s. */
  readonly stableMs: number;
  /** Default: 500 ms, doubling up to 30 s. */
  readonly backoff: BackoffOptions;
  /** After 404 and 403. Default: `backoff`. */
  readonly notServedBackoff: (attempt: number) => BackoffOptions;
  /** Default 5. */
  readonly maxRefusedResumes: number;
}

/** What a reflector did, for metrics and log. */
export type ReflectorEvent =
  | { readonly type: 'listed'; readonly items: number; readonly pages: number; readonly tookMs: number }
  /** The cache is compared with a complete list again. */
  | { readonly type: 'relist'; readonly cause: RelistCause }
  /** A watch is opened again from where the last one ended. */
  | { readonly type: 'reconnect' }
  /** After failures, a watch shows something or has stood for a while; nothing need have changed meanwhile. */
  | { readonly type: 'recovered' }
  | {
      readonly type: 'error';
      readonly phase: 'list' | 'watch' | 'sink';
      readonly error: unknown;
      /** Failures in a row, this one included. */
      readonly failures: number;
      readonly retryInMs: number;
      /** 404 or 403: possibly "not yet". */
      readonly notServed: boolean;
    };

export interface ReflectorOptions {
  readonly client: KubeClient;
  readonly gvr: Gvr;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly sink: ReflectorSink;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Ends a back-off pause; not one that the server asked for. */
  readonly wake?: Wake | undefined;
  readonly limits?: Partial<ReflectorLimits> | undefined;
  /**
   * The schema may change under the objects: the server then shows the same versions in another way, and tells so by
   * an ERROR in the stream, as kcp does for a bound API. After one, objects are listed anew. Default false.
   */
  readonly schemaMayChange?: boolean | undefined;
  /** What it throws is ignored. */
  readonly onEvent?: ((event: ReflectorEvent) => void) | undefined;
}

const DEFAULT_BACKOFF: BackoffOptions = { baseMs: 500, maxMs: 30_000 };

/**
 * Keeps a sink equal to one resource of a server: a complete list, then a watch from the list's version,
 * resumed from the last version seen (bookmarks included) whenever it ends. Lists again only when the server
 * has forgotten that version (410 as answer or in the stream), keeps refusing it, or the sink threw; and where the
 * schema may change, after every ERROR in the stream.
 *
 * Resolves after the signal, and only then; never rejects. A version that always answers 410, a server that
 * refuses, throttles, breaks off or falls silent makes it wait, jittered and growing, and try again.
 */
export async function runReflector(options: ReflectorOptions): Promise<void> {
  const limits = withDefaults(options.limits);
  const { clock, random, signal, wake = new Wake() } = options;
  const tell = quietly(options.onEvent);
  let state = INITIAL_STATE;
  // A list that expired half-way is tried again in fewer, larger pages: it may take longer than the server remembers.
  let growth = 0;
  while (!signal.aborted) {
    const since = wake.calls;
    const outcome =
      state.resumeFrom === undefined
        ? await listOnce(options, { ...limits, pageSize: limits.pageSize * 2 ** growth }, tell)
        : await watchOnce(options, limits, { resumeFrom: state.resumeFrom, failed: state.attempt > 0 }, tell);
    if (stopped(signal)) return;
    if (outcome.phase === 'list') growth = isStatus(errorOf(outcome), 410) ? Math.min(growth + 1, 3) : 0;

    const step = planNext(state, outcome, limits, random);
    report(outcome, step.state, step.delayMs, tell);
    if (step.relist !== undefined) tell({ type: 'relist', cause: step.relist });
    state = step.state;
    if (step.delayMs > 0) {
      const idle = step.wakeable ? wake : new Wake();
      const woken = await idle.sleep(step.delayMs, step.wakeable ? since : 0, { clock, signal });
      if (woken) state = { ...state, attempt: 0, expirations: 0 };
    }
    if (outcome.phase === 'watch' && state.resumeFrom !== undefined) tell({ type: 'reconnect' });
  }
}

async function listOnce(
  options: ReflectorOptions,
  limits: ReflectorLimits,
  tell: (event: ReflectorEvent) => void,
): Promise<ReflectorOutcome> {
  const { client, gvr, namespace, labelSelector, fieldSelector, sink, clock, signal } = options;
  const started = clock.now();
  try {
    guardSink(() => sink.begin());
    const { resourceVersion, pages, items } = await listPages(
      client,
      gvr,
      {
        namespace,
        labelSelector,
        fieldSelector,
        signal,
        timeoutMs: limits.listTimeoutMs,
        pageSize: limits.pageSize,
        maxPages: limits.maxPages,
      },
      (page) => guardSink(() => sink.page(page)),
    );
    guardSink(() => sink.commit());
    tell({ type: 'listed', items, pages, tookMs: clock.now() - started });
    return { phase: 'list', resourceVersion };
  } catch (error) {
    return { phase: 'list', error: error ?? new Error('the list failed without an error') };
  }
}

async function watchOnce(
  options: ReflectorOptions,
  limits: ReflectorLimits,
  { resumeFrom, failed }: { readonly resumeFrom: string; readonly failed: boolean },
  tell: (event: ReflectorEvent) => void,
): Promise<ReflectorOutcome> {
  const { client, gvr, namespace, labelSelector, fieldSelector, sink, clock, random, signal } = options;
  let resourceVersion = resumeFrom;
  let error: unknown;
  // A server that is waited for in vain has not stood by anything, however long that took.
  const stream: { openedAt?: number } = {};
  // A server that accepts each watch and breaks it off has not recovered.
  let mayRecover = failed;
  const recover = (): void => {
    if (mayRecover) tell({ type: 'recovered' });
    mayRecover = false;
  };
  let cancelStanding = (): void => undefined;
  try {
    const events = guardedWatch(
      client,
      gvr,
      {
        namespace,
        labelSelector,
        fieldSelector,
        resourceVersion,
        serverTimeoutMs: Math.round(limits.watchMinMs + random() * (limits.watchMaxMs - limits.watchMinMs)),
        silenceMs: limits.silenceMs,
        signal,
        onOpen: () => {
          stream.openedAt = clock.now();
          if (mayRecover) cancelStanding = clock.after(limits.stableMs, recover);
        },
      },
      clock,
    );
    for await (const event of events) {
      recover();
      if (event.type === 'BOOKMARK') resourceVersion = event.resourceVersion || resourceVersion;
      else {
        guardSink(() => sink.apply(event));
        resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
      }
    }
  } catch (caught) {
    error = caught ?? new Error('the watch failed without an error');
  } finally {
    cancelStanding();
  }
  const { openedAt } = stream;
  const reshaped = options.schemaMayChange === true && openedAt !== undefined && error instanceof ApiError;
  const lastedMs = openedAt === undefined ? 0 : clock.now() - openedAt;
  return { phase: 'watch', error, resourceVersion, lastedMs, reshaped };
}

function guardSink(action: () => void): void {
  try {
    action();
  } catch (cause) {
    throw new SinkError('the sink of a reflector threw', { cause });
  }
}

function report(
  outcome: ReflectorOutcome,
  next: ReflectorState,
  retryInMs: number,
  tell: (event: ReflectorEvent) => void,
): void {
  const error = errorOf(outcome);
  if (error === undefined) return;
  const sink = error instanceof SinkError;
  tell({
    type: 'error',
    phase: sink ? 'sink' : outcome.phase,
    error: sink ? error.cause : error,
    failures: isStatus(error, 410) ? next.expirations : next.attempt,
    retryInMs,
    notServed: isNotServed(error),
  });
}

function errorOf(outcome: ReflectorOutcome): unknown {
  return 'error' in outcome ? outcome.error : undefined;
}

/** A function, so that the compiler does not take the answer of the loop's condition for the present one. */
function stopped(signal: AbortSignal): boolean {
  return signal.aborted;
}

function quietly(listener: ((event: ReflectorEvent) => void) | undefined): (event: ReflectorEvent) => void {
  return (event) => {
    try {
      listener?.(event);
    } catch {
      // A broken metric or log must not end the reflector, and there is nowhere left to tell.
    }
  };
}

function withDefaults(limits: Partial<ReflectorLimits> = {}): ReflectorLimits {
  const backoff = limits.backoff ?? DEFAULT_BACKOFF;
  return {
    pageSize: 500,
    maxPages: 2000,
    listTimeoutMs: 60_000,
    watchMinMs: 5 * 60_000,
    watchMaxMs: 10 * 60_000,
    silenceMs: 110_000,
    stableMs: 5000,
    backoff,
    notServedBackoff: () => backoff,
    maxRefusedResumes: 5,
    ...limits,
  };
}
