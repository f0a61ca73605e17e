import { BINDINGS, CONNECTIONS } from '../../api/group.js';
import { GVR } from '../../api/gvr.js';
import { CONNECTION_UID_LABEL, BINDING_UID_LABEL } from '../../api/markers.js';
import { connectionStateName } from '../../api/names.js';
import type { KubeObject } from '../../kube/object.js';
import type { ConnectionRef, ConnectionState, Versioned } from '../../state/records.js';
import { startLogin } from '../../state/login/start-login.js';
import { loginUrl } from '../../state/login/login-url.js';
import type { ReconcilerDeps } from '../deps.js';
import { setFinalizer } from '../finalizer.js';
import { parseKey, poolKey, queueKey } from '../keys.js';
import type { QueueKey } from '../keys.js';
import type { Reconciler, RunResult, Shared } from '../shared.js';
import type { StepName } from '../steps.js';
import { bindingSpec, connectionSpec, connectionStatus, hasCleanupFinalizer, isDeleting } from '../views.js';
import { statusDiffers, writeStatus } from '../write-status.js';
import { decideConnection } from './decide.js';
import type { ConnectionStep } from './decide.js';
import { probeSecret } from './kubeconfig-secret.js';
import type { ConnectionObservation, ProviderProbe } from './observation.js';
import type { ProviderDocuments } from './provider-documents.js';
import { publishedLogin } from './published-login.js';
import { connectionStatusOf } from './status.js';
import type { PublishedLogin } from './status.js';

interface Run {
  readonly key: QueueKey;
  readonly object: KubeObject;
  readonly ref: ConnectionRef;
  state: Versioned<ConnectionState>;
  published: PublishedLogin | undefined;
}

/** How long the workers of a new process may take to say something before their silence is written down. */
const SILENCE_MS = 15_000;

/** Connections: login or kubeconfig, their state in the client workspace, and their status. */
export function createConnectionReconciler(
  deps: ReconcilerDeps,
  shared: Shared,
  documents: ProviderDocuments,
): Reconciler {
  return new ConnectionReconciler(deps, shared, documents);
}

class ConnectionReconciler implements Reconciler {
  readonly #deps: ReconcilerDeps;
  readonly #shared: Shared;
  readonly #documents: ProviderDocuments;
  readonly #startedAt: number;
  /** URLs of logins that this process started: their ids are stored as hashes only, and status may lag behind. */
  readonly #started = new Map<QueueKey, { readonly idHash: string; readonly published: PublishedLogin }>();

  constructor(deps: ReconcilerDeps, shared: Shared, documents: ProviderDocuments) {
    this.#deps = deps;
    this.#shared = shared;
    this.#documents = documents;
    this.#startedAt = deps.clock.now();
  }

