import { afterEach, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../kube/json-value.js';
import { nameOf } from './testing/model-object.js';
import { A, COPY_A, SyncBench } from './testing/sync-bench.js';

let bench: SyncBench;
afterEach(() => bench.close());

/** The provider's controller says that it has seen the copy as it is now. */
async function observe(): Promise<void> {
  const observedGeneration = bench.provider.object(nameOf(COPY_A))?.metadata.generation ?? 0;
  bench.provider.editStatus(COPY_A, { observedGeneration });
  await bench.advance(5_000);
}

/** The provider changes a field of its own, which raises the copy's generation. */
function editCopy(name: string): void {
  bench.provider.edit(COPY_A, (copy) => ({ ...copy, spec: { ...(copy['spec'] as JsonObject), name } }));
}

it('observedGeneration reaches the object again after the provider has deleted the copy', async () => {
  bench = await new SyncBench().start();
  bench.put(A, { spec: { size: 1 } });
  await bench.idle();
  editCopy('x');
  editCopy('y');
  bench.put(A, { spec: { size: 2 } });
  await bench.idle();
  await observe();
  const observed = () => bench.consumer.object(nameOf(A))?.['status'];
  expect(observed()).toEqual({ observedGeneration: 2 });
  bench.provider.remove(COPY_A);
  await bench.advance(60_000);
  // The copy counts from 1 again.
  expect(bench.provider.object(nameOf(COPY_A))?.metadata.generation).toBe(1);
  await observe();
  expect(observed()).toEqual({ observedGeneration: 2 });
  editCopy('z');
  await bench.advance(5_000);
  expect(observed()).toEqual({ observedGeneration: 2 });
});
