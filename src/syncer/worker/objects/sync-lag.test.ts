import { afterEach, describe, expect, it } from '@jest/globals';
import { apiError } from './testing/model-status.js';
import { nameOf } from './testing/model-object.js';
import { A, COPY_A, SyncBench } from './testing/sync-bench.js';

let bench: SyncBench;
afterEach(() => bench.close());

const load = () => [...bench.loads].map((ask) => ask());

describe('the time that a change takes', () => {
  it('is measured upwards for the user, downwards for the provider, and not for echoes', async () => {
    bench = await new SyncBench().start();
    bench.put(A, { spec: { size: 1 } });
    await bench.idle();
    expect(bench.reached).toEqual([['up', 0]]);
    bench.provider.editStatus(COPY_A, { phase: 'Up' });
    await bench.advance(5000);
    expect(bench.reached.slice(1)).toEqual([['down', 0]]);
    expect(bench.consumer.object(nameOf(A))).toMatchObject({ status: { phase: 'Up' } });
  });

  it('counts from the first change that did not arrive, and is shown as an age meanwhile', async () => {
    bench = await new SyncBench().start();
    bench.provider.intercept = ({ verb }, when) => {
      if (verb === 'apply' && when === 'before') throw apiError(503, 'ServiceUnavailable', 'busy');
    };
    bench.put(A, { spec: { size: 1 } });
    await bench.advance(300);
    expect(load()).toEqual([expect.objectContaining({ oldestMs: 300 })]);
    bench.provider.intercept = () => undefined;
    await bench.advance(60_000);
    expect(bench.reached).toHaveLength(1);
    expect(bench.reached[0]?.[1]).toBeGreaterThan(300);
    expect(load()).toEqual([{ queued: 0, oldestMs: 0 }]);
  });

  it('is not measured for what a first list brings, nor for an object that goes', async () => {
    bench = await new SyncBench().start();
    bench.put(A, { spec: { size: 1 } });
    await bench.idle();
    bench.reached.length = 0;
    await bench.restart();
    expect(bench.reached).toEqual([]);
    expect(bench.loads.size).toBe(1);
    bench.consumer.remove(A);
    await bench.advance(60_000);
    expect(load()).toEqual([{ queued: 0, oldestMs: 0 }]);
  });

  it('comes with the lists and watches that were made', async () => {
    bench = await new SyncBench().start();
    bench.put(A, { spec: { size: 1 } });
    await bench.idle();
    expect(bench.watched).toEqual(expect.arrayContaining(['consumer listed', 'provider listed']));
  });
});
