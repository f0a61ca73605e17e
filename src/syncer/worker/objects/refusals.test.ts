import { afterEach, describe, expect, it } from '@jest/globals';
import type { KubeObject, ObjectMeta } from '../../../kube/object.js';
import { isEdit } from './change-kind.js';
import { tooLarge } from './object-size.js';
import { apiError } from './testing/model-status.js';
import { A, COPY_A, SyncBench } from './testing/sync-bench.js';

const MINUTE = 60_000;
const benches: SyncBench[] = [];

async function open(): Promise<SyncBench> {
  const bench = await new SyncBench().start();
  benches.push(bench);
  bench.put(A, { spec: { size: 1 } });
  await bench.idle();
  bench.takeWrites();
  return bench;
}

afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.close();
});

const text = (bytes: number) => 'x'.repeat(bytes);
const statusOf = (b: SyncBench) => b.consumer.object('ns/a')?.['status'];

/** Attempts at that kind of write since the bench was opened. */
const statusTries = (b: SyncBench) => b.consumer.writes.filter((write) => write.endsWith('/status')).length;
const applyTries = (b: SyncBench) => b.provider.writes.filter((write) => write.startsWith('apply')).length;

/** Answers as a server whose store takes no more than that. */
function storesAtMost(b: SyncBench, side: 'consumer' | 'provider', bytes: number): void {
  b[side].validate = (object: KubeObject) => {
    if (JSON.stringify(object).length > bytes) throw apiError(500, '', 'etcdserver: request is too large');
    return undefined;
  };
}

describe('an object that the provider refuses', () => {
  it('is tried again on time, though the clock moves on before its pause is noted', async () => {
    const b = await open();
    const now = b.clock.now.bind(b.clock);
    let late = 0;
    b.clock.now = () => now() + late;
    b.provider.validate = () => {
      late = 1;
      return 'not now';
    };
    b.put(A, { spec: { size: 2 } });
    await b.idle();
    expect(b.sync.stats()).toMatchObject({ failing: 1 });
    late = 0;
    b.provider.validate = () => undefined;
    await b.advance(2000);
    expect(b.provider.object(`${COPY_A.namespace ?? ''}/a`)?.['spec']).toMatchObject({ size: 2 });
    expect(b.sync.stats()).toMatchObject({ failing: 0, pending: 0 });
  });
});

describe('a status that the workspace refuses', () => {
  it('is tried again after growing pauses, however often the copy is looked at', async () => {
    const b = await open();
    b.consumer.validate = (object) => (object['status'] === undefined ? undefined : 'status.x: unknown');
    b.provider.editStatus(COPY_A, { x: 1 });
    await b.advance(10 * MINUTE);
    // As for a refused copy: about every half minute in the end.
    expect(statusTries(b)).toBeLessThan(30);
    expect(statusTries(b)).toBeGreaterThan(5);
    expect(b.events).toHaveLength(1);
    expect(b.sync.stats()).toMatchObject({ failing: 1, problem: { reason: 'ObjectsFailing' } });
  });

  it('gives way to another one at once, and the object fails no more', async () => {
    const b = await open();
    b.consumer.validate = (object) =>
      (object['status'] as { x?: number } | undefined)?.x === 1 ? 'status.x: unknown' : undefined;
    b.provider.editStatus(COPY_A, { x: 1 });
    await b.advance(5 * MINUTE);
    b.provider.editStatus(COPY_A, { x: 2 });
    await b.idle();
    expect(statusOf(b)).toEqual({ x: 2 });
    expect(b.sync.stats()).toMatchObject({ failing: 0, pending: 0 });
  });

  it('does not hold up edits of the object', async () => {
    const b = await open();
    b.consumer.validate = (object) => (object['status'] === undefined ? undefined : 'status.x: unknown');
    b.provider.editStatus(COPY_A, { x: 1 });
    await b.idle();
    b.put(A, { spec: { size: 2 } });
    await b.idle();
    expect(b.provider.object(`${COPY_A.namespace ?? ''}/a`)?.['spec']).toMatchObject({ size: 2 });
    expect(b.sync.stats()).toMatchObject({ failing: 1 });
  });

  it('for its size is tried once a minute, also while it changes, and is named with its size', async () => {
    const b = await open();
    storesAtMost(b, 'consumer', 1_100_000);
    for (let second = 0; second < 100; second++) {
      b.provider.editStatus(COPY_A, { text: text(1_200_000), second });
      await b.clock.advance(1000);
    }
    await b.idle();
    expect(statusTries(b)).toBeLessThanOrEqual(3);
    expect(statusTries(b)).toBeGreaterThan(1);
    expect(b.events[0]).toMatchObject({
      reason: 'WorkspaceRefused',
      message: expect.stringMatching(/too large\. The status is about 117\d KiB large/) as unknown,
    });
    b.provider.editStatus(COPY_A, { text: 'short' });
    await b.idle();
    expect(statusOf(b)).toEqual({ text: 'short' });
    expect(b.sync.stats()).toMatchObject({ failing: 0 });
  });

  it('for its size is tried at once after an edit, which may have made room', async () => {
    const b = await open();
    storesAtMost(b, 'consumer', 1_100_000);
    b.provider.editStatus(COPY_A, { text: text(1_200_000) });
    await b.idle();
    b.consumer.validate = () => undefined;
    b.put(A, { spec: { size: 2 } });
    await b.idle();
    expect(statusOf(b)).toMatchObject({ text: text(1_200_000) });
  });
});

