import type { ConditionState } from '../../api/conditions.js';
import { backoffMs, retryDelayMs } from '../../kube/backoff.js';
import { Wake } from '../../kube/cache/wake.js';
import { ApiError, isStatus } from '../../kube/errors.js';
import type { BindingAssignment } from '../protocol/assignment.js';
import { ConsumerError, consumerProblem } from './consumer-problem.js';
import { ContractWatch } from './contract-watch.js';
import { Heartbeats } from './heartbeats.js';
import { copiesLeft, leave, leftUnanswered } from './leave.js';
import type { BindingObjects } from './binding-objects.js';
import { mustAbandon } from './out-of-reach.js';
import { Preparation, type Prepared } from './preparation.js';
import { ProviderChangedError, providerChanged, type ProviderLink } from './provider-link.js';
import { providerProblem, type ProviderProblem, type Retry } from './provider-problem.js';
import { Reporter } from './reporter.js';
import type { Session, SessionOutput } from './run-worker.js';
import { ServedReport } from './served-report.js';
import { restMs, slowMs } from './session-pace.js';
import { sessionReport } from './session-report.js';
import type { SessionSettings } from './session-settings.js';

/** Who releases by force does not wait longer than this for one answer. */
const FORCED_MS = 5000;

const ANSWERS: ConditionState = { status: 'True', reason: 'Connected', message: 'The provider answers.' };

/** Figures are counted when something says that they changed, and now and then anyway. */
const MAX_QUIET_TICKS = 10;

/** Starts the work on a binding. */
export function openBindingSession(
  settings: SessionSettings,
  assignment: BindingAssignment,
  output: SessionOutput,
): Session {
  return new BindingSession(settings, assignment, output);
}

/**
 * Works towards one binding's assignment, in passes that may end anywhere and start again from the truth on both
 * servers. A pass is cut short when a newer assignment comes.
 */
class BindingSession implements Session {
  readonly #settings: SessionSettings;
  readonly #output: SessionOutput;
  readonly #reporter: Reporter;
  readonly #preparation: Preparation;
  readonly #heartbeats: Heartbeats;
  readonly #served: ServedReport;
  readonly #watch: ContractWatch;
  readonly #wake = new Wake();
  readonly #closed = new AbortController();
  readonly #ended: Promise<void>;
  #assignment: BindingAssignment;
  /** The assignment that the last finished pass was about: what reports speak of. */
  #workedOn: BindingAssignment | undefined;
  #pass = new AbortController();
  #link: ProviderLink | undefined;
  #objects: BindingObjects | undefined;
  #failures = 0;
  #connected: ConditionState | undefined;
  #exportProblem: ConditionState | undefined;
  #syncProblem: ConditionState | undefined;
  #left = false;
  #remaining: readonly string[] = [];
  /** Copies that those left who let go of the objects by force and are closed. */
  #leftBehind: readonly string[] = [];
  /** What the log was told last. */
  #logged: string | undefined;
  /** Looks at the figures since the last report, or enough of them to look now. */
  #quietTicks = 0;
  #cancelTick: () => void = () => undefined;

