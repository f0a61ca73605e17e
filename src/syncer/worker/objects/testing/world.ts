import type { JsonObject } from '../../../../kube/json-value.js';
import type { KubeObject, ObjectName } from '../../../../kube/object.js';
import { nameOf } from './model-object.js';
import type { ModelRequest } from './model-server.js';
import { apiError } from './model-status.js';
import { CONTRACT, SyncBench } from './sync-bench.js';

export type SideName = 'consumer' | 'provider';

/** Something that happens to one object, named `name`. */
export type ObjectStep = { readonly name: string } & (
  | { readonly do: 'put'; readonly spec: JsonObject; readonly label: string }
  | { readonly do: 'delete' | 'deleteCopy' | 'remake' | 'hold' | 'unhold' | 'strip' }
  | { readonly do: 'status' | 'userStatus'; readonly status: JsonObject | undefined }
  | { readonly do: 'drift'; readonly spec: JsonObject }
);

/** Something that happens to servers, network or process. */
export type WorldStep =
  | { readonly do: 'mute' | 'unmute'; readonly side: SideName }
  | { readonly do: 'fail'; readonly side: SideName; readonly nth: number; readonly code: number }
  | { readonly do: 'crash'; readonly nth: number; readonly when: 'before' | 'after' }
  | { readonly do: 'idle' | 'restart' | 'pause' | 'resume' }
  | { readonly do: 'wait'; readonly ms: number };

export type Step = ObjectStep | WorldStep | { readonly do: 'foreign'; readonly spec: JsonObject };

const HOUR = 3_600_000;

export interface WorldOptions {
  readonly isolation: 'Prefixed' | 'None';
  readonly conflictPolicy: 'Fail' | 'Adopt';
}

