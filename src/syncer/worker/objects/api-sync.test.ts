import { afterEach, describe, expect, it } from '@jest/globals';
import { SYNCER_FINALIZER } from '../../../api/markers.js';
import { ForeignClusterError, ofWorkspace } from './consumer-calls.js';
import { A, CLUSTER, COPY_A, CONTRACT, SyncBench } from './testing/sync-bench.js';
import type { BenchOptions } from './testing/sync-bench.js';
import { nameOf } from './testing/model-object.js';
import { apiError } from './testing/model-status.js';

let bench: SyncBench;
async function open(options: BenchOptions = {}): Promise<SyncBench> {
  bench = await new SyncBench(options).start();
  return bench;
}
afterEach(() => bench.close());

const copyOf = (b: SyncBench) => b.provider.object(nameOf(COPY_A));
const original = (b: SyncBench) => b.consumer.object(nameOf(A));

describe('an object that comes', () => {
  it('costs two writes: finalizer and copy', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 }, data: { k: 'v' } }, { labels: { app: 'x', 'kcp.io/a': 'y' } });
    await b.idle();
    expect(b.takeWrites()).toEqual(['consumer patch ns/a', `provider apply ${nameOf(COPY_A)}`]);
    expect(copyOf(b)).toMatchObject({
      spec: { size: 1, replicas: 3 },
      data: { k: 'v' },
      metadata: {
        labels: { app: 'x', 'kcp.kube-bind.io/binding-uid': 'b-1' },
        annotations: {
          'kube-bind.io/cluster-namespace': CONTRACT,
          'kube-bind.io/consumer-namespace': 'ns',
          'kube-bind.io/consumer-uid': original(b)?.metadata.uid,
        },
      },
    });
    expect(copyOf(b)?.metadata.labels).not.toHaveProperty(['kcp.io/a']);
    expect(original(b)?.metadata.finalizers).toEqual([SYNCER_FINALIZER]);
    expect(b.sync.stats()).toMatchObject({ objects: 1, pending: 0, failing: 0, namespaces: ['ns'] });
  });

  it('causes no write at rest, nor after a restart', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1, set: [], labels: {} } });
    await b.idle();
    b.takeWrites();
    await b.advance(3_600_000);
    expect(b.takeWrites()).toEqual([]);
    await b.restart();
    await b.advance(3_600_000);
    expect(b.takeWrites()).toEqual([]);
  });

  it('asks for its namespace once, however many wait', async () => {
    const b = await open();
    b.namespaces.answers = false;
    for (const name of ['a', 'b', 'c']) b.put({ namespace: 'ns', name }, { spec: {} });
    await b.idle();
    expect(b.namespaces.asked).toEqual(['ns']);
    expect(b.sync.stats()).toMatchObject({ pending: 3 });
    b.namespaces.give('ns');
    await b.idle();
    expect(b.provider.all()).toHaveLength(3);
    expect(b.sync.stats()).toMatchObject({ pending: 0 });
  });

  it.each([
    ['ns', /for ns and has given none\. Its backend may not be running/],
    ['n'.repeat(63), /is longer than 63 letters: use a namespace whose name has no more than 49\.$/],
  ])('says after a while that the provider gives no namespace for %s, and why', async (namespace, words) => {
    const b = await open();
    b.namespaces.answers = false;
    b.put({ namespace, name: 'a' }, { spec: {} });
    await b.advance(19_000);
    expect(b.sync.stats()).toMatchObject({ pending: 1, failing: 0 });
    await b.advance(2_000);
    expect(b.sync.stats()).toMatchObject({ pending: 0, failing: 1 });
    expect(b.events).toEqual([
      expect.objectContaining({
        reason: 'ProviderNamespaceMissing',
        message: expect.stringMatching(words) as unknown,
      }),
    ]);
    b.namespaces.give(namespace);
    await b.idle();
    expect(b.sync.stats()).toMatchObject({ pending: 0, failing: 0 });
  });
});

