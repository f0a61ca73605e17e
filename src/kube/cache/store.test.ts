import { describe, expect, it } from '@jest/globals';
import type { KubeObject, LogicalCluster } from '../object.js';
import type { StoreChange } from './object-store.js';
import { ResourceStore } from './store.js';
import type { ResourceStoreOptions } from './store.js';

const W1 = 'w1' as LogicalCluster;
const W2 = 'w2' as LogicalCluster;
const ANNOTATED = { kind: 'annotated' } as const;

let versions = 0;
function thing(
  cluster: string | undefined,
  name: string,
  meta: Partial<KubeObject['metadata']> = {},
): KubeObject {
  return {
    apiVersion: 'test/v1',
    kind: 'Thing',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${cluster ?? ''}-${name}`,
      resourceVersion: `rv-${String((versions += 1))}`,
      ...(cluster === undefined ? {} : { annotations: { 'kcp.io/cluster': cluster } }),
      ...meta,
    },
  };
}

const copy = (object: KubeObject): KubeObject => JSON.parse(JSON.stringify(object)) as KubeObject;

function rig<I extends string = never>(options: ResourceStoreOptions<I> = {}) {
  const store = new ResourceStore<I>(options);
  const changes: StoreChange[] = [];
  store.subscribe((change) => void changes.push(change));
  /** Short notes of the changes since the last call. */
  const news = (): string[] =>
    changes.splice(0).map(({ type, key }) => `${type} ${key.cluster}/${key.namespace ?? ''}/${key.name}`);
  const list = (id: string, ...items: KubeObject[]): void => {
    const sink = sinks.get(id) ?? store.source(id, ANNOTATED);
    sinks.set(id, sink);
    sink.begin();
    sink.page(items);
    sink.commit();
  };
  const sinks = new Map<string, ReturnType<typeof store.source>>();
  const sink = (id: string) => {
    const known = sinks.get(id) ?? store.source(id, ANNOTATED);
    sinks.set(id, known);
    return known;
  };
  const remove = (id: string): void => {
    store.removeSource(id);
    sinks.delete(id);
  };
  return { store, changes, news, list, sink, remove };
}

describe('ResourceStore', () => {
  it('keeps objects of the same name in two workspaces apart (E03)', () => {
    const { store, list, sink } = rig();
    const [one, two] = [thing('w1', 'a'), thing('w2', 'a')];
    list('url', one, two);
    sink('url').apply({ type: 'DELETED', object: one });
    expect(store.get({ cluster: W1, namespace: 'default', name: 'a' })).toBeUndefined();
    expect(store.get({ cluster: W2, namespace: 'default', name: 'a' })).toBe(two);
    expect([...store.inCluster(W1)]).toEqual([]);
    expect([...store.inCluster(W2)]).toEqual([two]);
    expect([...store.inNamespace(W2, 'default')]).toEqual([two]);
    expect([...store.inNamespace(W2, 'other')]).toEqual([]);
    expect(store.size).toBe(1);
  });

  it.each([
    [true, ['set w1/default/a']],
    [false, []],
  ])(
    'takes another look of the same version where the schema may change: %s',
    (schemaMayChange, expected) => {
      const { news, list } = rig({ schemaMayChange });
      const before = thing('w1', 'a');
      list('url', before);
      news();
      list('url', copy(before));
      expect(news()).toEqual([]);
      list('url', { ...copy(before), spec: { color: 'red' } });
      expect(news()).toEqual(expected);
    },
  );

  it('reports what a complete list lacks as missing, and nothing before the list is complete (D03)', () => {
    const { news, list, sink } = rig();
    list('url', thing('w1', 'a'), thing('w1', 'b'));
    news();
    sink('url').begin();
    sink('url').page([thing('w1', 'c')]);
    expect(news()).toEqual(['set w1/default/c']);
    // The list failed half-way and begins again: what only the failed one showed is no proof either.
    sink('url').begin();
    sink('url').page([thing('w1', 'a')]);
    expect(news()).toEqual(['set w1/default/a']);
    sink('url').commit();
    expect(news().sort()).toEqual(['missing w1/default/b', 'missing w1/default/c']);
  });

  it('is quiet when a list shows again what is known (D09)', () => {
    const { news, list } = rig();
    const items = Array.from({ length: 500 }, (_, index) => thing('w1', `o${String(index)}`));
    list('url', ...items);
    expect(news()).toHaveLength(500);
    list('url', ...items.map((item) => copy(item)));
    expect(news()).toEqual([]);
  });

  it('gives the former object with each change, another uid included', () => {
    const { list, changes } = rig();
    const [first, second] = [thing('w1', 'a'), thing('w1', 'a', { uid: 'another' })];
    list('url', first);
    list('url', second);
    expect(changes[1]).toMatchObject({ type: 'set', object: second, previous: first });
  });

  it('does not take the end of a former object for the end of the present one', () => {
    const { store, list, sink } = rig();
    const former = thing('w1', 'a');
    list('url', thing('w1', 'a', { uid: 'another' }));
    sink('url').apply({ type: 'DELETED', object: former });
    expect(store.size).toBe(1);
  });

  it.each([
    ['NoCluster', thing(undefined, 'a')],
    ['InvalidCluster', thing('root:org:w1', 'a')],
    ['InvalidCluster', thing('*', 'a')],
    ['InvalidCluster', thing('', 'a')],
    ['InvalidCluster', thing('system:admin', 'a')],
    ['InvalidName', thing('w1', '..')],
    ['InvalidName', thing('w1', 'a/b')],
    ['InvalidName', thing('w1', 'a', { namespace: 'x|y' })],
    ['InvalidName', thing('w1', 'n'.repeat(300))],
  ])('refuses and counts as %s what cannot be attributed', (reason, object) => {
    const refusals: unknown[] = [];
    const { store, list } = rig({ onRefused: (refusal) => void refusals.push(refusal) });
    list('url', object);
    expect(store.size).toBe(0);
    expect([...store.refused]).toEqual([[reason, 1]]);
    expect(refusals).toEqual([{ reason, source: 'url' }]);
  });

  it('takes for a fixed workspace only its own objects, when strict', () => {
    const { store } = rig();
    const strict = store.source('vw', { kind: 'fixed', cluster: W1, strict: true });
    strict.begin();
    strict.page([thing('w1', 'a'), thing('w2', 'b'), thing(undefined, 'c')]);
    strict.commit();
    expect([...store.all()].map(({ metadata }) => metadata.name)).toEqual(['a']);
    expect([...store.refused]).toEqual([
      ['ForeignCluster', 1],
      ['NoCluster', 1],
    ]);
  });

  it('files all objects of a provider under the given name, whatever their annotations say', () => {
    const { store } = rig();
    const provider = 'provider' as LogicalCluster;
    const sink = store.source('p', { kind: 'fixed', cluster: provider, strict: false });
    sink.apply({ type: 'ADDED', object: thing('root:evil', 'a') });
    expect(store.get({ cluster: provider, namespace: 'default', name: 'a' })).toBeDefined();
  });

  it('keeps one workspace from filling the store, and still follows what it holds', () => {
    const { store, list, sink } = rig({ capacity: { objectsPerCluster: 2, objects: 3 } });
    list('url', thing('w1', 'a'), thing('w1', 'b'), thing('w1', 'c'), thing('w2', 'a'), thing('w3', 'a'));
    expect([...store.all()].map(({ metadata }) => metadata.uid)).toEqual([
      'uid-w1-a',
      'uid-w1-b',
      'uid-w2-a',
    ]);
    expect([...store.refused]).toEqual([['Full', 2]]);
    const changed = thing('w1', 'a');
    sink('url').apply({ type: 'MODIFIED', object: changed });
    expect(store.get({ cluster: W1, namespace: 'default', name: 'a' })).toBe(changed);
  });

  it('stores what transform gives, and keeps the former state of an object that it fails on', () => {
    const { store, list, news } = rig({
      transform: (object) => {
        if (object['poison'] === true) throw new Error('cannot');
        return { ...object, seen: true };
      },
    });
    list('url', thing('w1', 'a'));
    list('url', { ...thing('w1', 'a'), poison: true });
    expect(news()).toEqual(['set w1/default/a']);
    expect(store.get({ cluster: W1, namespace: 'default', name: 'a' })).toMatchObject({ seen: true });
    expect([...store.refused]).toEqual([['TransformFailed', 1]]);
  });

  it('finds by a custom index within one workspace, and follows changes', () => {
    const { store, list } = rig({
      indexes: { colour: ({ metadata }) => [metadata.labels?.['colour'] ?? 'none'] },
    });
    const names = (cluster: LogicalCluster, value: string) =>
      [...store.byIndex('colour', cluster, value)].map(({ metadata }) => metadata.name);
    const red = { labels: { colour: 'red' } };
    list('url', thing('w1', 'a', red), thing('w1', 'b', red), thing('w2', 'a', red));
    expect(names(W1, 'red')).toEqual(['a', 'b']);
    list('url', thing('w1', 'a', { labels: { colour: 'blue' } }), thing('w2', 'a', red));
    expect([names(W1, 'red'), names(W1, 'blue'), names(W2, 'red')]).toEqual([[], ['a'], ['a']]);
  });

  it('goes on when a listener throws', () => {
    const errors: unknown[] = [];
    const { store, list, news } = rig({ onListenerError: (error) => void errors.push(error) });
    store.subscribe(() => {
      throw new Error('broken');
    });
    list('url', thing('w1', 'a'));
    expect(errors).toHaveLength(1);
    expect(news()).toEqual(['set w1/default/a']);
  });

  it('is synced when every source has completed a list, and not without any source', async () => {
    const { store, list, sink, remove } = rig();
    const waiting = store.whenSynced(new AbortController().signal);
    expect(store.synced).toBe(false);
    sink('two');
    list('one', thing('w1', 'a'));
    expect(store.synced).toBe(false);
    list('two');
    expect(store.synced).toBe(true);
    await waiting;
    await store.whenSynced(new AbortController().signal);
    remove('one');
    remove('two');
    expect(store.synced).toBe(false);
  });

  it('ends the wait for synced with the signal', async () => {
    const { store } = rig();
    const stop = new AbortController();
    const waiting = store.whenSynced(stop.signal);
    stop.abort(new Error('stop'));
    await expect(waiting).rejects.toThrow('stop');
    await expect(store.whenSynced(stop.signal)).rejects.toThrow('stop');
  });
});

describe('ResourceStore with several sources (E02)', () => {
  it('does not report a workspace that moves to another URL, in any order of the two', () => {
    const { store, list, news } = rig();
    const before = thing('w1', 'a');
    list('old', before);
    list('new');
    news();
    const after = thing('w1', 'a');
    list('new', after);
    list('old');
    expect(news()).toEqual(['set w1/default/a']);
    expect(store.get({ cluster: W1, namespace: 'default', name: 'a' })).toBe(after);
    expect(store.sourceOf(W1)).toBe('new');
  });

  it('lets the newer URL count while both show the object, and goes back when it stops', () => {
    const { store, list, sink, news } = rig();
    const key = { cluster: W1, namespace: 'default', name: 'a' };
    list('old', thing('w1', 'a'));
    const newer = thing('w1', 'a');
    list('new', newer);
    const late = thing('w1', 'a');
    news();
    sink('old').apply({ type: 'MODIFIED', object: late });
    expect(news()).toEqual([]);
    expect(store.get(key)).toBe(newer);
    list('new');
    expect(news()).toEqual(['set w1/default/a']);
    expect(store.get(key)).toBe(late);
    list('old');
    expect(news()).toEqual(['missing w1/default/a']);
  });

  it('keeps the objects of a URL that vanished, for ever while no URL is left', () => {
    const { store, list, remove, news } = rig();
    list('url', thing('w1', 'a'));
    remove('url');
    expect(news()).toEqual(['set w1/default/a']);
    const key = { cluster: W1, namespace: 'default', name: 'a' };
    expect(store.get(key)).toBeDefined();
    expect(store.isStale(key)).toBe(true);
    expect(store.sourceOf(W1)).toBeUndefined();
  });

  it('is quiet when the URL comes back with the same objects, and reports those that did not', () => {
    const { store, list, remove, news } = rig();
    const [kept, lost] = [thing('w1', 'kept'), thing('w1', 'lost')];
    list('url', kept, lost);
    remove('url');
    news();
    list('url again', copy(kept));
    expect(news()).toEqual(['missing w1/default/lost']);
    expect(store.isStale({ cluster: W1, namespace: 'default', name: 'kept' })).toBe(false);
  });

  it('reports objects of a vanished URL only after all others have listed anew', () => {
    const { list, sink, remove, news } = rig();
    list('gone', thing('w1', 'a'));
    list('second');
    list('third');
    news();
    // This list began before the URL vanished: it could not yet show what moved.
    sink('second').begin();
    remove('gone');
    sink('second').commit();
    list('third');
    expect(news()).toEqual([]);
    list('second');
    expect(news()).toEqual(['missing w1/default/a']);
  });

  it('takes nothing more from the sink of a removed source', () => {
    const { store, list, sink, remove } = rig();
    list('url', thing('w1', 'a'));
    const late = sink('url');
    remove('url');
    late.apply({ type: 'DELETED', object: thing('w1', 'a') });
    late.begin();
    late.commit();
    expect(store.size).toBe(1);
  });
});
