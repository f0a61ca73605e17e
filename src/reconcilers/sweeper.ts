import { BINDINGS, CONNECTIONS } from '../api/group.js';
import { GVR } from '../api/gvr.js';
import { CONNECTION_UID_LABEL } from '../api/markers.js';
import type { Gvr } from '../api/gvr.js';
import { isObjectNotFound } from '../kube/errors.js';
import type { KubeObject } from '../kube/object.js';
import type { ConnectionRef } from '../state/records.js';
import { GENERATED_SELECTOR, ownerOfPart } from './binding/owner.js';
import type { BindingRef } from './binding/owner.js';
import type { ReconcilerDeps } from './deps.js';
import { queueKey } from './keys.js';
import type { Shared } from './shared.js';
import { bindingSpec } from './views.js';

const FIRST_MS = 60_000;
const EACH_MS = 60 * 60_000;
const PAGE = 100;

/**
 * Looks, now and then, for what accidents left in the client workspace: states of connections that are gone,
 * and parts of generated exports whose export never came to be. Only what is provably nobody's goes.
 */
export class Sweeper {
  readonly #deps: ReconcilerDeps;
  readonly #shared: Shared;
  readonly #adopt: (ref: BindingRef) => void;

  /** @param sinks `adopt` takes a binding apart that is gone */
  constructor(deps: ReconcilerDeps, shared: Shared, sinks: { readonly adopt: (ref: BindingRef) => void }) {
    this.#deps = deps;
    this.#shared = shared;
    this.#adopt = sinks.adopt;
  }

  /** Sweeps until the signal; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, random } = this.#deps;
    let pause = FIRST_MS;
    for (;;) {
      await clock.sleep(pause, signal).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await this.sweep();
      } catch (error) {
        log.info({ component: 'sweeper', err: error }, 'could not look through the client workspace');
      }
      pause = EACH_MS * (0.9 + 0.2 * random());
    }
  }

  async sweep(): Promise<void> {
    for (const connection of await this.#deps.states.list()) {
      if (await this.#isAbandoned(connection)) await this.#removeState(connection);
    }
    const { namespace } = this.#deps.clientWorkspace;
    for (const [gvr, where] of [
      [GVR.secrets, { namespace }],
      [GVR.serviceAccounts, { namespace }],
      [GVR.clusterRoles, {}],
      [GVR.clusterRoleBindings, {}],
    ] as const) {
      for (const object of await this.#list(gvr, where)) this.#check(object);
    }
  }

  #check(object: KubeObject): void {
    const owner = ownerOfPart(object);
    if (owner === undefined) return;
    const { cluster, name, uid } = owner;
    const isKnown = this.#shared.index.bindings.get({ cluster, name })?.metadata.uid === uid;
    if (!isKnown) this.#adopt(owner);
  }

  async #list(gvr: Gvr, where: { readonly namespace?: string }): Promise<KubeObject[]> {
    const { client } = this.#deps.clientWorkspace;
    const objects: KubeObject[] = [];
    let next: string | undefined;
    do {
      const page = await client.list(gvr, {
        ...where,
        labelSelector: GENERATED_SELECTOR,
        limit: PAGE,
        ...(next === undefined ? {} : { continue: next }),
      });
      objects.push(...page.items);
      next = page.continue;
    } while (next !== undefined && next !== '');
    return objects;
  }

  /** The connection is gone by a live answer that names it, and nothing is left that needs its account. */
  async #isAbandoned({ cluster, name, uid }: ConnectionRef): Promise<boolean> {
    if (this.#shared.index.connections.get({ cluster, name })?.metadata.uid === uid) return false;
    const workspace = this.#deps.workspaces.workspace(cluster);
    try {
      const object = await workspace.get(CONNECTIONS, { name });
      if (object.metadata.uid === uid) return false;
    } catch (error) {
      // Not served, or not allowed: nothing is known.
      if (!isObjectNotFound(error)) return false;
    }
    const exports = await this.#deps.clientWorkspace.client.list(GVR.apiExports, {
      labelSelector: `${CONNECTION_UID_LABEL}=${uid}`,
      limit: 1,
    });
    if (exports.items.length > 0) return false;
    const bindings = await workspace.list(BINDINGS);
    return !bindings.items.some((binding) => bindingSpec(binding).connection === name);
  }

  async #removeState(connection: ConnectionRef): Promise<void> {
    const key = queueKey(connection.cluster, connection.name);
    await this.#shared.runStep('connection.state.remove', key, () => this.#deps.states.remove(connection));
    this.#shared.states.drop(connection);
    this.#deps.log.info(
      { component: 'sweeper', connection: key },
      'removed the state of a connection that is gone',
    );
  }
}
