import { BINDINGS } from '../../api/group.js';
import { isObjectNotFound, isStatus } from '../../kube/errors.js';
import { detail } from '../conditions.js';
import { jsonEqual } from '../../kube/json.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { JsonObject } from '../../kube/json-value.js';
import type { KubeObject, LogicalCluster } from '../../kube/object.js';
import type { ReconcilerDeps } from '../deps.js';
import { parseKey, poolKey, queueKey } from '../keys.js';
import type { QueueKey } from '../keys.js';
import type { Reconciler, RunResult, Shared } from '../shared.js';
import { bindingStatus, hasCleanupFinalizer } from '../views.js';
import { writeStatus } from '../write-status.js';
import type { AccountTokens } from './account-tokens.js';
import { decideBinding } from './decide.js';
import { BindingExecutor } from './executor.js';
import { BindingObserver } from './observer.js';
import type { ObserverParts } from './observer.js';
import type { BindingObservation } from './observation.js';
import { generatedNames, ownerOf, seemsMadeFor } from './owner.js';
import type { BindingRef } from './owner.js';
import { SLOW_POLL_MS } from './plan.js';
import type { BindingPlan } from './plan.js';
import { ReleasedBindings } from './released-bindings.js';
import type { Runtime, Runtimes } from './runtime.js';
import { PlanOutdatedError } from './step-context.js';
import type { StepContext } from './step-context.js';
import { bindingStatusOf, FIGURES_MS, statusChange } from './status.js';

export interface BindingTools extends ObserverParts {
  readonly tokens: AccountTokens;
}

/** What the controllers need to know to bring news to the right key. */
export interface BindingReconciler extends Reconciler {
  /** Binding and connection behind a key of the pool; undefined for one that is not worked on. */
  behind(key: string): { readonly binding: QueueKey; readonly connection: QueueKey } | undefined;
}

/** How long the worker of a new process may take to say something before its silence is written down. */
const SILENCE_MS = 15_000;
/** After a step was done the next ones are decided soon, on what the caches show by then. */
const NEXT_STEP_MS = 200;

/** Bindings: worker, generated export, APIBinding, status; and the way back. */
export function createBindingReconciler(
  deps: ReconcilerDeps,
  shared: Shared,
  tools: BindingTools,
): BindingReconciler {
  return new Bindings(deps, shared, tools);
}

class Bindings implements BindingReconciler {
  readonly #deps: ReconcilerDeps;
  readonly #shared: Shared;
  readonly #tools: BindingTools;
  readonly #runtimes: Runtimes;
  readonly #observer: BindingObserver;
  readonly #executor: BindingExecutor;
  readonly #released: ReleasedBindings;

  constructor(deps: ReconcilerDeps, shared: Shared, tools: BindingTools) {
    this.#deps = deps;
    this.#shared = shared;
    this.#tools = tools;
    this.#runtimes = shared.runtimes;
    this.#observer = new BindingObserver(deps, shared, tools);
    this.#executor = new BindingExecutor(deps, shared, tools);
    this.#released = new ReleasedBindings(deps.clock);
  }

  behind(key: string): { readonly binding: QueueKey; readonly connection: QueueKey } | undefined {
    const runtime = this.#runtimes.get(key);
    if (runtime === undefined) return undefined;
    const { cluster, name } = runtime.ref;
    return { binding: queueKey(cluster, name), connection: queueKey(cluster, runtime.connection) };
  }

