import { afterEach, describe, expect, it } from '@jest/globals';
import { WIDGET } from '../../engine/testing/model-schema.js';
import type { ModelSchema } from '../../engine/testing/model-schema.js';
import { nameOf } from './testing/model-object.js';
import { A, COPY_A, GVR, SyncBench } from './testing/sync-bench.js';

const SCALAR: ModelSchema = { kind: 'scalar' };
const ITEM: ModelSchema = { kind: 'struct', fields: { key: SCALAR, v: SCALAR, tags: { kind: 'set' } } };
const LISTS: ModelSchema = {
  kind: 'struct',
  fields: {
    ...(WIDGET.kind === 'struct' ? WIDGET.fields : {}),
    spec: { kind: 'struct', fields: { list: { kind: 'mapList', key: 'key', item: ITEM } } },
  },
};

let bench: SyncBench;
afterEach(() => bench.close());
const copy = () => bench.provider.object(nameOf(COPY_A));

describe('an empty set in an item of a list', () => {
  it.each([{ tags: [] }, { tags: ['x'] }])(
    'goes when the user takes it away (first %j)',
    async ({ tags }) => {
      bench = await new SyncBench({ schema: LISTS }).start();
      for (const item of [{ tags }, { tags: [] }]) {
        bench.put(A, { spec: { list: [{ key: 'a', ...item }] } });
        await bench.idle();
      }
      expect(copy()?.['spec']).toEqual({ list: [{ key: 'a', tags: [] }] });
      bench.put(A, { spec: { list: [{ key: 'a', v: 1 }] } });
      await bench.idle();
      expect(copy()?.['spec']).toEqual({ list: [{ key: 'a', v: 1 }] });
    },
  );
});

describe('what the user has said about the copy', () => {
  it('counts also when the object vanishes without being seen in deletion', async () => {
    bench = await new SyncBench().start();
    bench.put(A, { spec: {} }, { annotations: { 'kcp.kube-bind.io/deletion-policy': 'Orphan' } });
    await bench.idle();
    bench.consumer.vanish(A);
    await bench.advance(3_600_000);
    expect(copy()?.metadata.annotations?.['kcp.kube-bind.io/deletion-policy']).toBeUndefined();
    expect(copy()).toMatchObject({ metadata: { name: 'a' } });
  });
});

describe('a deletion', () => {
  it('never hits another object of the name that the watch has not shown yet', async () => {
    bench = await new SyncBench().start();
    bench.put(A, { spec: { size: 1 } });
    await bench.idle();
    bench.provider.mute();
    bench.provider.vanish(COPY_A);
    bench.provider.edit(COPY_A, (object) => ({ ...object, spec: { size: 9 } }));
    bench.consumer.remove(A);
    await bench.advance(60_000);
    expect(copy()?.['spec']).toMatchObject({ size: 9 });
    expect(bench.consumer.all()).toEqual([]);
  });

  it('that finds a copy whose marks the provider has changed says that it stays', async () => {
    bench = await new SyncBench().start();
    bench.put(A, { spec: { size: 1 } });
    await bench.idle();
    bench.consumer.mute();
    bench.consumer.remove(A);
    bench.provider.mute();
    bench.provider.edit(COPY_A, (object) => {
      const annotations = { ...object.metadata.annotations };
      delete annotations['kcp.kube-bind.io/cluster'];
      return { ...object, metadata: { ...object.metadata, annotations } };
    });
    bench.provider.unmute();
    bench.consumer.unmute();
    await bench.advance(60_000);
    expect(bench.consumer.all()).toEqual([]);
    expect(copy()).toBeDefined();
    expect(bench.events).toContainEqual(
      expect.objectContaining({
        reason: 'LeftBehind',
        message: expect.stringContaining(nameOf(COPY_A)) as unknown,
      }),
    );
  });
});

describe('a dry run', () => {
  it('of a server that puts items into lists does not lose fields of the user', async () => {
    bench = await new SyncBench().start();
    const { provider } = bench;
    if (WIDGET.kind !== 'struct' || WIDGET.fields['spec']?.kind !== 'struct') throw new Error('no struct');
    const fields = { ...WIDGET.fields['spec'].fields };
    delete fields['name'];
    provider.schema = { ...WIDGET, fields: { ...WIDGET.fields, spec: { kind: 'struct', fields } } };
    provider.mutate = (object) => {
      const spec = object['spec'] as { list?: { key: string }[] };
      if (spec.list === undefined || spec.list.some(({ key }) => key === 'sidecar')) return object;
      return { ...object, spec: { ...spec, list: [{ key: 'sidecar' }, ...spec.list] } };
    };
    const list = [
      { key: 'a', v: 1 },
      { key: 'b', v: 2 },
    ];
    bench.put(A, { spec: { list, name: 'not known there' } });
    await bench.advance(60_000);
    expect((copy()?.['spec'] as { list: unknown[] }).list).toEqual(expect.arrayContaining(list));
  });
});

describe('a namespace that the provider maps elsewhere', () => {
  it('gets new copies, and an event names the former one, which stays', async () => {
    bench = await new SyncBench().start();
    bench.put(A, { spec: { size: 1 } });
    await bench.idle();
    bench.namespaces.giveAs('ns', 'elsewhere');
    await bench.advance(60_000);
    expect(bench.provider.object('elsewhere/a')?.['spec']).toMatchObject({ size: 1 });
    expect(copy()?.['spec']).toMatchObject({ size: 1 });
    const named = bench.events.filter(({ reason }) => reason === 'LeftBehind');
    expect(named.map(({ message }) => message.includes(nameOf(COPY_A)))).toEqual([true]);
  });
});

describe('a copy whose managedFields were lost while nobody looked', () => {
  it.each([
    ['with an edit meanwhile, keeps what cannot be told, and says how to be rid of it', { size: 1 }, 1],
    ['without one, is made ours again without a word', { size: 1, name: 'x' }, 0],
  ])('%s', async (_name, spec, told) => {
    bench = await new SyncBench().start();
    const { provider } = bench;
    bench.put(A, { spec: { size: 1, name: 'x' } });
    await bench.idle();
    await bench.sync.close();
    await provider.client().patch(GVR, COPY_A, 'json', [
      {
        op: 'replace',
        path: '/metadata/resourceVersion',
        value: copy()?.metadata.resourceVersion ?? '',
      },
      { op: 'replace', path: '/metadata/managedFields', value: [] },
    ]);
    if (told > 0) bench.put(A, { spec });
    await bench.restart();
    const messages = bench.events.filter(({ reason }) => reason === 'Mutated').map(({ message }) => message);
    expect(messages).toEqual(
      Array.from({ length: told }, () => expect.stringContaining('spec.name') as unknown),
    );
    // As the message says: the field is ours again, and goes.
    bench.put(A, { spec: { size: 1, name: 'y' } });
    await bench.idle();
    bench.put(A, { spec: { size: 1 } });
    await bench.idle();
    expect(copy()?.['spec']).toEqual({ size: 1, replicas: 3 });
  });
});
