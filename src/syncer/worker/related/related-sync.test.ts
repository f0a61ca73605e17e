import { afterEach, describe, expect, it } from '@jest/globals';
import { ResourceStore } from '../../../kube/cache/store.js';
import { ApiError } from '../../../kube/errors.js';
import type { JsonObject } from '../../../kube/json-value.js';
import type { KubeObject } from '../../../kube/object.js';
import { ManualClock, settle } from '../../../kube/testing/manual-clock.js';
import { parseClaimSelector } from '../../engine/related/claim-selector.js';
import { relatedKind, RELATED_KINDS } from '../../engine/related/related-kinds.js';
import type { SyncEvent } from '../objects/object-teller.js';
import { ModelServer } from '../objects/testing/model-server.js';
import { apiError } from '../objects/testing/model-status.js';
import { BenchNamespaces, CLUSTER, CONTRACT, POLICY } from '../objects/testing/sync-bench.js';
import type { SyncPolicy } from '../resource-sync.js';
import { createRelatedSync } from './related-sync.js';
import type { RelatedResourceSync } from './related-sync.js';

const KIND = relatedKind('', 'secrets') ?? RELATED_KINDS[0]!;
const ANY = { kind: 'any' } as const;
const SCHEMA = { kind: 'struct', fields: { data: ANY, type: ANY, immutable: ANY } } as const;
const LABELLED = { labelSelector: { matchLabels: { share: 'yes' } } };
const REFERENCED = {
  references: [{ group: 'example.org', resource: 'databases', jsonPath: { name: 'spec.secretName' } }],
};
const A = { namespace: 'ns', name: 'a' };
const COPY_A = { namespace: `${CONTRACT}-ns`, name: 'a' };

class RelatedBench {
  readonly clock = new ManualClock();
  readonly consumer = new ModelServer({ gvr: KIND.gvr, kind: 'Secret', schema: SCHEMA, cluster: CLUSTER });
  readonly provider = new ModelServer({ gvr: KIND.gvr, kind: 'Secret', schema: SCHEMA });
  readonly namespaces = new BenchNamespaces();
  readonly databases = new ResourceStore();
  readonly #databases = this.databases.source('x', { kind: 'fixed', cluster: CLUSTER, strict: false });
  readonly events: SyncEvent[] = [];
  readonly #selector: JsonObject;
  #version = 0;
  policy: SyncPolicy = POLICY;
  accepted = true;
  sync: RelatedResourceSync;

  constructor(selector: JsonObject = LABELLED) {
    this.#selector = selector;
    this.namespaces.give('ns');
    this.sync = this.#open();
  }