describe('an edit', () => {
  it('costs one write, and a status change another', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.takeWrites();
    b.put(A, { spec: { size: 2 } });
    await b.idle();
    expect(b.takeWrites()).toEqual([`provider apply ${nameOf(COPY_A)}`]);
    b.provider.editStatus(COPY_A, { phase: 'Ready', observedGeneration: 2 });
    await b.idle();
    expect(b.takeWrites()).toEqual(['consumer replace ns/a/status']);
    expect(original(b)?.['status']).toEqual({ phase: 'Ready', observedGeneration: 2 });
    b.provider.editStatus(COPY_A, undefined);
    await b.idle();
    expect(original(b)).not.toHaveProperty('status');
    expect(b.takeWrites()).toEqual(['consumer replace ns/a/status']);
  });

  it('of the status, a hundred times in ten seconds, brings down the last one at a bearable pace', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.takeWrites();
    for (let round = 0; round < 100; round++) {
      b.provider.editStatus(COPY_A, { round });
      await b.clock.advance(100);
    }
    await b.advance(2000);
    expect(original(b)?.['status']).toEqual({ round: 99 });
    expect(b.takeWrites().length).toBeLessThan(20);
  });

  it('takes away what the user took away, emptied maps and lists too', async () => {
    const b = await open();
    const full = {
      spec: {
        size: 1,
        labels: { a: '1' },
        set: ['x'],
        list: [{ key: 'k', v: '1' }],
        free: { a: { b: 1 } },
        items: [1],
      },
      data: { k: 'v' },
    };
    b.put(A, full);
    await b.idle();
    for (const spec of [
      { labels: {}, set: [], list: [], free: { a: {} }, items: [] },
      { labels: {}, free: {} },
      {},
      full.spec,
      { set: ['y'], free: {} },
      { set: [] },
      {},
    ]) {
      b.put(A, { spec });
      await b.idle();
      expect(copyOf(b)?.['spec']).toEqual({ replicas: 3, ...spec });
      expect(b.sync.stats()).toMatchObject({ failing: 0, pending: 0 });
    }
    expect(b.failures).toEqual([]);
  });

  it('empties a map that the schema requires, in place', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1, labels: { a: '1' } } });
    await b.idle();
    b.provider.validate = (object) =>
      (object['spec'] as { labels?: object }).labels === undefined
        ? 'spec.labels: Required value'
        : undefined;
    b.put(A, { spec: { size: 1, labels: {} } });
    await b.idle();
    expect(copyOf(b)?.['spec']).toEqual({ size: 1, replicas: 3, labels: {} });
    expect(b.sync.stats()).toMatchObject({ failing: 0, pending: 0 });
  });

  it('leaves what the provider has added', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1, labels: { a: '1' }, set: ['x'] } });
    await b.idle();
    b.provider.edit(COPY_A, (object) => ({
      ...object,
      spec: { ...(object['spec'] as object), name: 'theirs', labels: { a: '1', z: '9' }, set: ['x', 'z'] },
      metadata: { ...object.metadata, labels: { ...object.metadata.labels, theirs: 'y' } },
    }));
    await b.idle();
    b.takeWrites();
    b.put(A, { spec: { labels: {}, set: [] } });
    await b.idle();
    expect(copyOf(b)?.['spec']).toEqual({ replicas: 3, name: 'theirs', labels: { z: '9' }, set: ['z'] });
    expect(copyOf(b)?.metadata.labels).toMatchObject({ theirs: 'y' });
  });
});

describe('drift', () => {
  it('is put right, five times in ten minutes', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.takeWrites();
    for (let round = 0; round < 8; round++) {
      b.provider.edit(COPY_A, (object) => ({ ...object, spec: { size: 50 + round } }));
      await b.idle();
    }
    expect(b.takeWrites()).toHaveLength(5);
    expect(b.sync.stats().problem).toMatchObject({ reason: 'Contested' });
    expect(b.events.filter((event) => event.reason === 'Contested')).toHaveLength(1);
    await b.advance(11 * 60_000);
    expect(b.takeWrites()).toHaveLength(1);
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 1 });
    expect(b.sync.stats()).toMatchObject({ failing: 0 });
  });

  it('does not make an edit unobserved that the provider has observed', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.provider.editStatus(COPY_A, { observedGeneration: copyOf(b)?.metadata.generation ?? 0 });
    await b.idle();
    const observed = original(b)?.['status'];
    expect(observed).toEqual({ observedGeneration: original(b)?.metadata.generation });
    b.provider.edit(COPY_A, (object) => ({ ...object, spec: { size: 50 } }));
    await b.idle();
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 1 });
    expect(original(b)?.['status']).toEqual(observed);
  });

  it('does not keep the user from changing the object', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    for (let round = 0; round < 8; round++) {
      b.provider.edit(COPY_A, (object) => ({ ...object, spec: { size: 50 + round } }));
      await b.idle();
    }
    b.put(A, { spec: { size: 2 } });
    await b.idle();
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 2 });
  });
});

