import { BINDING_UID_LABEL } from '../../../api/markers.js';
import { followResource } from '../../../kube/cache/follow-resource.js';
import type { ReflectorEvent } from '../../../kube/cache/reflector.js';
import type { ResourceStore } from '../../../kube/cache/store.js';
import type { KubeObject, ObjectName } from '../../../kube/object.js';
import { toProviderKey } from '../../engine/key-mapping.js';
import type { MappingRule } from '../../engine/key-mapping.js';
import { withoutManagedFields } from '../../engine/managed-fields.js';
import type { End } from '../../engine/related/related-copy.js';
import type { RelatedKind } from '../../engine/related/related-kinds.js';
import { AnswersAhead } from '../objects/answers-ahead.js';
import { ofWorkspace } from '../objects/consumer-calls.js';
import { CopyStore } from '../objects/copy-store.js';
import type { ResourceSyncOptions } from '../objects/sync-options.js';
import { reflectorProblem } from '../objects/reflector-problem.js';
import { SideGate } from '../objects/side-gate.js';
import { Side } from '../objects/side.js';
import { RelatedCalls } from './related-calls.js';
import type { EndServer } from './related-pass.js';

export type RelatedEndsOptions = Omit<ResourceSyncOptions, 'target' | 'policy' | 'emitEvent'> & {
  readonly kind: RelatedKind;
  readonly rule: MappingRule;
  /** Without consent the workspace is not read, and of the provider only what this binding made. */
  readonly accepted: boolean;
  /** What is kept of an object in memory. */
  readonly kept: (object: KubeObject) => KubeObject;
  readonly onListed: (providerNamespace: string | undefined) => void;
  /** The watch did not show what was answered: what the cache has counts again. */
  readonly onOld: (key: string) => void;
};

/** A namespace's role, or a claim, is often a few seconds late: so many refusals in a row are more than that. */
const ROUTINE_REFUSALS = 5;

/** Caches of, and ways to, both servers for one claimed resource. */
export class RelatedEnds {
  readonly #options: RelatedEndsOptions;
  readonly servers: Readonly<Record<End, EndServer>>;
  readonly copies: CopyStore;
  readonly #unwatched = new Set<End>();
  #consumers: { readonly store: ResourceStore; readonly stopped: Promise<void> } | undefined;

  constructor(options: RelatedEndsOptions) {
    const { places, kind, clock, random, signal, kept, accepted } = options;
    this.#options = options;
    const labelSelector = `${BINDING_UID_LABEL}=${places.bindingUid}`;
    this.copies = new CopyStore({
      client: places.provider,
      gvr: kind.gvr,
      cluster: places.cluster,
      plan: accepted ? { kind: 'mapped' } : { kind: 'mapped', labelSelector },
      namespaces: places.namespaces,
      clock,
      random,
      limits: this.#reflectorLimits(),
      signal,
      transform: (object) => kept(withoutManagedFields(object)),
      onEvent: (event) => this.#onReflector('provider', event),
      onListed: options.onListed,
    });
    this.servers = { consumer: this.#consumerServer(), provider: this.#providerServer() };
  }

  /** Undefined without consent, or before the start. */
  get consumers(): ResourceStore | undefined {
    return this.#consumers?.store;
  }

  start(): void {
    const { places, kind, clock, random, signal, kept, accepted } = this.#options;
    if (accepted) {
      this.#consumers = followResource({
        client: places.consumer,
        gvr: kind.gvr,
        cluster: places.cluster,
        clock,
        random,
        limits: this.#reflectorLimits(),
        signal,
        onEvent: (event) => this.#onReflector('consumer', event),
        strict: true,
        transform: (object) => kept(withoutManagedFields(object)),
      });
    }
    this.copies.start();
  }

  async close(): Promise<void> {
    for (const { ahead } of Object.values(this.servers)) ahead.close();
    await this.copies.close();
    await this.#consumers?.stopped;
  }

  #consumerServer(): EndServer {
    const { places, kind, limits, signal, clock, onOld } = this.#options;
    const { cluster } = places;
    const side = this.#side('consumer');
    return {
      side,
      calls: new RelatedCalls({
        client: places.consumer,
        gvr: kind.gvr,
        side,
        request: { signal, timeoutMs: limits.requestTimeoutMs },
        accept: (object) => ofWorkspace(cluster, object),
      }),
      ahead: new AnswersAhead(clock, onOld),
      cached: (place) => this.#consumers?.store.get({ cluster, ...place }),
      listed: () => this.#consumers?.store.synced === true,
      placeOf: (name) => name,
    };
  }

  #providerServer(): EndServer {
    const { places, kind, limits, signal, clock, onOld, rule } = this.#options;
    const side = this.#side('provider');
    return {
      side,
      calls: new RelatedCalls({
        client: places.provider,
        gvr: kind.gvr,
        side,
        request: { signal, timeoutMs: limits.requestTimeoutMs },
        accept: withoutManagedFields,
      }),
      ahead: new AnswersAhead(clock, onOld),
      cached: (place) => this.copies.get(place),
      listed: (place) => this.copies.hasListed(place),
      placeOf: (name) => this.#providerPlace(name, rule),
    };
  }

  /** Never the contract namespace: our own account's kubeconfig and token are in it. */
  #providerPlace(name: ObjectName, rule: MappingRule): ObjectName | undefined {
    const key = toProviderKey(rule, this.#options.places.namespaces, name);
    if (key.kind !== 'mapped' || key.target.namespace === rule.contractNamespace) return undefined;
    return key.target;
  }

  #onReflector(end: End, event: ReflectorEvent): void {
    this.#options.meter?.watched(end, event);
    const { gate } = this.servers[end].side;
    const routine = event.type === 'error' && event.notServed && event.failures < ROUTINE_REFUSALS;
    const problem = routine ? undefined : reflectorProblem(event);
    if (problem !== undefined) {
      this.#unwatched.add(end);
      gate.failed(problem);
      return;
    }
    const watches = event.type === 'recovered' && this.#unwatched.has(end);
    if (event.type !== 'listed' && !watches) return;
    this.#unwatched.delete(end);
    gate.succeeded();
  }

  #side(name: End): Side {
    const { clock, random, limits, kind, onRequest, onChange, signal } = this.#options;
    const backoff = { baseMs: limits.backoffBaseMs, maxMs: limits.backoffMaxMs };
    const gate = new SideGate({ clock, random, backoff, ...(onChange && { onChange }) });
    return new Side({ name, gvr: kind.gvr, gate, signal, ...(onRequest && { onRequest }) });
  }

  #reflectorLimits(): Partial<ResourceSyncOptions['reflector']> & { silenceMs: number } {
    return { ...this.#options.reflector, silenceMs: this.#options.limits.watchSilenceMs };
  }
}