  async reconcile(key: string): Promise<RunResult> {
    const target = parseKey(key);
    if (target === undefined) return undefined;
    const object = this.#shared.index.bindings.get(target);
    const results: RunResult[] = [];
    for (const ref of this.#others(target.cluster, target.name, object?.metadata.uid)) {
      results.push(await this.#reconcileOther(ref));
    }
    const uid = object?.metadata.uid;
    if (object !== undefined && uid !== undefined) {
      const ref = { ...target, uid };
      // With our finalizer it is what a cache shows that is behind.
      const behind = this.#released.has(ref) && hasCleanupFinalizer(object);
      results.push(behind ? { requeueAfterMs: SLOW_POLL_MS } : await this.#run(ref, object));
    }
    return soonest(results);
  }

  /** Bindings that had this name before, as far as anything of them is left. */
  #others(cluster: LogicalCluster, name: string, current: string | undefined): BindingRef[] {
    const refs = new Map<string, BindingRef>();
    for (const { ref } of this.#runtimes.named(cluster, name)) refs.set(ref.uid, ref);
    for (const generated of this.#deps.clientWorkspace.generatedExports.all()) {
      const owner = seemsMadeFor(generated, { cluster, name }) ? ownerOf(generated) : undefined;
      if (owner !== undefined) refs.set(owner.uid, owner);
    }
    if (current !== undefined) refs.delete(current);
    return [...refs.values()].filter((ref) => !this.#released.has(ref));
  }

  /**
   * A binding that no store shows. Only a live answer that names it, or another object in its place, says that
   * it is gone; then what is left of it is taken apart as if it were being deleted.
   */
  async #reconcileOther(ref: BindingRef): Promise<RunResult> {
    try {
      const object = await this.#deps.workspaces.workspace(ref.cluster).get(BINDINGS, { name: ref.name });
      if (object.metadata.uid === ref.uid) return { requeueAfterMs: SLOW_POLL_MS };
    } catch (error) {
      // Not served, or not allowed: nothing is known, and nothing is done.
      if (!isObjectNotFound(error)) return { requeueAfterMs: 4 * SLOW_POLL_MS };
    }
    return this.#run(ref, undefined);
  }

  async #run(ref: BindingRef, object: KubeObject | undefined): Promise<RunResult> {
    const runtime = this.#runtimes.of(ref, this.#deps.clock.now());
    const observed = await this.#observer.observe(runtime, object);
    const plan = decideBinding(observed);
    const { failure } = await this.#execute(plan, { runtime, observed, object });
    if (failure === undefined && plan.steps.some(({ name }) => name === 'binding.worker.release')) {
      this.#forget(ref);
      return undefined;
    }
    const figuresInMs = await this.#say(runtime, observed, plan, object);
    if (failure instanceof PlanOutdatedError) return { requeueAfterMs: NEXT_STEP_MS };
    if (failure !== undefined) throw failure;
    return soonest([
      plan.steps.some(({ name }) => name !== 'binding.worker.assign')
        ? { requeueAfterMs: NEXT_STEP_MS }
        : undefined,
      wait(plan.lookAgainMs),
      wait(figuresInMs),
      wait(this.#tools.tokens.renewInMs(generatedNames(ref).exportName)),
    ]);
  }

  /** Does the steps up to the first that fails; its failure is remembered for the next run's conditions. */
  async #execute(plan: BindingPlan, context: StepContext): Promise<{ readonly failure?: Error }> {
    for (const step of plan.steps) {
      try {
        await this.#executor.do(step, context);
      } catch (error) {
        const failure = error instanceof Error ? error : new Error('a step failed', { cause: error });
        const isConflict = isStatus(error, 409);
        context.runtime.failure = isConflict
          ? undefined
          : { step: step.name, message: detail(failure.message) };
        return { failure };
      }
    }
    context.runtime.failure = undefined;
    return {};
  }

  /** Writes the status where it differs. Gives the milliseconds after which held back figures are due. */
  async #say(
    runtime: Runtime,
    observed: BindingObservation,
    plan: BindingPlan,
    object: KubeObject | undefined,
  ): Promise<number | undefined> {
    if (plan.status === undefined || object === undefined) return undefined;
    const previous = bindingStatus(object);
    const silentFor = observed.now - runtime.firstSeenAt;
    const silent = observed.latest === undefined && previous.conditions !== undefined && !observed.deleting;
    // After a restart what status says from before is better than a change to "unknown" and back.
    if (silent && silentFor < SILENCE_MS && observed.connection.kind === 'present')
      return SILENCE_MS - silentFor;
    const context = { previous, generation: object.metadata.generation };
    const status = bindingStatusOf(plan.status, observed, context);
    const before: JsonObject = isJsonObject(object['status']) ? object['status'] : {};
    const change = statusChange(before, status, jsonEqual);
    if (change === 'none' || change === 'time') return undefined;
    if (change === 'figures' && runtime.figuresAt !== undefined) {
      const heldFor = observed.now - runtime.figuresAt;
      if (heldFor < FIGURES_MS) return FIGURES_MS - heldFor;
    }
    this.#deps.metrics.step('binding.status');
    await this.#shared.runStep('binding.status', queueKey(runtime.ref.cluster, runtime.ref.name), () =>
      writeStatus(this.#deps.workspaces.workspace(runtime.ref.cluster), BINDINGS, object, status),
    );
    runtime.figuresAt = observed.now;
    return undefined;
  }

  #forget(ref: BindingRef): void {
    this.#released.add(ref);
    const key = poolKey(ref.cluster, ref.uid);
    this.#runtimes.remove(ref);
    this.#shared.reports.forget(key);
    this.#tools.planner.forget(ref);
    this.#tools.access.forget(ref);
    this.#tools.tokens.forget(generatedNames(ref).exportName);
    this.#observer.forget(ref);
  }
}

function wait(ms: number | undefined): RunResult {
  return ms === undefined ? undefined : { requeueAfterMs: ms };
}

function soonest(results: readonly RunResult[]): RunResult {
  const times = results.flatMap((result) => result?.requeueAfterMs ?? []);
  return times.length === 0 ? undefined : { requeueAfterMs: Math.max(NEXT_STEP_MS / 4, Math.min(...times)) };
}