describe('a server that stores something else', () => {
  it('is tried twice, then told about and left alone', async () => {
    const b = await open();
    b.provider.mutate = (object) => ({ ...object, spec: { ...(object['spec'] as object), size: 7 } });
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    expect(b.takeWrites().filter((write) => write.startsWith('provider apply'))).toHaveLength(2);
    await b.advance(3_600_000);
    expect(b.takeWrites()).toEqual([]);
    expect(b.events.map((event) => event.reason)).toEqual(['Mutated']);
    expect(b.sync.stats().problem).toMatchObject({ reason: 'Mutated', status: 'False' });
  });

  it('on creation only gets the right thing the second time, and nobody is told', async () => {
    const b = await open();
    let made = false;
    b.provider.mutate = (object) => {
      if (made) return object;
      made = true;
      return { ...object, spec: { size: 7 } };
    };
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 1 });
    expect(b.events).toEqual([]);
  });

  it('is put right when it has stopped to do so, also where somebody else sets that very value', async () => {
    const b = await open();
    b.provider.mutate = (object) => ({ ...object, spec: { ...(object['spec'] as object), size: 7 } });
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.provider.mutate = (object) => object;
    for (const size of [8, 7]) {
      b.provider.edit(COPY_A, (object) => ({ ...object, spec: { size } }));
      await b.idle();
      expect(copyOf(b)?.['spec']).toMatchObject({ size: 1 });
    }
  });

  it('that does not know a field gets the rest, and the field is named', async () => {
    const b = await open();
    b.consumer.schema = { kind: 'any' };
    b.put(A, { spec: { size: 1, extra: { a: 1 } }, list: [1] });
    await b.idle();
    expect(copyOf(b)?.['spec']).toEqual({ size: 1, replicas: 3 });
    expect(b.events).toMatchObject([
      { reason: 'Pruned', message: expect.stringContaining('spec.extra, list') as unknown },
    ]);
    b.takeWrites();
    await b.advance(3_600_000);
    expect(b.takeWrites()).toEqual([]);
    b.put(A, { spec: { size: 2, extra: { a: 1 } } });
    await b.idle();
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 2 });
    await b.restart();
    b.takeWrites();
    await b.advance(3_600_000);
    expect(b.takeWrites()).toEqual([]);
    b.put(A, { spec: { size: 3 } });
    await b.idle();
    expect(b.sync.stats().problem).toBeUndefined();
  });
});

describe('a server that stopped to serve the version under which the copy was written', () => {
  it('gets the next edit all the same, once the entries of all managers are moved', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.provider.edit(COPY_A, (object) => ({ ...object, spec: { ...(object['spec'] as object), name: 'x' } }));
    await b.idle();
    b.provider.retired = 'example.test/v1beta1';
    b.takeWrites();
    b.put(A, { spec: { size: 2 } });
    await b.idle();
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 2, name: 'x' });
    expect(b.provider.retired).toBeUndefined();
    expect(b.takeWrites()).toEqual(expect.arrayContaining([expect.stringContaining('patch')]));
    expect(b.sync.stats()).toMatchObject({ failing: 0 });
    expect(b.events).toEqual([]);
  });

  it('is left alone while the user changes nothing', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.provider.retired = 'example.test/v1beta1';
    b.takeWrites();
    await b.advance(3_600_000);
    expect(b.takeWrites()).toEqual([]);
  });
});

describe('a refused object', () => {
  it('fails alone, with the provider’s message, and recovers by itself', async () => {
    const b = await open();
    b.provider.validate = (object, old) =>
      old !== undefined &&
      (object['spec'] as { name?: string }).name !== (old['spec'] as { name?: string }).name
        ? 'spec.name: name is immutable'
        : undefined;
    b.put(A, { spec: { name: 'one' } });
    b.put({ namespace: 'ns', name: 'b' }, { spec: { size: 1 } });
    await b.idle();
    b.put(A, { spec: { name: 'two' } });
    b.put({ namespace: 'ns', name: 'b' }, { spec: { size: 2 } });
    await b.idle();
    expect(b.sync.stats()).toMatchObject({
      failing: 1,
      problem: { reason: 'ObjectsFailing', message: expect.stringContaining('name is immutable') as unknown },
    });
    expect(b.events).toMatchObject([{ type: 'Warning', reason: 'ProviderRefused', name: 'a' }]);
    expect(b.provider.object(`${CONTRACT}-ns/b`)?.['spec']).toMatchObject({ size: 2 });
    b.takeWrites();
    for (let round = 0; round < 20; round++) b.provider.editStatus(COPY_A, { round });
    await b.idle();
    expect(b.takeWrites()).not.toContain(`provider apply ${nameOf(COPY_A)}`);
    await b.advance(1000);
    expect(original(b)?.['status']).toEqual({ round: 19 });
    await b.advance(600_000);
    expect(b.takeWrites().length).toBeLessThan(30);
    b.put(A, { spec: { name: 'one' } });
    await b.idle();
    expect(b.sync.stats()).toMatchObject({ failing: 0, pending: 0 });
    // The same trouble again is worth another event.
    expect(b.events).toHaveLength(1);
    b.put(A, { spec: { name: 'two' } });
    await b.idle();
    expect(b.events).toHaveLength(2);
  });
});