  async reconcile(key: string): Promise<RunResult> {
    const target = parseKey(key);
    if (target === undefined) return undefined;
    const object = this.#shared.index.connections.get(target);
    const uid = object?.metadata.uid;
    if (object === undefined || uid === undefined) {
      this.#documents.forget(queueKey(target.cluster, target.name));
      this.#started.delete(queueKey(target.cluster, target.name));
      return undefined;
    }
    const ref = { ...target, uid };
    const state = await this.#shared.states.read(ref);
    const published = this.#published(object, ref, state.value);
    const run: Run = { key: queueKey(ref.cluster, ref.name), object, ref, state, published };
    const observed = await this.#observe(run);
    const plan = decideConnection(observed);
    for (const step of plan.steps) await this.#do(step, run);
    if (plan.status === undefined) return undefined;
    const after = { ...observed, state: run.state.value, loginPublished: run.published !== undefined };
    const said = decideConnection(after);
    // A login's URL is known to this run only: it is published in any case.
    const mustSay = plan.steps.length > 0;
    if (said.status !== undefined && (mustSay || !this.#isTooEarly(after, object))) {
      const status = connectionStatusOf(said.status, after, {
        previous: connectionStatus(object),
        generation: object.metadata.generation,
        published: run.published,
      });
      if (statusDiffers(object, status)) {
        await this.#step('connection.status', run, () =>
          writeStatus(this.#deps.workspaces.workspace(ref.cluster), CONNECTIONS, object, status),
        );
      }
    }
    return this.#wake(run, said.wakeAt, observed.spec.backend !== undefined);
  }

  #wake(run: Run, wakeAt: number | undefined, asksBackend: boolean): RunResult {
    const now = this.#deps.clock.now();
    const times = [
      ...(wakeAt === undefined ? [] : [Math.max(0, wakeAt - now)]),
      ...(asksBackend ? [this.#documents.askAgainInMs(run.key) ?? Infinity] : []),
      ...(now - this.#startedAt < SILENCE_MS ? [SILENCE_MS] : []),
    ];
    // A little later than the moment itself, so that the clock is surely past it.
    const soonest = Math.min(Infinity, ...times);
    return soonest === Infinity ? undefined : { requeueAfterMs: soonest + 50 };
  }

  /**
   * After a restart nothing is known of backend and workers for a moment. What status says from before is
   * better than a change to "unknown" and back.
   */
  #isTooEarly(observed: ConnectionObservation, object: KubeObject): boolean {
    if (connectionStatus(object).conditions === undefined || observed.deleting) return false;
    if (observed.spec.backend !== undefined && observed.provider.kind === 'pending') return true;
    const silent =
      observed.bindings.length > 0 && observed.bindings.every(({ report }) => report === undefined);
    return silent && this.#deps.clock.now() - this.#startedAt < SILENCE_MS;
  }

  /** As status shows it; else as this process remembers it, so that what it just wrote is not missed. */
  #published(object: KubeObject, ref: ConnectionRef, state: ConnectionState): PublishedLogin | undefined {
    const started = this.#started.get(queueKey(ref.cluster, ref.name));
    if (started !== undefined && started.idHash === state.login?.idHash) return started.published;
    return publishedLogin(connectionStatus(object).authentication, state.login, {
      externalUrl: this.#deps.externalUrl,
      stateName: connectionStateName(ref.cluster, ref.uid),
    });
  }

  async #observe(run: Run): Promise<ConnectionObservation> {
    const { index, reports } = this.#shared;
    const { object, ref } = run;
    const spec = connectionSpec(object);
    const claims = await index.claimsNow(ref.cluster);
    const beating = index.beating(ref.cluster, ref.name)?.metadata.uid;
    const deleting = isDeleting(object);
    const bindings = (await this.#bindings(ref, deleting)).map((binding) => {
      const uid = binding.metadata.uid ?? '';
      return {
        name: binding.metadata.name,
        uid,
        deleting: isDeleting(binding),
        beats: uid === beating,
        report: reports.latest(poolKey(ref.cluster, uid)),
      };
    });
    return {
      now: this.#deps.clock.now(),
      deleting,
      hasFinalizer: hasCleanupFinalizer(object),
      spec,
      workspaceDying: index.isDying(ref.cluster),
      claims,
      state: run.state.value,
      loginPublished: run.published !== undefined,
      handshakeServed: this.#deps.externalUrl !== undefined,
      provider: this.#provider(run.key, spec.backend, deleting),
      secret:
        spec.kubeconfigSecretRef === undefined
          ? undefined
          : await probeSecret(
              this.#deps.workspaces.workspace(ref.cluster),
              claims,
              spec.kubeconfigSecretRef,
              this.#deps,
            ),
      bindings,
      leftovers: await this.#leftovers(ref, new Set(bindings.map(({ uid }) => uid)), deleting),
    };
  }

  #provider(
    key: QueueKey,
    backend: ReturnType<typeof connectionSpec>['backend'],
    deleting: boolean,
  ): ProviderProbe {
    return backend === undefined || deleting ? { kind: 'pending' } : this.#documents.get(key, backend);
  }

  /** A connection goes only when a live answer shows that nobody uses it. */
  async #bindings(ref: ConnectionRef, live: boolean): Promise<readonly KubeObject[]> {
    const cached = this.#shared.index.bindingsOf(ref.cluster, ref.name);
    if (!live || cached.length > 0) return cached;
    const { items } = await this.#deps.workspaces.workspace(ref.cluster).list(BINDINGS);
    return items.filter((binding) => bindingSpec(binding).connection === ref.name);
  }

  /** Generated exports of this connection whose bindings are gone and that are still cleaned up. */
  async #leftovers(ref: ConnectionRef, bindings: ReadonlySet<string>, live: boolean): Promise<number> {
    const { client, generatedExports } = this.#deps.clientWorkspace;
    const labelSelector = `${CONNECTION_UID_LABEL}=${ref.uid}`;
    const exports = live
      ? (await client.list(GVR.apiExports, { labelSelector })).items
      : generatedExports.all();
    const owners = new Set(live ? this.#shared.runtimes.ofConnection(ref.cluster, ref.name) : []);
    for (const { metadata } of exports) {
      const owner = metadata.labels?.[BINDING_UID_LABEL];
      if (metadata.labels?.[CONNECTION_UID_LABEL] === ref.uid && owner !== undefined) owners.add(owner);
    }
    return [...owners].filter((uid) => !bindings.has(uid)).length;
  }

  #step(name: StepName, run: Run, effect: () => Promise<void>): Promise<void> {
    this.#deps.metrics.step(name);
    return this.#shared.runStep(name, run.key, effect);
  }

  async #do(step: ConnectionStep, run: Run): Promise<void> {
    const { ref, object } = run;
    const workspace = this.#deps.workspaces.workspace(ref.cluster);
    switch (step.name) {
      case 'connection.finalizer.add':
        return this.#step(step.name, run, () => setFinalizer(workspace, CONNECTIONS, object, true));
      case 'connection.finalizer.remove':
        return this.#step(step.name, run, () => setFinalizer(workspace, CONNECTIONS, object, false));
      case 'connection.state.remove':
        return this.#step(step.name, run, async () => {
          await this.#deps.states.remove(ref);
          this.#shared.states.drop(ref);
        });
      case 'connection.account.store':
      case 'connection.account.update':
        return this.#step(step.name, run, () =>
          this.#write(run, { ...run.state.value, account: step.account }),
        );
      case 'connection.login.start':
        return this.#step(step.name, run, () => this.#startLogin(run, step.challenge));
    }
  }

  async #startLogin(run: Run, challenge: string | undefined): Promise<void> {
    const { externalUrl, clock, randomBytes, loginLifetimeMs: lifetimeMs } = this.#deps;
    if (externalUrl === undefined) return;
    const { login, id, userCode } = startLogin({ clock, random: randomBytes, challenge, lifetimeMs });
    await this.#write(run, { ...run.state.value, login });
    const url = loginUrl(externalUrl, connectionStateName(run.ref.cluster, run.ref.uid), id);
    run.published = { url, ...(userCode === undefined ? {} : { userCode }) };
    this.#started.set(run.key, { idHash: login.idHash, published: run.published });
  }

  async #write(run: Run, value: ConnectionState): Promise<void> {
    try {
      run.state = await this.#deps.states.write({ value, resourceVersion: run.state.resourceVersion });
    } finally {
      this.#shared.states.drop(run.ref);
    }
  }
}