/** Two servers and a sync between them, to which anything may happen. */
export class World {
  readonly bench: SyncBench;
  /** The provider's namespace for `ns`. */
  readonly place: string;
  readonly wanted = new Map<string, JsonObject>();
  foreign: KubeObject | undefined;
  /** Deletions that nobody asked for. */
  readonly wrongDeletes: string[] = [];
  /** What was written although the binding was paused, and nothing was on its way. */
  readonly pausedWrites: string[] = [];
  #paused = false;
  #crashed = false;
  #crashIn: { nth: number; when: 'before' | 'after' } | undefined;
  readonly #failures: Record<'consumer' | 'provider', Map<number, number>> = {
    consumer: new Map(),
    provider: new Map(),
  };

  constructor({ isolation, conflictPolicy }: WorldOptions) {
    this.bench = new SyncBench({ target: { isolation }, policy: { conflictPolicy } });
    this.place = isolation === 'None' ? 'ns' : `${CONTRACT}-ns`;
    this.bench.namespaces.giveAs('ns', this.place);
    this.bench.consumer.intercept = (request, when) => this.#intercept('consumer', request, when);
    this.bench.provider.intercept = (request, when) => this.#intercept('provider', request, when);
  }

  #intercept(side: 'consumer' | 'provider', request: ModelRequest, when: 'before' | 'after'): void {
    if (this.#crashed) throw new Error('the process is dead');
    if (this.#crashIn?.when === when && this.#crashIn.nth-- === 0) {
      this.#crashed = true;
      throw new Error('the process dies');
    }
    if (when === 'after') return;
    this.#notePausedWrite(side, request);
    for (const [left, code] of [...this.#failures[side]]) {
      this.#failures[side].delete(left);
      if (left === 0) throw apiError(code, code === 500 ? 'InternalError' : '', 'injected');
      this.#failures[side].set(left - 1, code);
    }
    if (side === 'provider' && request.verb === 'delete') {
      const original = this.bench.consumer.object(`ns/${request.target.split('/')[1] ?? ''}`);
      if (original !== undefined && original.metadata.deletionTimestamp === undefined)
        this.wrongDeletes.push(request.target);
    }
  }

  #notePausedWrite(side: SideName, { verb, target }: ModelRequest): void {
    if (this.#paused && !['get', 'list', 'watch', 'dryRun'].includes(verb))
      this.pausedWrites.push(`${side} ${verb} ${target}`);
  }

  /** Takes one step; an object that the step needs and that is not there makes it no step. */
  async take(next: Step): Promise<void> {
    if ('name' in next) this.#takeWithObject(next);
    else if (next.do === 'foreign') this.#putForeign(next.spec);
    else await this.#takeWithWorld(next);
  }

  #takeWithObject(next: ObjectStep): void {
    const { bench, wanted } = this;
    const target = { namespace: 'ns', name: next.name };
    const copy = { namespace: this.place, name: next.name };
    switch (next.do) {
      case 'put':
        if (bench.consumer.object(nameOf(target))?.metadata.deletionTimestamp !== undefined) return;
        bench.put(target, { spec: next.spec }, { labels: { l: next.label } });
        wanted.set(next.name, next.spec);
        return;
      case 'delete':
        bench.consumer.remove(target);
        wanted.delete(next.name);
        return;
      case 'deleteCopy':
        bench.provider.remove(copy);
        return;
      case 'remake':
        this.#remake(copy);
        return;
      case 'hold':
      case 'unhold': {
        const finalizers = next.do === 'hold' ? ['ex/hold'] : [];
        this.#editCopy(copy, (object) => ({ ...object, metadata: { ...object.metadata, finalizers } }));
        return;
      }
      case 'strip':
        this.#editCopy(copy, (object) => ({ ...object, spec: {} }));
        return;
      case 'drift':
        this.#editCopy(copy, (object) => ({
          ...object,
          spec: { ...(object['spec'] as JsonObject | undefined), ...next.spec },
        }));
        return;
      case 'status':
        bench.provider.editStatus(copy, next.status);
        return;
      case 'userStatus':
        bench.consumer.editStatus(target, next.status);
    }
  }

  #putForeign(spec: JsonObject): void {
    const { bench } = this;
    const place = { namespace: this.place, name: 'foreign' };
    if (this.foreign !== undefined) return;
    this.foreign = bench.provider.edit(place, (object) => ({ ...object, spec }));
    bench.put({ namespace: 'ns', name: 'foreign' }, { spec: { size: 1 } });
  }

  async #takeWithWorld(next: WorldStep): Promise<void> {
    const { bench } = this;
    switch (next.do) {
      case 'mute':
        bench[next.side].mute();
        return;
      case 'unmute':
        bench[next.side].unmute();
        return;
      case 'fail':
        this.#failures[next.side].set(next.nth, next.code);
        return;
      case 'crash':
        this.#crashIn = { nth: next.nth, when: next.when };
        await bench.idle();
        this.#crashIn = undefined;
        if (this.#crashed) await this.#revive();
        return;
      case 'restart':
        await this.#revive();
        return;
      case 'pause':
        bench.update({ paused: true });
        await bench.idle();
        this.#paused = true;
        return;
      case 'resume':
        this.#resume();
        return;
      case 'idle':
        await bench.idle();
        return;
      case 'wait':
        await bench.advance(next.ms);
    }
  }

  #editCopy(target: ObjectName, change: (object: KubeObject) => KubeObject): void {
    if (this.bench.provider.object(nameOf(target)) === undefined) return;
    this.bench.provider.edit(target, change, 'provider-controller');
  }

  /** The provider replaces the copy by force: the same content, and nobody's record of who wrote it. */
  #remake(target: ObjectName): void {
    const copy = this.bench.provider.object(nameOf(target));
    if (copy === undefined || copy.metadata.deletionTimestamp !== undefined) return;
    const { labels, annotations } = copy.metadata;
    this.bench.provider.vanish(target);
    this.bench.provider.edit(
      target,
      (made) => ({
        ...copy,
        metadata: { ...made.metadata, ...(labels && { labels }), ...(annotations && { annotations }) },
      }),
      'provider-controller',
    );
  }

  #resume(): void {
    this.#paused = false;
    this.bench.update({ paused: false });
  }

  async #revive(): Promise<void> {
    await this.bench.sync.close();
    this.#crashed = false;
    await this.bench.restart();
  }

  /** Ends all disturbances and gives the sync time. */
  async settle(): Promise<void> {
    const { bench } = this;
    this.#failures.consumer.clear();
    this.#failures.provider.clear();
    bench.consumer.unmute();
    bench.provider.unmute();
    this.#resume();
    for (const { metadata } of bench.provider.all())
      this.#editCopy(metadata, (held) => ({ ...held, metadata: { ...held.metadata, finalizers: [] } }));
    for (let hour = 0; hour < 3; hour++) await bench.advance(HOUR);
  }
}
