import { GVR } from '../../api/gvr.js';
import {
  CONNECTION_ANNOTATION,
  DELETION_POLICY_ANNOTATION,
  EXPORT_REQUEST_ANNOTATION,
  UPDATED_ANNOTATION,
} from '../../api/markers.js';
import { isStatus, KubeError } from '../../kube/errors.js';
import type { KubeObject } from '../../kube/object.js';
import type { NamespacesInUse } from '../../syncer/protocol/assignment.js';
import type { ExportHome, WorkspaceClaims } from '../claims.js';
import { detail } from '../conditions.js';
import type { ReconcilerDeps } from '../deps.js';
import { poolKey } from '../keys.js';
import type { Shared } from '../shared.js';
import { bindingSpec, hasCleanupFinalizer, isDeleting, isForced, objectsAt, textAt } from '../views.js';
import type { BindingSpec } from '../views.js';
import { mayBind } from './api-bound.js';
import { isWithoutProvider, recordedContractUid } from './assignment.js';
import { consentOf } from './consent-of.js';
import { TokenAnswerError } from './account-tokens.js';
import type { ConsumerAccessResolver } from './consumer-access.js';
import { findApiBinding } from './find-api-binding.js';
import { findConnection } from './find-connection.js';
import { SeenApiBindings } from './seen-api-bindings.js';
import type { GeneratedParts } from './generated-parts.js';
import type { GeneratedWorkspace, GeneratedWorkspaces } from './generated-workspace.js';
import { boundSchemaNames, liveSchemas } from './live-schemas.js';
import type { AccessView, ApiBindingView, BindingObservation, ConnectionView } from './observation.js';
import { generatedNames } from './owner.js';
import type { BindingRef } from './owner.js';
import { namespacesOfPeers } from './peers.js';
import { exportPlan, isAsPlanned, servesAsPlanned } from './provision.js';
import { UNSEEN_COPIES } from './release.js';
import type { BindingReport } from '../../syncer/protocol/report.js';
import type { Runtime } from './runtime.js';
import type { SchemaPlanner } from './schema-planner.js';
import type { ServedApi } from './schema-plan.js';

/** Parts of a generated export that nobody should have touched are looked at again after this time. */
const VERIFY_MS = 60 * 60_000;
/** After a start other bindings need a moment to tell what they use. */
const PEERS_PATIENCE_MS = 60_000;
/** A schema that kcp refused is tried again after this time, or when it changes. */
const REFUSED_MS = 10 * 60_000;

export interface ObserverParts {
  readonly parts: GeneratedParts;
  readonly planner: SchemaPlanner;
  readonly access: ConsumerAccessResolver;
  readonly generatedWorkspaces: GeneratedWorkspaces;
}

/** Gathers all that decides about a binding, from stores where they do and live where they do not. */
export class BindingObserver {
  readonly #deps: ReconcilerDeps;
  readonly #shared: Shared;
  readonly #tools: ObserverParts;
  readonly #home: ExportHome;
  readonly #seen: SeenApiBindings;

  constructor(deps: ReconcilerDeps, shared: Shared, tools: ObserverParts) {
    this.#deps = deps;
    this.#shared = shared;
    this.#tools = tools;
    this.#seen = new SeenApiBindings(deps.clock);
    this.#home = { path: deps.clientWorkspace.path, cluster: deps.clientWorkspace.cluster };
  }

