import type { ObjectKeyText } from '../../../kube/cache/object-key.js';
import { parseKey } from '../../../kube/cache/object-key.js';
import type { KubeObject, ObjectName } from '../../../kube/object.js';
import type { CopyView } from '../../engine/decide-up.js';
import type { AnswersAhead } from './answers-ahead.js';
import type { ConsumerCalls } from './consumer-calls.js';
import type { ProviderCalls } from './provider-calls.js';
import { GateClosedError } from './side-gate.js';
import type { Side } from './side.js';

/** Both servers, as far as objects of one resource are concerned. */
export interface Servers {
  readonly consumer: {
    readonly side: Side;
    readonly calls: ConsumerCalls;
    readonly ahead: AnswersAhead;
    readonly cached: (name: ObjectName) => KubeObject | undefined;
  };
  readonly provider: {
    readonly side: Side;
    readonly calls: ProviderCalls;
    readonly ahead: AnswersAhead;
    readonly cached: (target: ObjectName) => KubeObject | undefined;
  };
}

/** So often one pass reads again what turned out to be old. */
const MAX_REREADS = 3;

/** What one pass knows about an object and its copy: caches, own answers, and what it has read itself. */
export class ObjectView {
  readonly key: ObjectKeyText;
  /** The consumer object's name. */
  readonly name: ObjectName;
  readonly #servers: Servers;
  /** The copy as this pass has seen it last, where that is newer than the cache. */
  #copy: CopyView | undefined;
  /** This pass has read the consumer's object itself. */
  #consumerLive = false;
  #rereads = 0;

  constructor(servers: Servers, key: ObjectKeyText) {
    this.#servers = servers;
    this.key = key;
    const { name, namespace } = parseKey(key);
    this.name = namespace === undefined ? { name } : { namespace, name };
  }

  get consumer(): KubeObject | undefined {
    const { ahead, cached } = this.#servers.consumer;
    return ahead.current(this.key, cached(this.name));
  }

  get consumerLive(): boolean {
    return this.#consumerLive;
  }

  copy(target: ObjectName): CopyView {
    if (this.#copy !== undefined) return this.#copy;
    const { ahead, cached } = this.#servers.provider;
    return { object: ahead.current(this.key, cached(target)), live: false };
  }

  /** A write that answers with the consumer's object. */
  async writeConsumer(write: () => Promise<KubeObject>): Promise<KubeObject> {
    const { ahead, cached } = this.#servers.consumer;
    return ahead.track(this.key, () => cached(this.name), write);
  }

  /** A write that answers with the copy, or with nothing that counts. */
  async writeCopy(
    target: ObjectName,
    write: () => Promise<KubeObject | undefined>,
  ): Promise<KubeObject | undefined> {
    const { ahead, cached } = this.#servers.provider;
    const answer = await ahead.track(this.key, () => cached(target), write);
    if (answer !== undefined) this.#copy = { object: answer, live: true };
    return answer;
  }

  /** Asks the provider for the copy. */
  async readCopy(target: ObjectName): Promise<void> {
    const { ahead, calls, cached } = this.#servers.provider;
    const object = await calls.read(target);
    ahead.forget(this.key);
    if (object === undefined) ahead.gone(this.key, cached(target));
    this.#copy = { object, live: true };
  }

  /** True where the error means that what is known of the copy is old, and it was read again. */
  async rereadCopy(error: unknown, target: ObjectName): Promise<boolean> {
    if (error instanceof GateClosedError) return false;
    const kind = this.#servers.provider.side.classify(error, target);
    if ((kind !== 'stale' && kind !== 'gone') || this.#rereads++ >= MAX_REREADS) return false;
    await this.readCopy(target);
    return true;
  }

  /** True where the error means that what is known of the consumer's object is old, and it was read again. */
  async rereadConsumer(error: unknown): Promise<boolean> {
    if (error instanceof GateClosedError) return false;
    const kind = this.#servers.consumer.side.classify(error, this.name);
    if ((kind !== 'stale' && kind !== 'gone') || this.#rereads++ >= MAX_REREADS) return false;
    await this.readConsumer();
    return true;
  }

  /** Asks the workspace for the object. */
  async readConsumer(): Promise<void> {
    const { calls, ahead, cached } = this.#servers.consumer;
    ahead.forget(this.key);
    const live = await calls.read(this.name);
    this.#consumerLive = true;
    if (live === undefined) ahead.gone(this.key, cached(this.name));
    else await this.writeConsumer(async () => live);
  }
}