describe('deletion', () => {
  it('keeps the finalizer, and the status live, until the copy is seen gone', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.provider.edit(COPY_A, (object) => ({
      ...object,
      metadata: { ...object.metadata, finalizers: ['ex/teardown'] },
    }));
    b.consumer.remove(A);
    await b.idle();
    expect(copyOf(b)?.metadata.deletionTimestamp).toBeDefined();
    expect(original(b)?.metadata.finalizers).toEqual([SYNCER_FINALIZER]);
    b.provider.editStatus(COPY_A, { phase: 'Teardown' });
    await b.idle();
    expect(original(b)?.['status']).toEqual({ phase: 'Teardown' });
    b.takeWrites();
    await b.advance(600_000);
    expect(b.takeWrites()).toEqual([]);
    b.provider.edit(COPY_A, (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } }));
    await b.idle();
    expect(copyOf(b)).toBeUndefined();
    expect(original(b)).toBeUndefined();
    expect(b.sync.stats()).toMatchObject({ objects: 0, pending: 0 });
  });

  it('costs two writes', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.takeWrites();
    b.consumer.remove(A);
    await b.idle();
    expect(b.takeWrites()).toEqual(['consumer patch ns/a', `provider delete ${nameOf(COPY_A)}`]);
    expect(b.consumer.all()).toEqual([]);
  });

  it('ends with one write although the watch has not shown the end yet', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.provider.edit(COPY_A, (object) => ({
      ...object,
      metadata: { ...object.metadata, finalizers: ['ex/x'] },
    }));
    b.consumer.remove(A);
    await b.idle();
    b.takeWrites();
    b.consumer.mute();
    b.provider.edit(COPY_A, (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } }));
    await b.advance(1000);
    expect(b.takeWrites()).toEqual(['consumer patch ns/a']);
    expect(original(b)).toBeUndefined();
  });

  it('of the copy alone brings it back, after it has gone', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    const uid = copyOf(b)?.metadata.uid;
    b.provider.edit(COPY_A, (object) => ({
      ...object,
      metadata: { ...object.metadata, finalizers: ['ex/x'] },
    }));
    b.provider.remove(COPY_A);
    await b.idle();
    expect(copyOf(b)?.metadata.uid).toBe(uid);
    b.provider.edit(COPY_A, (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } }));
    await b.idle();
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 1 });
    expect(copyOf(b)?.metadata.uid).not.toBe(uid);
    expect(original(b)?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('by policy Orphan leaves a copy without our marks', async () => {
    const b = await open();
    b.put(
      A,
      { spec: { size: 1 } },
      { annotations: { 'kcp.kube-bind.io/deletion-policy': 'Orphan', own: 'x' } },
    );
    await b.idle();
    b.consumer.remove(A);
    await b.idle();
    expect(original(b)).toBeUndefined();
    expect(copyOf(b)?.metadata).toMatchObject({ annotations: { own: 'x' } });
    expect(JSON.stringify(copyOf(b)?.metadata.annotations)).not.toContain('kube-bind');
    expect(copyOf(b)?.metadata.labels).toBeUndefined();
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 1 });
    expect(b.events).toMatchObject([{ type: 'Normal', reason: 'Orphaned' }]);
  });
});

describe('absence', () => {
  async function vanished(): Promise<SyncBench> {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    return b;
  }
  it('of an object that is proven gone deletes the copy after the grace time, not before', async () => {
    const b = await vanished();
    b.consumer.vanish(A);
    await b.idle();
    b.takeWrites();
    await b.advance(299_000);
    expect(copyOf(b)).toBeDefined();
    await b.advance(2000);
    expect(copyOf(b)).toBeUndefined();
  });

  it.each([
    ['403', () => apiError(403, 'Forbidden', 'no')],
    ['404 of the path', () => apiError(404, '', 'not found')],
    ['404 of another object', () => apiError(404, 'NotFound', 'no', { name: 'other', kind: 'widgets' })],
    ['500', () => apiError(500, 'InternalError', 'APIExport not found')],
  ])('is no proof when the workspace answers %s', async (_name, error) => {
    const b = await vanished();
    b.consumer.vanish(A);
    await b.idle();
    b.consumer.intercept = ({ verb }) => {
      if (verb === 'get' || verb === 'list') throw error();
    };
    b.takeWrites();
    for (let hour = 0; hour < 5; hour++) await b.advance(3_600_000);
    expect(copyOf(b)).toBeDefined();
    expect(b.takeWrites()).toEqual([]);
  });

  it('is no proof when the API cannot be listed, whatever a GET says', async () => {
    const b = await vanished();
    b.consumer.vanish(A);
    await b.idle();
    b.consumer.intercept = ({ verb }) => {
      if (verb === 'list') throw apiError(403, 'Forbidden', 'not bound');
    };
    b.takeWrites();
    await b.advance(3_600_000);
    expect(b.takeWrites()).toEqual([]);
  });

  it('ends when the object is seen again', async () => {
    const b = await vanished();
    b.consumer.vanish(A);
    await b.idle();
    await b.advance(200_000);
    b.put(A, { spec: { size: 5 } });
    await b.idle();
    // Another object of that name: its predecessor's copy is not taken by name.
    expect(b.sync.stats().problem).toMatchObject({ reason: 'Conflict' });
    await b.advance(3_600_000);
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 1 });
    b.update({ conflictPolicy: 'Adopt' });
    await b.idle();
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 5 });
    expect(b.sync.stats()).toMatchObject({ failing: 0, pending: 0 });
  });

  it('of everything after a restart with an empty list deletes nothing within the grace time', async () => {
    const b = await vanished();
    b.consumer.intercept = ({ verb }) => {
      if (verb === 'list') throw apiError(503, 'ServiceUnavailable', 'later');
    };
    await b.restart();
    b.takeWrites();
    await b.advance(3_600_000);
    expect(b.takeWrites()).toEqual([]);
    expect(copyOf(b)).toBeDefined();
  });
});