  /** @param object undefined when the binding is provably gone and only what was made for it is left */
  async observe(runtime: Runtime, object: KubeObject | undefined): Promise<BindingObservation> {
    const { ref } = runtime;
    const { index, reports } = this.#shared;
    const deleting = object === undefined || isDeleting(object);
    const generated = await this.#generated(ref, deleting);
    const spec = object === undefined ? specOfExport(generated, runtime.connection) : bindingSpec(object);
    runtime.connection = spec.connection;
    const claims = await index.claimsNow(ref.cluster);
    const sources = {
      index,
      workspace: this.#deps.workspaces.workspace(ref.cluster),
      states: this.#shared.states,
      allStates: this.#deps.states,
    };
    const connection = await findConnection(ref, spec.connection, sources, { deleting, generated });
    const key = poolKey(ref.cluster, ref.uid);
    const workspaces = await this.#workspaces(ref, deleting);
    const apiBinding = await this.#apiBinding(ref, claims, workspaces, deleting);
    const bound = boundObject(apiBinding);
    runtime.bound = textAt(bound, 'status', 'phase') === 'Bound';
    const latest = reports.latest(key);
    const isBlind = generated !== undefined && isUnseen(apiBinding, { claims, workspaces });
    const { decision: schemas, served } = await this.#tools.planner.plan(ref, {
      reported: followable(latest, { deleting, isBlind }),
      live: liveSchemas(generated, bound),
      refusals: this.#refusals(runtime),
      loadSpecs: (live) => this.#tools.parts.withSpecs(ref, live),
    });
    if (latest?.conditions.Syncing?.reason === 'ConsumerUnreachable') this.#tools.access.doubt(ref);
    const base: BindingObservation = {
      now: this.#deps.clock.now(),
      home: this.#home,
      namespace: this.#deps.clientWorkspace.namespace,
      ref,
      exists: object !== undefined,
      deleting,
      hasFinalizer: object !== undefined && hasCleanupFinalizer(object),
      force: object === undefined ? !hasAccount(connection) : isForced(object),
      spec,
      workspaceDying: index.isDying(ref.cluster),
      connection,
      beats: index.beating(ref.cluster, spec.connection)?.metadata.uid === ref.uid,
      claims,
      latest,
      fresh: reports.fresh(key),
      schemas,
      generated,
      missing: undefined,
      failure: runtime.failure,
      apiBinding,
      access: { kind: 'none' },
      working: runtime.assigned !== undefined && !isWithoutProvider(runtime.assigned),
      progress: this.#progress(runtime, key),
      namespacesInUse: undefined,
    };
    // What follows depends on the rest.
    return {
      ...base,
      access: base.progress.drained
        ? { kind: 'none' }
        : await this.#access(runtime, base, served, workspaces),
      missing: await this.#missing(runtime, base),
      namespacesInUse: base.progress.cleaned ? this.#namespacesInUse(runtime, base) : undefined,
    };
  }

  /** One whose API is not served, or forbidden, may never tell: then no namespace is given up. */
  #namespacesInUse(runtime: Runtime, observed: BindingObservation): NamespacesInUse | undefined {
    const known = this.#namespacesOfPeers(observed);
    const now = this.#deps.clock.now();
    if (known !== undefined) {
      runtime.peersAwaitedSince = undefined;
      return known;
    }
    runtime.peersAwaitedSince ??= now;
    return now - runtime.peersAwaitedSince >= PEERS_PATIENCE_MS ? 'unknown' : undefined;
  }

  #namespacesOfPeers(observed: BindingObservation): readonly string[] | undefined {
    return namespacesOfPeers(observed.ref, this.#contractUid(observed), {
      exports: this.#deps.clientWorkspace.generatedExports,
      reports: this.#shared.reports,
      runtimes: this.#shared.runtimes,
    });
  }

  #contractUid(observed: BindingObservation): string | undefined {
    const account = observed.connection.kind === 'present' ? observed.connection.account : undefined;
    return (
      recordedContractUid(observed) ?? account?.contractNamespaceUid ?? observed.latest?.contractNamespaceUid
    );
  }

  /** From the store while it lives there; a deletion looks for itself. */
  async #generated(ref: BindingRef, live: boolean): Promise<KubeObject | undefined> {
    const { generatedExports, cluster } = this.#deps.clientWorkspace;
    const cached = generatedExports.get({ cluster, name: generatedNames(ref).exportName });
    return cached === undefined || live ? this.#tools.parts.generatedExport(ref) : cached;
  }

  async #workspaces(ref: BindingRef, live: boolean): Promise<readonly GeneratedWorkspace[]> {
    const { exportName } = generatedNames(ref);
    const { generatedWorkspaces, parts } = this.#tools;
    if (!live) return generatedWorkspaces.in(exportName, ref.cluster);
    const slice = await parts.find(GVR.apiExportEndpointSlices, { name: exportName });
    return generatedWorkspaces.ofSlice(slice, ref.cluster);
  }

  #apiBinding(
    ref: BindingRef,
    claims: WorkspaceClaims,
    generated: readonly GeneratedWorkspace[],
    live: boolean,
  ): Promise<ApiBindingView> {
    const workspace = this.#deps.workspaces.workspace(ref.cluster);
    const store = this.#shared.index.apiBindings;
    const look = () => findApiBinding(ref, { store, workspace, claims, generated, home: this.#home }, live);
    // Without the claim no store shows it; and reports come each second.
    return live || mayBind({ claims }) ? look() : this.#seen.get(poolKey(ref.cluster, ref.uid), look);
  }

  forget(ref: BindingRef): void {
    this.#seen.forget(poolKey(ref.cluster, ref.uid));
  }

  #progress(runtime: Runtime, key: string): BindingObservation['progress'] {
    const { assigned } = runtime;
    const said = this.#shared.reports.fresh(key);
    if (assigned?.stage === 'drain' && said?.drained === true) {
      // The export, and with it what tells another account from ours, goes next: decided while it can be told.
      const left = isWithoutProvider(assigned) ? { left: [UNSEEN_COPIES] } : {};
      runtime.progress = { ...runtime.progress, drained: true, ...left };
    }
    if (assigned?.stage === 'leave' && said?.left === true) {
      runtime.progress = { ...runtime.progress, left: said.remaining };
    }
    return runtime.progress;
  }

  /** What kcp has refused and is not asked again for yet. */
  #refusals({ refusals }: Runtime): ReadonlyMap<string, string> {
    const now = this.#deps.clock.now();
    for (const [schema, { at }] of refusals) if (now - at >= REFUSED_MS) refusals.delete(schema);
    return new Map([...refusals].map(([schema, { message }]) => [schema, message]));
  }

  /** Undefined when the export proves its parts and they were looked at not long ago. */
  async #missing(runtime: Runtime, observed: BindingObservation): Promise<BindingObservation['missing']> {
    const plan = exportPlan(observed, consentOf(observed));
    const { generated } = observed;
    if (plan === undefined) return undefined;
    if (observed.deleting && generated !== undefined && servesAsPlanned(generated, plan)) return undefined;
    const proven = generated !== undefined && isAsPlanned(generated, plan);
    const wanted = plan.schemas.map(({ name }) => name);
    const used = boundSchemaNames(boundObject(observed.apiBinding));
    const followed = used.every((name) => wanted.includes(name));
    const why = proven ? this.#whyLook(runtime, observed, followed) : 'unproven';
    if (why === undefined) return undefined;
    const bindByUser = !mayBind(observed);
    const missing = await this.#tools.parts.missing(observed.ref, { schemas: wanted, used, bindByUser });
    if (proven) runtime.verifiedAt = observed.now;
    if (why === 'replaced' && missing.oldSchemas.length === 0) runtime.schemasReplaced = false;
    return missing;
  }

  /** Why the parts of an export that proves them are looked at all the same. */
  #whyLook(
    runtime: Runtime,
    { now, generated }: BindingObservation,
    followed: boolean,
  ): 'replaced' | 'due' | undefined {
    // After a restart not all bindings are looked through at the same time.
    runtime.verifiedAt ??= now - VERIFY_MS * this.#deps.random();
    runtime.schemasReplaced ??= wasUpdatedWithin(VERIFY_MS, generated, now);
    if (runtime.schemasReplaced && followed) return 'replaced';
    return now - runtime.verifiedAt < VERIFY_MS ? undefined : 'due';
  }

  async #access(
    runtime: Runtime,
    observed: BindingObservation,
    served: readonly ServedApi[],
    workspaces: readonly GeneratedWorkspace[],
  ): Promise<AccessView> {
    const { ref } = observed;
    const bound = boundObject(observed.apiBinding);
    if (bound === undefined || textAt(bound, 'status', 'phase') !== 'Bound') return { kind: 'none' };
    const resources = objectsAt(bound, 'status', 'boundResources');
    const apis = served.map(({ group, resource, kind, scope, syncVersion, hasStatus }) => ({
      group,
      resource,
      kind,
      scope,
      version: syncVersion,
      hasStatus,
    }));
    if (apis.length === 0) return { kind: 'not-served', message: 'its schemas are not known now' };
    const signature = JSON.stringify([bound.metadata.uid, resources, apis]);
    try {
      return await this.#tools.access.resolve(ref, generatedNames(ref).exportName, {
        workspaces,
        apis,
        schemas: [...boundSchemaNames(bound)].sort().join(),
        signature,
      });
    } catch (error) {
      if (!(error instanceof KubeError) && !(error instanceof TokenAnswerError)) throw error;
      // Without its ServiceAccount there is no token: the parts are looked at now.
      if (isStatus(error, 404)) runtime.verifiedAt = Number.NEGATIVE_INFINITY;
      return { kind: 'not-served', message: `no credentials for it: ${detail(error.message)}` };
    }
  }
}