describe('a status that the workspace stores otherwise', () => {
  it('is written once, and again when it is another one', async () => {
    const b = await open();
    b.consumer.mutate = (object) =>
      object['status'] === undefined ? object : { ...object, status: { a: 1 } };
    b.provider.editStatus(COPY_A, { a: 1, unknown: 1 });
    await b.advance(60 * MINUTE);
    b.provider.editStatus(COPY_A, { a: 1, unknown: 2 });
    await b.advance(60 * MINUTE);
    expect(statusTries(b)).toBe(2);
    expect(statusOf(b)).toEqual({ a: 1 });
  });
});

describe('what ends the waiting after a refusal', () => {
  const object = (metadata: Partial<ObjectMeta>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name: 'a', uid: '1', generation: 1, labels: { a: '1' }, ...metadata },
  });
  it.each([
    ['another resourceVersion', { resourceVersion: '9' }, false],
    ['a finalizer', { finalizers: ['x'] }, false],
    ['another generation', { generation: 2 }, true],
    ['another object of the name', { uid: '2' }, true],
    ['a deletion', { deletionTimestamp: '2030-01-01T00:00:00Z' }, true],
    ['a label', { labels: { a: '2' } }, true],
    ['an annotation', { annotations: { a: '2' } }, true],
  ])('%s: %#', (_name, change, expected) => expect(isEdit(object({}), object(change))).toBe(expected));
});

describe('a copy that the provider refuses for its size', () => {
  it('is tried once a minute and after an edit, and is named with its size', async () => {
    const b = await open();
    storesAtMost(b, 'provider', 1_100_000);
    b.put(A, { spec: { name: text(1_200_000) } });
    await b.idle();
    expect(applyTries(b)).toBe(1);
    await b.advance(3 * MINUTE);
    expect(applyTries(b)).toBeLessThanOrEqual(4);
    expect(b.events).toMatchObject([
      {
        reason: 'ProviderRefused',
        message: expect.stringMatching(/The object is about 117\d KiB large/) as unknown,
      },
    ]);
    b.put(A, { spec: { name: 'short' } });
    await b.idle();
    expect(b.sync.stats()).toMatchObject({ failing: 0, pending: 0 });
  });
});

describe('what is taken for too large', () => {
  const small: KubeObject = { apiVersion: 'v1', kind: 'X', metadata: { name: 'a' } };
  const large = { ...small, spec: { text: text(1_000_000) } };
  const tooLong = (field: string) =>
    apiError(422, 'Invalid', '', { causes: [{ reason: 'FieldValueTooLong', field }] });
  it.each([
    ['a plain refusal', apiError(422, 'Invalid', 'x'), large, false],
    ['413', apiError(413, 'RequestEntityTooLarge', 'x'), small, true],
    ['500 for something small', apiError(500, '', 'x'), small, false],
    ['500 for something large', apiError(500, '', 'x'), large, true],
    ['503 for something large', apiError(503, '', 'x'), large, false],
    ['annotations that are too long', tooLong('metadata.annotations'), small, true],
    ['another field that is too long', tooLong('spec.text'), small, false],
    ['no answer', new Error('reset'), large, false],
  ])('%s: %#', (_name, error, sent, expected) => expect(tooLarge(error, sent) !== undefined).toBe(expected));

  it('counts bytes, not letters, and speaks of what is too large', () => {
    expect(tooLarge(apiError(413, '', ''), { ...small, spec: 'ä'.repeat(1024) })?.advice).toMatch(
      /^The object is about 3 KiB/,
    );
    expect(tooLarge(apiError(413, '', ''), { ...small, status: {} })?.advice).toMatch(/^The status is/);
    const metadata = { name: 'a', annotations: { a: text(2048) } };
    expect(tooLarge(tooLong('metadata.annotations'), { ...small, metadata })?.advice).toMatch(/3 KiB/);
  });
});