describe('a foreign object at the place of the copy', () => {
  async function withForeign(
    options: BenchOptions,
    foreign: Record<string, unknown> = {},
  ): Promise<SyncBench> {
    bench = new SyncBench(options);
    bench.namespaces.give('ns');
    bench.provider.edit(COPY_A, (object) => ({
      ...object,
      spec: { size: 9, name: 'theirs', labels: { z: '1' } },
      ...foreign,
    }));
    bench.put(A, { spec: { size: 1, labels: { a: '1' } } });
    return bench.start();
  }

  it('is left alone by policy Fail, with an event that says what to do', async () => {
    const b = await withForeign({});
    const before = copyOf(b);
    await b.advance(3_600_000);
    expect(copyOf(b)).toEqual(before);
    expect(b.events).toMatchObject([
      { reason: 'Conflict', message: expect.stringContaining('Adopt') as unknown },
    ]);
    expect(b.sync.stats()).toMatchObject({ failing: 1, problem: { reason: 'Conflict' } });
    b.provider.remove(COPY_A);
    await b.idle();
    expect(copyOf(b)?.['spec']).toEqual({ size: 1, replicas: 3, labels: { a: '1' } });
    expect(b.sync.stats()).toMatchObject({ failing: 0 });
  });

  it('is taken over by policy Adopt with its fields kept and listed', async () => {
    const b = await withForeign({ policy: { conflictPolicy: 'Adopt' } });
    expect(copyOf(b)?.['spec']).toEqual({ size: 1, replicas: 3, name: 'theirs', labels: { a: '1', z: '1' } });
    expect(b.events).toMatchObject([
      { type: 'Normal', reason: 'Adopted', message: expect.stringContaining('spec.name') as unknown },
    ]);
    b.takeWrites();
    await b.advance(3_600_000);
    expect(b.takeWrites()).toEqual([]);
  });

  it('is taken over at once by a policy that changes during a failing attempt', async () => {
    bench = new SyncBench();
    bench.namespaces.give('ns');
    bench.provider.edit(COPY_A, (object) => ({ ...object, spec: { size: 9 } }));
    bench.put(A, { spec: { size: 1 } });
    let changed = false;
    bench.provider.intercept = ({ verb }) => {
      if (verb !== 'get' || changed) return;
      changed = true;
      // The attempt has its context already, and fails; the change comes before that is noted.
      queueMicrotask(() => bench.update({ conflictPolicy: 'Adopt' }));
    };
    await bench.start();
    expect(copyOf(bench)?.['spec']).toMatchObject({ size: 1 });
  });

  it('survives the deletion of the consumer’s object', async () => {
    const b = await withForeign({});
    b.consumer.remove(A);
    await b.idle();
    expect(original(b)).toBeUndefined();
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 9 });
  });

  it.each([
    ['beside ours', { name: 'theirs' }],
    ['in the place of ours', { name: 'theirs', size: 9 }],
  ])('that appears while the copy is made, with fields %s, is not merged into', async (_where, spec) => {
    const b = await open();
    b.namespaces.give('ns');
    await b.idle();
    let before: ReturnType<typeof copyOf>;
    b.provider.intercept = ({ verb }) => {
      if (verb === 'apply') before ??= b.provider.edit(COPY_A, (object) => ({ ...object, spec }));
    };
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    expect(copyOf(b)?.['spec']).toEqual({ ...spec, replicas: 3 });
    expect(copyOf(b)?.metadata.annotations).toBeUndefined();
    expect(copyOf(b)?.metadata.managedFields).toEqual(before?.metadata.managedFields);
    expect(b.sync.stats()).toMatchObject({ problem: { reason: 'Conflict' } });
  });

  it('that takes the place of the copy while it is changed is not written to', async () => {
    const b = await open();
    b.namespaces.give('ns');
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    let theirs: ReturnType<typeof copyOf>;
    b.provider.intercept = ({ verb }, when) => {
      if (verb !== 'apply' || when !== 'before' || theirs !== undefined) return;
      b.provider.vanish(COPY_A);
      theirs = b.provider.edit(COPY_A, (object) => ({ ...object, spec: { name: 'theirs' } }));
    };
    b.put(A, { spec: { size: 2 } });
    await b.idle();
    expect(theirs).toBeDefined();
    expect(copyOf(b)).toEqual(theirs);
    expect(b.sync.stats()).toMatchObject({ problem: { reason: 'Conflict' } });
  });

  it('that somebody else takes over first is theirs, whatever the policy', async () => {
    bench = new SyncBench({ policy: { conflictPolicy: 'Adopt' } });
    const b = bench;
    b.namespaces.give('ns');
    b.provider.edit(COPY_A, (object) => ({ ...object, spec: { size: 1 } }));
    let theirs: ReturnType<typeof copyOf>;
    b.provider.intercept = ({ verb }, when) => {
      if (verb !== 'apply' || when !== 'before' || theirs !== undefined) return;
      const annotations = { 'kube-bind.io/cluster-namespace': 'other', 'kube-bind.io/consumer-uid': 'x' };
      theirs = b.provider.edit(COPY_A, (object) => ({
        ...object,
        metadata: { ...object.metadata, annotations },
      }));
    };
    b.put(A, { spec: { size: 2 } });
    await b.start();
    expect(theirs).toBeDefined();
    expect(copyOf(b)).toEqual(theirs);
    expect(b.sync.stats().problem?.message).toContain('belongs to another consumer');
  });

  it('with the konnector’s marks is migrated: its leftovers go, its managers too', async () => {
    bench = new SyncBench({ policy: { conflictPolicy: 'Adopt' } });
    bench.namespaces.give('ns');
    bench.provider.edit(
      COPY_A,
      (object) => ({
        ...object,
        metadata: {
          ...object.metadata,
          annotations: {
            'kube-bind.io/cluster-namespace': CONTRACT,
            'kube-bind.io/consumer-uid': 'old',
            old: 'x',
          },
        },
        spec: { size: 9, name: 'old', labels: { o: '1' } },
      }),
      'konnector',
    );
    bench.put(A, { spec: { size: 1, labels: {} } });
    const b = await bench.start();
    expect(copyOf(b)?.['spec']).toEqual({ size: 1, replicas: 3, labels: {} });
    expect(copyOf(b)?.metadata.annotations).not.toHaveProperty('old');
    expect(JSON.stringify(copyOf(b)?.metadata.managedFields)).not.toContain('konnector');
    expect(b.takeWrites().filter((write) => write.startsWith('provider'))).toEqual([
      `provider patch ${nameOf(COPY_A)}`,
      `provider apply ${nameOf(COPY_A)}`,
    ]);
    await b.advance(3_600_000);
    expect(b.takeWrites()).toEqual([]);
  });
});

