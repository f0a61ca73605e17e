import { GVR } from '../api/gvr.js';
import { BINDING_UID_LABEL, CONNECTION_ANNOTATION, CREDENTIALS_LABEL } from '../api/markers.js';
import { digest } from '../api/names.js';
import type { ObjectStore, StoreChange } from '../kube/cache/object-store.js';
import type { KubeObject, LogicalCluster } from '../kube/object.js';
import type { BindingReport } from '../syncer/protocol/report.js';
import { refersTo } from './claims.js';
import { ownerOf } from './binding/owner.js';
import type { ReconcilerDeps } from './deps.js';
import { parseKey, queueKey } from './keys.js';
import type { QueueKey } from './keys.js';
import type { Shared } from './shared.js';
import { bindingSpec, connectionSpec, isDeleting } from './views.js';

/** Where news go. */
export interface Sinks {
  readonly connection: (key: QueueKey) => void;
  readonly binding: (key: QueueKey) => void;
  /** Binding and connection behind a key of the pool. */
  readonly behind: (key: string) => { readonly binding: QueueKey; readonly connection: QueueKey } | undefined;
}

/** Brings every change that can matter to the keys that it matters to. The result ends that. */
export function wireEvents(deps: ReconcilerDeps, shared: Shared, sinks: Sinks): () => void {
  const wiring = new Wiring(deps, shared, sinks);
  return wiring.start();
}

class Wiring {
  readonly #deps: ReconcilerDeps;
  readonly #shared: Shared;
  readonly #sinks: Sinks;
  /** What the last report of a binding said that concerns its connection. */
  readonly #told = new Map<string, string>();

  constructor(deps: ReconcilerDeps, shared: Shared, sinks: Sinks) {
    this.#deps = deps;
    this.#shared = shared;
    this.#sinks = sinks;
  }

  start(): () => void {
    const { index } = this.#shared;
    const { clientWorkspace, workspaces, states, pool } = this.#deps;
    const secrets = workspaces.follow(GVR.secrets, { labelSelector: `${CREDENTIALS_LABEL}=true` });
    const ends = [
      follow(index.connections, (change) => this.#connection(change.key.cluster, change.key.name)),
      follow(index.bindings, (change) => this.#binding(change)),
      follow(index.apiBindings, (change) => this.#apiBinding(change)),
      follow(index.logicalClusters, (change) => this.#logicalCluster(change)),
      follow(secrets, (change) => this.#secret(change)),
      follow(clientWorkspace.generatedExports, (change) => this.#generatedExport(objectOf(change))),
      follow(clientWorkspace.endpointSlices, (change) => this.#endpointSlice(change.key.name)),
      states.onChange(({ cluster, name }) => this.#connection(cluster, name)),
      pool.onReport((key) => this.#report(key)),
      pool.onEvent(({ key, type, reason, message, ...target }) => {
        const cluster = parseKey(key)?.cluster;
        if (cluster !== undefined) this.#shared.events.record(cluster, target, { type, reason, message });
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  /** With everything that depends on it. */
  #connection(cluster: LogicalCluster, name: string): void {
    this.#sinks.connection(queueKey(cluster, name));
    for (const { metadata } of this.#shared.index.bindingsOf(cluster, name)) {
      this.#sinks.binding(queueKey(cluster, metadata.name));
    }
  }

  #binding(change: StoreChange): void {
    const { cluster, name } = change.key;
    this.#sinks.binding(queueKey(cluster, name));
    const object = objectOf(change);
    const isNews = change.type === 'missing' || change.previous === undefined || isDeleting(object);
    // Who beats, and whether the connection may go, depends on which bindings there are.
    if (isNews) this.#connection(cluster, bindingSpec(object).connection);
  }

  #apiBinding(change: StoreChange): void {
    const object = objectOf(change);
    const { path, cluster, exportName } = this.#deps.clientWorkspace;
    if (refersTo(object, { path, cluster }, exportName)) this.#workspace(change.key.cluster);
    else if (object.metadata.labels?.[BINDING_UID_LABEL] !== undefined || isToOurs(object, path, cluster)) {
      this.#bindings(change.key.cluster);
    }
  }

  #logicalCluster(change: StoreChange): void {
    const before = change.previous !== undefined && isDeleting(change.previous);
    if (change.type === 'missing' || isDeleting(change.object) !== before || change.previous === undefined) {
      this.#workspace(change.key.cluster);
    }
  }

  #workspace(cluster: LogicalCluster): void {
    for (const { metadata } of this.#shared.index.connections.inCluster(cluster)) {
      this.#sinks.connection(queueKey(cluster, metadata.name));
    }
    this.#bindings(cluster);
  }

  #bindings(cluster: LogicalCluster): void {
    for (const { metadata } of this.#shared.index.bindings.inCluster(cluster)) {
      this.#sinks.binding(queueKey(cluster, metadata.name));
    }
  }

  #secret({ key }: StoreChange): void {
    for (const object of this.#shared.index.connections.inCluster(key.cluster)) {
      const ref = connectionSpec(object).kubeconfigSecretRef;
      if (ref?.name === key.name && ref.namespace === key.namespace) {
        this.#sinks.connection(queueKey(key.cluster, object.metadata.name));
      }
    }
  }

  #generatedExport(object: KubeObject | undefined): void {
    const owner = object && ownerOf(object);
    if (owner === undefined) return;
    this.#sinks.binding(queueKey(owner.cluster, owner.name));
    const connection = object?.metadata.annotations?.[CONNECTION_ANNOTATION];
    if (connection !== undefined) this.#sinks.connection(queueKey(owner.cluster, connection));
  }

  #endpointSlice(name: string): void {
    const { generatedExports, cluster } = this.#deps.clientWorkspace;
    this.#generatedExport(generatedExports.get({ cluster, name }));
  }

  #report(key: string): void {
    const behind = this.#sinks.behind(key);
    if (behind === undefined) {
      this.#told.delete(key);
      return;
    }
    this.#sinks.binding(behind.binding);
    const report = this.#deps.pool.report(key);
    if (report === undefined) return;
    const concerns = concernOfConnection(report);
    if (this.#told.get(key) === concerns) return;
    this.#told.set(key, concerns);
    this.#sinks.connection(behind.connection);
  }
}

function follow(store: ObjectStore, listener: (change: StoreChange) => void): () => void {
  const end = store.subscribe(listener);
  for (const object of store.all()) {
    const cluster = object.metadata.annotations?.['kcp.io/cluster'] as LogicalCluster | undefined;
    const { name, namespace } = object.metadata;
    if (cluster !== undefined)
      listener({ type: 'set', key: { cluster, namespace, name }, object, previous: undefined });
  }
  return end;
}

function objectOf(change: StoreChange): KubeObject {
  return change.type === 'set' ? change.object : change.previous;
}

/** An APIBinding to any export of the client workspace. */
function isToOurs(object: KubeObject, path: string, cluster: string): boolean {
  const reference = (
    object['spec'] as { reference?: { export?: { path?: unknown; name?: unknown } } } | undefined
  )?.reference?.export;
  return typeof reference?.name === 'string' && (reference.path === path || reference.path === cluster);
}

/** The part of a report that a connection's status or state is made from; figures change each second. */
function concernOfConnection(report: BindingReport): string {
  const { conditions, heartbeat, provider, contractNamespaceUid, rotatedCredentials } = report;
  const text = [conditions.Connected, heartbeat, provider, contractNamespaceUid, rotatedCredentials];
  return digest(JSON.stringify(text));
}
