import { expect, it } from '@jest/globals';
import type { JsonObject } from '../../../kube/json-value.js';
import type { KubeObject } from '../../../kube/object.js';
import { decideUp } from '../../engine/decide-up.js';
import { consumerObject, copyOf, upInput } from '../../engine/testing/samples.js';
import { CONTRACT, SyncBench } from './testing/sync-bench.js';

const OBJECTS = 2000;

/** A server that fills in a default in each item of two lists. */
function withDefaultsInItems(object: KubeObject): KubeObject {
  const spec = (object['spec'] ?? {}) as JsonObject;
  const filled = (list: unknown) =>
    Array.isArray(list) ? list.map((item: JsonObject) => ({ grade: 'plain', ...item })) : [];
  return { ...object, spec: { ...spec, items: filled(spec['items']), list: filled(spec['list']) } };
}

it('two thousand objects with defaults inside of list items cost no write after a restart', async () => {
  const bench = new SyncBench({ limits: { concurrency: 32 } });
  try {
    bench.provider.mutate = withDefaultsInItems;
    bench.namespaces.give('ns');
    for (let index = 0; index < OBJECTS; index++)
      bench.put(
        { namespace: 'ns', name: `many-${index}` },
        { spec: { items: [{ x: 1 }], list: [{ key: 'k', v: '1' }] } },
      );
    await bench.start();
    expect(bench.provider.all()).toHaveLength(OBJECTS);
    expect(bench.provider.object(`${CONTRACT}-ns/many-0`)?.['spec']).toMatchObject({
      items: [{ x: 1, grade: 'plain' }],
      list: [{ key: 'k', grade: 'plain' }],
    });
    expect(bench.sync.stats()).toMatchObject({ objects: OBJECTS, pending: 0, failing: 0 });
    bench.takeWrites();
    await bench.restart();
    await bench.advance(3_600_000);
    expect(bench.takeWrites()).toEqual([]);
    expect(bench.sync.stats()).toMatchObject({ objects: OBJECTS, pending: 0, failing: 0 });
  } finally {
    await bench.close();
  }
}, 120_000);

it('ten thousand copies with defaults inside of list items need nothing', () => {
  for (let index = 0; index < 10_000; index++) {
    const spec = { size: index, items: [{ x: index }, {}], list: [{ key: `k${index % 7}`, v: '1' }] };
    const consumer = consumerObject({ spec });
    const copy = withDefaultsInItems(copyOf(consumer));
    expect(decideUp(upInput({ consumer, copy: { object: copy, live: false } })).kind).toBe('none');
  }
});