describe('a provider that refuses everything', () => {
  it('is asked slowly, shown as forbidden, loses nothing, and recovers by itself', async () => {
    const b = await open();
    b.namespaces.give('ns');
    for (let index = 0; index < 30; index++)
      b.put({ namespace: 'ns', name: `x${String(index)}` }, { spec: { size: 1 } });
    await b.idle();
    b.takeWrites();
    b.provider.intercept = ({ verb }) => {
      if (verb !== 'watch') throw apiError(403, 'Forbidden', 'cannot patch widgets');
    };
    for (let index = 0; index < 30; index++)
      b.put({ namespace: 'ns', name: `x${String(index)}` }, { spec: { size: 2 } });
    await b.idle();
    expect(b.sync.stats().problem).toMatchObject({ reason: 'ProviderForbidden' });
    expect(b.takeWrites().length).toBeLessThan(12);
    await b.advance(600_000);
    expect(b.takeWrites().length).toBeLessThan(200);
    b.provider.intercept = () => undefined;
    await b.advance(180_000);
    expect(b.sync.stats()).toMatchObject({ pending: 0, failing: 0 });
    expect(b.sync.stats().problem).toBeUndefined();
    expect(b.provider.all().every((object) => (object['spec'] as { size: number }).size === 2)).toBe(true);
  });
});