/** Whether an export was updated so long ago at most; its parts are looked at after that time in any case. */
function wasUpdatedWithin(ms: number, generated: KubeObject | undefined, now: number): boolean {
  const at = Date.parse(generated?.metadata.annotations?.[UPDATED_ANNOTATION] ?? '');
  return now - at < ms;
}

/** The APIBinding that counts, where there is one. */
function boundObject(view: ApiBindingView): KubeObject | undefined {
  if (view.kind === 'found') return view.object;
  return view.kind === 'several' ? view.ours : undefined;
}

/** In which versions kcp holds objects is known from the APIBinding only: until it is seen, nothing changes. */
function followable(
  latest: BindingReport | undefined,
  { deleting, isBlind }: { readonly deleting: boolean; readonly isBlind: boolean },
): BindingReport['schemas'] {
  return deleting || isBlind ? undefined : latest?.schemas;
}

/** There may be an APIBinding whose status cannot be read. */
function isUnseen(
  view: ApiBindingView,
  by: { readonly claims: WorkspaceClaims; readonly workspaces: readonly GeneratedWorkspace[] },
): boolean {
  if (view.kind === 'none')
    return !by.claims.allows(GVR.apiBindings, 'get', 'list') && by.workspaces.length === 0;
  return view.kind === 'unknown' || (view.kind === 'several' && view.ours === undefined);
}

function hasAccount(connection: ConnectionView): boolean {
  return connection.kind === 'present' && connection.account !== undefined;
}

/** What is remembered of the spec of a binding that is gone. */
function specOfExport(generated: KubeObject | undefined, connection: string): BindingSpec {
  const annotations = generated?.metadata.annotations ?? {};
  const template = annotations[EXPORT_REQUEST_ANNOTATION];
  return {
    connection: annotations[CONNECTION_ANNOTATION] ?? connection,
    deletionPolicy: annotations[DELETION_POLICY_ANNOTATION] === 'Orphan' ? 'Orphan' : 'Delete',
    ...(template === undefined ? {} : { template }),
  };
}