  #open(knownCopies: readonly string[] = []): RelatedResourceSync {
    return createRelatedSync({
      kind: KIND,
      selectors: [parseClaimSelector(this.#selector)],
      accepted: this.accepted,
      isolation: 'Prefixed',
      knownCopies,
      places: {
        key: 'k',
        cluster: CLUSTER,
        bindingName: 'databases',
        bindingUid: 'b-1',
        consumer: this.consumer.client(),
        provider: this.provider.client(),
        contractNamespace: CONTRACT,
        namespaces: this.namespaces,
        ensureNamespace: (name) => this.namespaces.ensure(name),
      },
      policy: this.policy,
      limits: {
        absenceGraceMs: 300_000,
        requestTimeoutMs: 10_000,
        watchSilenceMs: 10_000_000,
        backoffBaseMs: 1000,
        backoffMaxMs: 60_000,
        concurrency: 4,
      },
      clock: this.clock,
      random: () => 0.5,
      signal: new AbortController().signal,
      emitEvent: (event) => this.events.push(event),
      reflector: { watchMinMs: 1e9, watchMaxMs: 1e9 },
    });
  }

  async start(): Promise<this> {
    this.#databases.begin();
    this.#databases.commit();
    this.sync.start();
    this.sync.attach(new Map([['databases.example.org', this.databases]]));
    await this.idle();
    return this;
  }

  /** Another process, or another consent. */
  async reopen(accepted = this.accepted): Promise<void> {
    const known = this.sync.copiesInWorkspace();
    await this.sync.close();
    this.accepted = accepted;
    this.sync = this.#open(known);
    this.sync.start();
    this.sync.attach(new Map([['databases.example.org', this.databases]]));
    await this.idle();
  }

  async idle(): Promise<void> {
    for (let quiet = 0, last = -1; quiet < 6;) {
      await settle();
      const now = this.consumer.requests.length + this.provider.requests.length;
      quiet = now === last ? quiet + 1 : 0;
      last = now;
    }
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.idle();
  }

  put(
    server: ModelServer,
    target: typeof A,
    data: JsonObject,
    labels: Record<string, string> = { share: 'yes' },
  ): void {
    server.edit(
      target,
      (object) => ({ ...object, type: 'Opaque', data, metadata: { ...object.metadata, labels } }),
      'user',
    );
  }

  database(name: string, secretName: string | undefined, deleting = false): void {
    const object: KubeObject = {
      apiVersion: 'example.org/v1',
      kind: 'Database',
      metadata: {
        name,
        namespace: 'ns',
        uid: name,
        resourceVersion: String(++this.#version),
        ...(deleting && { deletionTimestamp: '2030-01-01T00:00:00Z' }),
      },
      spec: { ...(secretName !== undefined && { secretName }) },
    };
    this.#databases.apply({ type: 'MODIFIED', object });
  }

  vanishDatabase(name: string): void {
    const object = this.databases.get({ cluster: CLUSTER, namespace: 'ns', name });
    if (object !== undefined) this.#databases.apply({ type: 'DELETED', object });
  }

  takeWrites(): string[] {
    const writes = [
      ...this.consumer.writes.map((write) => `consumer ${write}`),
      ...this.provider.writes.map((write) => `provider ${write}`),
    ];
    this.consumer.requests.length = 0;
    this.provider.requests.length = 0;
    return writes;
  }

  get here(): KubeObject | undefined {
    return this.consumer.object('ns/a');
  }
  get there(): KubeObject | undefined {
    return this.provider.object(`${CONTRACT}-ns/a`);
  }
}

describe('the sync of related objects', () => {
  const open: RelatedBench[] = [];
  const bench = async (selector?: JsonObject): Promise<RelatedBench> => {
    const made = new RelatedBench(selector);
    open.push(made);
    return made.start();
  };
  afterEach(async () => {
    for (const each of open.splice(0)) await each.sync.close();
  });

  it('makes one write for each change, none at rest, and none on an original', async () => {
    const world = await bench();
    world.put(world.consumer, A, { a: 'YQ==' });
    await world.idle();
    expect(world.takeWrites()).toEqual([`provider create ${CONTRACT}-ns/a`]);
    world.put(world.consumer, A, { a: 'Yg==' });
    await world.idle();
    expect(world.takeWrites()).toEqual([`provider replace ${CONTRACT}-ns/a`]);
    expect(world.there?.['data']).toEqual({ a: 'Yg==' });
    await world.advance(3_600_000);
    expect(world.consumer.requests).toEqual([]);
    expect(world.provider.requests).toEqual([]);
  });

  it('brings down what the provider has, and restores it', async () => {
    const world = await bench();
    world.put(world.provider, COPY_A, { a: 'YQ==' });
    await world.idle();
    expect(world.here?.['data']).toEqual({ a: 'YQ==' });
    world.put(world.consumer, A, { a: 'eA==' }, world.here?.metadata.labels);
    await world.idle();
    expect(world.here?.['data']).toEqual({ a: 'YQ==' });
    world.consumer.remove(A);
    await world.idle();
    expect(world.here?.['data']).toEqual({ a: 'YQ==' });
  });

  it('goes on after a restart without a write', async () => {
    const world = await bench();
    world.put(world.consumer, A, { a: 'YQ==' });
    world.put(world.provider, { ...COPY_A, name: 'b' }, { a: 'YQ==' });
    await world.idle();
    world.takeWrites();
    await world.reopen();
    await world.advance(3_600_000);
    expect(world.takeWrites()).toEqual([]);
  });

  it('deletes the copy a few seconds after its original, and asks before', async () => {
    const world = await bench();
    world.put(world.consumer, A, { a: 'YQ==' });
    await world.idle();
    world.consumer.remove(A);
    await world.idle();
    expect(world.there).toBeDefined();
    await world.advance(5000);
    expect(world.there).toBeUndefined();
    expect(world.consumer.requests.map(({ verb }) => verb).filter((verb) => verb === 'get')).toHaveLength(1);
  });

  it.each<[string, Error]>([
    ['403', apiError(403, 'Forbidden', 'no')],
    ['404 of something else', new ApiError({ status: 404, reason: '', message: 'page not found' })],
    ['no answer', new Error('reset')],
  ])('keeps the copy while a question for the original is answered with %s', async (_, answer) => {
    const world = await bench();
    world.put(world.consumer, A, { a: 'YQ==' });
    await world.idle();
    world.consumer.intercept = ({ verb }) => {
      if (verb === 'list' || verb === 'get') throw answer;
    };
    world.consumer.vanish(A);
    await world.advance(3_600_000);
    expect(world.there).toBeDefined();
    world.consumer.intercept = () => undefined;
    await world.advance(3_600_000);
    expect(world.there).toBeUndefined();
  });

  it('is patient with what it has never seen: kcp may still have to label it', async () => {
    const world = await bench();
    world.put(world.consumer, A, { a: 'YQ==' });
    await world.idle();
    world.consumer.mute();
    world.consumer.vanish(A);
    await world.reopen();
    await world.advance(200_000);
    expect(world.there).toBeDefined();
    world.consumer.unmute();
    await world.advance(200_000);
    expect(world.there).toBeUndefined();
  });

  it('moves nothing for a claim without selector, names and references', async () => {
    const world = await bench({});
    world.put(world.consumer, A, { a: 'YQ==' });
    world.put(world.provider, { ...COPY_A, name: 'b' }, { a: 'YQ==' });
    await world.advance(3_600_000);
    expect(world.takeWrites()).toEqual([]);
  });

  it('counts who uses a Secret, and keeps it while one does', async () => {
    const world = await bench(REFERENCED);
    world.put(world.consumer, A, { a: 'YQ==' }, {});
    await world.idle();
    expect(world.there).toBeUndefined();
    world.database('one', 'a');
    world.database('two', 'a');
    await world.idle();
    expect(world.there).toBeDefined();
    world.database('one', 'a', true);
    world.vanishDatabase('one');
    await world.idle();
    expect(world.there).toBeDefined();
    world.database('two', 'other');
    await world.idle();
    expect(world.there).toBeUndefined();
    expect(world.here).toBeDefined();
  });

  it('keeps a Secret whose user is only out of view', async () => {
    const world = await bench(REFERENCED);
    world.put(world.consumer, A, { a: 'YQ==' }, {});
    world.database('one', 'a');
    await world.idle();
    world.vanishDatabase('one');
    await world.advance(3_600_000);
    expect(world.there).toBeDefined();
  });

  it('takes a Secret away that nothing refers to after a restart, but not at once', async () => {
    const world = await bench(REFERENCED);
    world.put(world.consumer, A, { a: 'YQ==' }, {});
    world.database('one', 'a');
    await world.idle();
    world.vanishDatabase('one');
    await world.reopen();
    await world.advance(200_000);
    expect(world.there).toBeDefined();
    await world.advance(200_000);
    expect(world.there).toBeUndefined();
  });

  it('stops without consent, lists what stays, and reads nothing of the workspace', async () => {
    const world = await bench();
    world.put(world.consumer, A, { a: 'YQ==' });
    world.put(world.provider, { ...COPY_A, name: 'b' }, { a: 'YQ==' });
    await world.idle();
    await world.reopen(false);
    world.takeWrites();
    world.put(world.consumer, A, { a: 'Yg==' });
    world.consumer.remove(A);
    await world.advance(3_600_000);
    expect(world.takeWrites()).toEqual([]);
    expect(world.consumer.requests).toEqual([]);
    expect(world.sync.stats().note).toBe(
      `There is no consent to Secret any more: their sync has stopped, and these copies stay as they are: ns/b in the workspace, ${CONTRACT}-ns/a on the provider.`,
    );
  });

  it('leaves foreign objects of the name alone, in the condition and in one event', async () => {
    const world = await bench();
    world.put(world.provider, COPY_A, { theirs: 'YQ==' }, {});
    world.put(world.consumer, A, { mine: 'YQ==' });
    await world.advance(600_000);
    expect(world.takeWrites()).toEqual([]);
    expect(world.sync.stats()).toMatchObject({ failing: 1, problem: { reason: 'Conflict' } });
    expect(world.events).toHaveLength(1);
    expect(world.events[0]).toMatchObject({ reason: 'Conflict', name: 'a', namespace: 'ns' });
    world.provider.remove(COPY_A);
    await world.idle();
    expect(world.there?.['data']).toEqual({ mine: 'YQ==' });
    expect(world.sync.stats().problem).toBeUndefined();
  });

  it('makes a copy anew where the server allows no change', async () => {
    const world = await bench();
    world.put(world.consumer, A, { a: 'YQ==' });
    await world.idle();
    world.takeWrites();
    world.consumer.edit(A, (object) => ({ ...object, type: 'kubernetes.io/tls', immutable: true }));
    await world.idle();
    expect(world.takeWrites()).toEqual([
      `provider delete ${CONTRACT}-ns/a`,
      `provider create ${CONTRACT}-ns/a`,
    ]);
    expect(world.there).toMatchObject({ type: 'kubernetes.io/tls', immutable: true });
  });

  it('gives up for a while where somebody keeps changing a copy', async () => {
    const world = await bench();
    world.put(world.consumer, A, { a: 'YQ==' });
    await world.idle();
    for (let round = 0; round < 8; round++) {
      world.put(world.provider, COPY_A, { a: `x${String(round)}` }, world.there?.metadata.labels);
      await world.idle();
    }
    expect(world.provider.writes.filter((write) => write.startsWith('replace'))).toHaveLength(5);
    expect(world.sync.stats().problem).toMatchObject({ reason: 'Contested' });
  });

  it('does not send again and again what a server changes', async () => {
    const world = await bench();
    world.provider.mutate = (object) => ({ ...object, data: { a: 'bXV0YXRlZA==' } });
    world.put(world.consumer, A, { a: 'YQ==' });
    await world.advance(3_600_000);
    expect(world.provider.writes).toEqual([`create ${CONTRACT}-ns/a`]);
    expect(world.sync.stats().problem).toMatchObject({ reason: 'Mutated' });
  });

  it('asks the provider for a namespace only for what is selected', async () => {
    const world = await bench();
    world.put(world.consumer, { namespace: 'quiet', name: 'a' }, {}, {});
    world.put(world.consumer, { namespace: 'other', name: 'a' }, {});
    await world.idle();
    expect(world.namespaces.asked).toEqual(['other']);
    expect(world.provider.object(`${CONTRACT}-other/a`)).toBeDefined();
  });

  it.each(['Delete', 'Orphan'] as const)('lets go of all copies at the end by %s', async (deletionPolicy) => {
    const world = await bench();
    world.policy = { ...POLICY, deletionPolicy };
    world.sync.update(world.policy);
    world.put(world.consumer, A, { a: 'YQ==' });
    world.put(world.provider, { ...COPY_A, name: 'b' }, { a: 'YQ==' });
    await world.idle();
    expect(world.sync.stats().drained).toBe(false);
    world.sync.drain();
    await world.idle();
    expect(world.sync.stats()).toMatchObject({ drained: true, objects: 0, namespaces: [] });
    expect(world.here).toBeDefined();
    const left = [world.there, world.consumer.object('ns/b')];
    if (deletionPolicy === 'Delete') expect(left).toEqual([undefined, undefined]);
    else
      for (const object of left) {
        expect(object?.metadata.labels).toEqual({ share: 'yes' });
        expect(
          Object.keys(object?.metadata.annotations ?? {}).filter((key) => key.includes('kube-bind')),
        ).toEqual(['kcp.kube-bind.io/orphaned']);
      }
  });

  it('lets go of copies on the provider without consent', async () => {
    const world = await bench();
    world.put(world.consumer, A, { a: 'YQ==' });
    await world.idle();
    await world.reopen(false);
    world.sync.drain();
    await world.idle();
    expect(world.there).toBeUndefined();
    expect(world.sync.stats().drained).toBe(true);
  });

  it('waits quietly for a namespace of the workspace that its user deleted', async () => {
    const world = await bench();
    const missing = apiError(404, 'NotFound', 'namespaces "ns" not found', {
      name: 'ns',
      kind: 'namespaces',
    });
    world.consumer.intercept = ({ verb }) => {
      if (verb === 'create') throw missing;
    };
    world.put(world.provider, COPY_A, { a: 'YQ==' });
    await world.idle();
    expect(world.sync.stats()).toMatchObject({ pending: 1, failing: 0 });
    expect(world.sync.stats().problem).toBeUndefined();
    world.consumer.intercept = () => undefined;
    await world.advance(30_000);
    expect(world.here).toBeDefined();
  });

  it('never reads the contract namespace', async () => {
    const world = await bench();
    world.namespaces.giveAs('evil', CONTRACT);
    world.put(world.provider, { namespace: CONTRACT, name: 'kubeconfig' }, { a: 'YQ==' });
    world.put(world.consumer, { namespace: 'evil', name: 'a' }, {});
    await world.idle();
    expect(world.consumer.object('evil/kubeconfig')).toBeUndefined();
    expect(world.provider.object(`${CONTRACT}/a`)).toBeUndefined();
  });
});