describe('a server whose watches fail for a while', () => {
  const AWAY = apiError(404, 'NotFound', 'the server could not find the requested resource');

  it.each([
    ['consumer', 'ConsumerUnreachable'],
    ['provider', 'ProviderUnreachable'],
  ] as const)('is shown (%s), and forgiven as soon as it can be watched again', async (side, reason) => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b[side].refuseWatches(AWAY);
    await b.advance(60_000);
    expect(b.sync.stats().problem).toMatchObject({ reason });
    b.takeWrites();
    b[side].refuseWatches(undefined);
    await b.advance(60_000);
    expect(b.sync.stats().problem).toBeUndefined();
    expect(b.takeWrites()).toEqual([]);
  });
});

describe('a workspace that cannot be trusted', () => {
  it('shows another workspace’s object: it is not synced', async () => {
    const b = await open();
    b.consumer.cluster = 'someoneelses1';
    b.put(A, { spec: { size: 1 } });
    await b.advance(60_000);
    expect(b.provider.all()).toEqual([]);
    expect(b.takeWrites()).toEqual([]);
    expect(b.sync.stats().refused).toBeGreaterThan(0);
  });

  it('answers with another workspace’s object: the answer is not used', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'Widget',
      metadata: { name: 'a', annotations: { 'kcp.io/cluster': CLUSTER }, managedFields: [{}] },
    };
    expect(ofWorkspace(CLUSTER, object).metadata).not.toHaveProperty('managedFields');
    const elsewhere = { ...object, metadata: { name: 'a', annotations: { 'kcp.io/cluster': 'elsewhere' } } };
    expect(() => ofWorkspace(CLUSTER, elsewhere)).toThrow(ForeignClusterError);
    expect(() => ofWorkspace(CLUSTER, { ...object, metadata: { name: 'a' } })).toThrow(ForeignClusterError);
  });

  it('refuses the status: the object fails alone and the copy is kept in sync', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.consumer.validate = (object) => (object['status'] === undefined ? undefined : 'status.x: unknown');
    b.provider.editStatus(COPY_A, { x: 1 });
    await b.idle();
    expect(b.events).toMatchObject([{ type: 'Warning', reason: 'WorkspaceRefused' }]);
    expect(b.sync.stats()).toMatchObject({ failing: 1 });
    b.consumer.validate = () => undefined;
    await b.advance(60_000);
    expect(original(b)?.['status']).toEqual({ x: 1 });
    expect(b.sync.stats()).toMatchObject({ failing: 0 });
  });

  it('forgets an edit for a while: an older object is not sent over a newer copy', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.consumer.mute();
    b.put(A, { spec: { size: 2 } });
    // The status write is refused as stale, so the object is read, and its edit sent.
    b.provider.editStatus(COPY_A, { x: 1 });
    await b.idle();
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 2 });
    await b.advance(120_000);
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 2 });
    b.consumer.unmute();
    await b.idle();
    expect(b.sync.stats()).toMatchObject({ pending: 0, failing: 0 });
  });
});

describe('pause', () => {
  it('holds every write on both sides, deletions too, by binding or by object', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.update({ paused: true });
    await b.idle();
    b.takeWrites();
    b.put(A, { spec: { size: 2 } });
    b.provider.editStatus(COPY_A, { phase: 'x' });
    b.consumer.remove(A);
    await b.advance(3_600_000);
    expect(b.takeWrites()).toEqual([]);
    b.update({ paused: false });
    await b.idle();
    expect(b.consumer.all()).toEqual([]);
  });
});