  constructor(settings: SessionSettings, assignment: BindingAssignment, output: SessionOutput) {
    const { clock, options, version } = settings;
    this.#settings = settings;
    this.#assignment = assignment;
    this.#output = output;
    const { reportIntervalMs: intervalMs } = options;
    this.#reporter = new Reporter({ clock, intervalMs, send: (report) => output.report(report) });
    this.#preparation = new Preparation(clock);
    this.#heartbeats = new Heartbeats({ clock, intervalMs: options.heartbeatIntervalMs, version });
    this.#served = new ServedReport(clock);
    this.#watch = new ContractWatch({
      ...settings,
      exportName: assignment.request.name,
      cluster: assignment.cluster,
      silenceMs: options.watchSilenceMs,
      onChange: () => this.#wake.wake(),
    });
    this.#ended = this.#run();
  }

  update(assignment: BindingAssignment): void {
    this.#assignment = assignment;
    this.#failures = 0;
    this.#pass.abort();
    this.#wake.wake();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#pass.abort();
    this.#reporter.close();
    this.#cancelTick();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { clock } = this.#settings;
    const { signal } = this.#closed;
    this.#tick();
    while (!signal.aborted) {
      const assignment = this.#assignment;
      const since = this.#wake.calls;
      this.#pass = new AbortController();
      const delay = await this.#attempt(assignment, this.#pass.signal);
      if (!this.#pass.signal.aborted) {
        this.#workedOn = assignment;
        this.#publish();
      }
      await this.#wake.sleep(delay, since, { clock, signal });
    }
    await this.#objects?.close();
    await this.#watch.stop();
    await this.#link?.close();
  }

  /** One pass and the milliseconds until the next. Never rejects. */
  async #attempt(assignment: BindingAssignment, signal: AbortSignal): Promise<number> {
    try {
      const settled = await this.#work(assignment, signal);
      this.#syncProblem = undefined;
      this.#logged = undefined;
      if (settled) this.#failures = 0;
      return settled ? this.#rest(assignment) : this.#retryDelay('soon');
    } catch (error) {
      if (signal.aborted) return 0;
      return this.#failed(assignment, error, signal);
    }
  }

  /** True: nothing to wait for. */
  async #work(assignment: BindingAssignment, signal: AbortSignal): Promise<boolean> {
    if (assignment.stage !== 'leave') this.#left = false;
    const link = (this.#link ??= this.#settings.linkProvider(assignment.provider));
    const request = this.#request(assignment, signal);
    await link.verify(assignment.provider, request);
    if (assignment.stage !== 'leave') {
      await this.#heartbeats.pass(link.contract, assignment.heartbeat, request);
      await link.followRotation(this.#watched(assignment)?.kubeconfig, request);
    }
    this.#connected = ANSWERS;
    if (this.#heartbeats.foreign && assignment.stage !== 'leave') return this.#makeWay(assignment, signal);
    return this.#advance(assignment, link, signal);
  }

  async #advance(assignment: BindingAssignment, link: ProviderLink, signal: AbortSignal): Promise<boolean> {
    if (assignment.stage === 'leave') return this.#leave(assignment, link, signal);
    const prepared = await this.#prepare(assignment, link, signal);
    this.#exportProblem = undefined;
    if (prepared.settled) this.#watch.start(link.contract);
    if (assignment.stage === 'prepare') return prepared.settled;
    const abandoned = mustAbandon(assignment, this.#objects?.stats());
    await this.#sync(assignment, link, { abandoned, signal });
    await this.#tellServed(assignment, link, signal);
    return prepared.settled && (assignment.stage !== 'drain' || this.#drained);
  }

  #prepare(assignment: BindingAssignment, link: ProviderLink, signal: AbortSignal): Promise<Prepared> {
    return this.#preparation.pass(link.contract, assignment.request, {
      mayRequest: assignment.stage === 'prepare',
      seen: this.#watched(assignment)?.export?.object,
      ...this.#request(assignment, signal),
      onWaiting: (waiting) => {
        this.#workedOn = assignment;
        this.#publish(waiting);
      },
    });
  }

  /** Who lets go asks: that a provider is away shows in a watch only after a while. */
  #watched(assignment: BindingAssignment): ContractWatch | undefined {
    return assignment.stage === 'drain' ? undefined : this.#watch;
  }

  /** Milliseconds until the next look at a binding in order. */
  #rest(assignment: BindingAssignment): number {
    const { clock, random } = this.#settings;
    return restMs(this.#watched(assignment)?.live === true, this.#heartbeats.nextAt - clock.now(), random);
  }

  async #sync(
    assignment: BindingAssignment,
    link: ProviderLink,
    options: { readonly abandoned: boolean; readonly signal: AbortSignal },
  ): Promise<void> {
    if (assignment.consumer === undefined) return;
    const { consumer } = assignment;
    const output = { ...this.#output, changed: () => (this.#quietTicks = MAX_QUIET_TICKS) };
    this.#objects ??= this.#settings.openBindingObjects({ ...assignment, consumer }, link, output);
    await this.#objects.reconcile(assignment, this.#preparation.last, options);
  }

  /** A provider that does not want to know keeps nobody from syncing. */
  async #tellServed(assignment: BindingAssignment, link: ProviderLink, signal: AbortSignal): Promise<void> {
    const { schemas, SchemaInSync } = this.#preparation.last ?? {};
    if (assignment.stage !== 'sync' || schemas === undefined || SchemaInSync === undefined) return;
    const served = { exportName: assignment.request.name, schemas, schemaInSync: SchemaInSync };
    try {
      await this.#served.tell(link.contract, served, this.#request(assignment, signal));
    } catch (error) {
      if (!isStatus(error, 403)) throw error;
    }
  }

  #request(assignment: BindingAssignment, signal: AbortSignal): { signal: AbortSignal; timeoutMs: number } {
    const { requestTimeoutMs } = this.#settings.options;
    return { signal, timeoutMs: assignment.force ? Math.min(requestTimeoutMs, FORCED_MS) : requestTimeoutMs };
  }

  async #leave(assignment: BindingAssignment, link: ProviderLink, signal: AbortSignal): Promise<boolean> {
    await this.#stopObjects();
    await this.#watch.stop();
    if (this.#left) return true;
    const { name, create } = assignment.request;
    const resources = this.#preparation.last?.export?.resources ?? create?.resources ?? [];
    this.#remaining = await leave(
      link.contract,
      { name, resources },
      {
        clock: this.#settings.clock,
        request: this.#request(assignment, signal),
        namespacesInUse: assignment.namespacesInUse,
        claimed: this.#preparation.last?.export?.permissionClaims ?? [],
      },
    );
    this.#left = true;
    return true;
  }

  /** Somebody else's konnector works on this contract: two would undo each other's work. */
  async #makeWay(assignment: BindingAssignment, signal: AbortSignal): Promise<boolean> {
    const { message = '' } = this.#heartbeats.state ?? {};
    this.#connected = { status: 'False', reason: 'ForeignKonnector', message };
    if (assignment.force) await this.#forced(assignment, signal);
    else await this.#stopObjects();
    return true;
  }

  async #stopObjects(): Promise<void> {
    const objects = this.#objects;
    this.#objects = undefined;
    if (objects !== undefined) this.#leftBehind = copiesLeft(objects.stats());
    await objects?.close();
  }

  async #failed(assignment: BindingAssignment, error: unknown, signal: AbortSignal): Promise<number> {
    if (error instanceof ConsumerError) {
      this.#syncProblem = consumerProblem(error);
      return this.#retryDelay('soon');
    }
    const server = assignment.provider.credentials.server;
    this.#settings.onPassFailed();
    const problem = providerProblem(error, server);
    if (this.#logged !== problem.state.message) {
      this.#settings.log.warn({ provider: server, err: error }, 'the provider is in trouble');
      this.#logged = problem.state.message;
    }
    if (error instanceof ProviderChangedError) {
      this.#connected = providerChanged(server, assignment.provider.contractNamespace);
      await this.#stopObjects();
    } else this.#show(problem);
    if (assignment.force) await this.#forced(assignment, signal);
    // What only a person can mend must not be tried by the watches meanwhile.
    const slow = error instanceof ProviderChangedError || problem.retry === 'slowly';
    if (slow) await this.#watch.stop();
    const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : undefined;
    return retryDelayMs(retryAfterMs, this.#retryDelay(slow ? 'slowly' : 'soon'));
  }

  #show({ condition, state }: ProviderProblem): void {
    this.#connected = condition === 'Connected' ? state : ANSWERS;
    if (condition !== 'Connected') this.#exportProblem = state;
  }

  /** The user said to let go although the provider does not answer. */
  async #forced(assignment: BindingAssignment, signal: AbortSignal): Promise<void> {
    if (assignment.stage === 'leave') {
      await this.#stopObjects();
      this.#remaining = [leftUnanswered(assignment.provider)];
      this.#left = true;
    }
    if (assignment.stage !== 'drain' || this.#link === undefined) return;
    try {
      await this.#sync(assignment, this.#link, { abandoned: true, signal });
    } catch (error) {
      if (error instanceof ConsumerError) this.#syncProblem = consumerProblem(error);
      else throw error;
    }
  }

  get #drained(): boolean {
    if (this.#workedOn?.stage !== 'drain') return false;
    return this.#workedOn.consumer === undefined || this.#objects?.drained === true;
  }

  /** Figures of objects move between passes. */
  #tick(): void {
    if (this.#closed.signal.aborted) return;
    this.#quietTicks += 1;
    const due = this.#quietTicks >= MAX_QUIET_TICKS || this.#assignment.stage === 'drain';
    if (this.#objects !== undefined && due) this.#publish();
    const ms = this.#settings.options.reportIntervalMs;
    this.#cancelTick = this.#settings.clock.after(ms, () => this.#tick());
  }

  #publish(prepared = this.#preparation.last): void {
    this.#quietTicks = 0;
    const assignment = this.#workedOn;
    if (assignment === undefined || this.#closed.signal.aborted) return;
    this.#reporter.publish(
      sessionReport({
        assignment,
        connected: this.#connected,
        exportProblem: this.#exportProblem,
        syncProblem: this.#syncProblem,
        prepared,
        contractNamespaceUid: this.#link?.uid,
        prettyName: this.#heartbeats.prettyName,
        heartbeat: this.#heartbeats.state,
        rotated: this.#link?.rotated,
        stats: this.#objects?.stats() ?? [],
        drained: this.#drained,
        left: this.#left,
        remaining: [...this.#remaining, ...this.#leftBehind],
      }),
    );
  }

  #retryDelay(retry: Retry): number {
    const { options, random } = this.#settings;
    if (retry === 'slowly') return slowMs(random);
    const backoff = { baseMs: options.backoffBaseMs, maxMs: options.backoffMaxMs };
    return backoffMs(this.#failures++, backoff, random);
  }
}