describe('drain', () => {
  it('deletes all copies, frees all objects and leaves them', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    b.put({ namespace: 'other', name: 'b' }, { spec: { size: 1 } });
    await b.idle();
    expect(b.sync.stats().drained).toBe(false);
    b.sync.drain();
    await b.idle();
    expect(b.sync.stats().drained).toBe(true);
    expect(b.provider.all()).toEqual([]);
    expect(b.consumer.all().map((object) => object.metadata.finalizers)).toEqual([undefined, undefined]);
    expect(b.consumer.all()).toHaveLength(2);
  });

  it.each([
    ['with its object', false],
    ['whose object is gone', true],
  ])('is not over while a copy %s is held on the provider', async (_name, vanished) => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    const finalizers = (names: string[]) =>
      b.provider.edit(COPY_A, (object) => ({
        ...object,
        metadata: { ...object.metadata, finalizers: names },
      }));
    finalizers(['example.org/teardown']);
    if (vanished) b.consumer.vanish(A);
    b.sync.drain();
    await b.advance(600_000);
    expect(copyOf(b)?.metadata.deletionTimestamp).toBeDefined();
    expect(b.sync.stats().drained).toBe(false);
    finalizers([]);
    await b.idle();
    expect(copyOf(b)).toBeUndefined();
    expect(b.sync.stats().drained).toBe(true);
  });

  it('is not over while an object cannot be freed', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.consumer.intercept = ({ verb }, when) => {
      if (verb === 'patch' && when === 'before') throw apiError(403, 'Forbidden', 'no');
    };
    b.sync.drain();
    await b.idle();
    expect(copyOf(b)).toBeUndefined();
    expect(b.sync.stats().drained).toBe(false);
    b.consumer.intercept = () => undefined;
    await b.advance(120_000);
    expect(b.sync.stats().drained).toBe(true);
  });

  it('by policy Orphan strips the marks instead', async () => {
    const b = await open({ policy: { deletionPolicy: 'Orphan' } });
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.sync.drain();
    await b.idle();
    expect(b.sync.stats().drained).toBe(true);
    expect(copyOf(b)?.['spec']).toMatchObject({ size: 1 });
    expect(JSON.stringify(copyOf(b)?.metadata)).not.toContain('kube-bind.io/consumer-uid');
  });

  it('waits for a provider that is away, and with force does not', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.provider.intercept = () => {
      throw apiError(503, '', 'away');
    };
    b.sync.drain();
    await b.advance(600_000);
    expect(b.sync.stats().drained).toBe(false);
    expect(original(b)?.metadata.finalizers).toEqual([SYNCER_FINALIZER]);
    b.update({ force: true });
    await b.advance(60_000);
    expect(b.sync.stats().drained).toBe(true);
    const copy = copyOf(b);
    expect(original(b)?.metadata.finalizers).toBeUndefined();
    const name = `${String(copy?.metadata.namespace)}/${String(copy?.metadata.name)}`;
    expect(b.sync.stats().leftBehind).toEqual([`widgets.example.org ${name}`]);
    expect(b.events).toContainEqual(
      expect.objectContaining({ reason: 'LeftBehind', message: expect.stringContaining(name) as unknown }),
    );
  });

  it('removes copies of former objects of a name too', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.consumer.vanish(A);
    b.put(A, { spec: { size: 2 } });
    await b.idle();
    expect(b.sync.stats().problem).toMatchObject({ reason: 'Conflict' });
    b.sync.drain();
    await b.idle();
    expect(b.sync.stats().drained).toBe(true);
    expect(b.provider.all()).toEqual([]);
  });

  it('is not held up by what lies in a namespace that is mapped no more', async () => {
    const b = await open({ target: { informerScope: 'Cluster' } });
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.consumer.vanish(A);
    b.namespaces.take('ns');
    b.sync.drain();
    await b.idle();
    expect(b.sync.stats().drained).toBe(true);
  });

  it('removes copies whose consumer object is already gone', async () => {
    const b = await open();
    b.put(A, { spec: { size: 1 } });
    await b.idle();
    b.consumer.vanish(A);
    b.sync.drain();
    await b.idle();
    expect(b.sync.stats().drained).toBe(true);
    expect(b.provider.all()).toEqual([]);
  });
});

describe('isolation', () => {
  it.each([
    ['Prefixed', { name: `${CONTRACT}-a` }],
    ['None', { name: 'a' }],
    ['Namespaced', { namespace: CONTRACT, name: 'a' }],
  ] as const)(
    '%s puts the copy of a cluster-scoped object where the backend expects it',
    async (isolation, place) => {
      const b = await open({ target: { scope: 'Cluster', isolation, informerScope: 'Cluster' } });
      b.put({ name: 'a' }, { spec: { size: 1 } });
      await b.idle();
      expect(b.provider.object(nameOf(place))?.['spec']).toMatchObject({ size: 1 });
      b.provider.editStatus(place, { ok: true });
      await b.idle();
      expect(b.consumer.object('a')?.['status']).toEqual({ ok: true });
      b.consumer.remove({ name: 'a' });
      await b.idle();
      expect([...b.provider.all(), ...b.consumer.all()]).toEqual([]);
    },
  );

  it('None never takes a foreign object, even by policy Adopt', async () => {
    bench = new SyncBench({
      target: { scope: 'Cluster', isolation: 'None', informerScope: 'Cluster' },
      policy: { conflictPolicy: 'Adopt' },
    });
    bench.provider.edit({ name: 'a' }, (object) => ({ ...object, spec: { size: 9 } }));
    bench.put({ name: 'a' }, { spec: { size: 1 } });
    const b = await bench.start();
    await b.advance(3_600_000);
    expect(b.provider.object('a')?.['spec']).toMatchObject({ size: 9 });
    expect(b.sync.stats()).toMatchObject({ problem: { reason: 'Conflict' } });
  });
});
